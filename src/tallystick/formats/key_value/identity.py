"""Which KEY_VALUE definitions are the same: those whose halves are. White space in a half's own text does not count."""

import json
from typing import Any

from tallystick.formats import json_source
from tallystick.formats.catalogue import format_of
from tallystick.formats.identity import parsed_identity
from tallystick.formats.key_value import source
from tallystick.formats.key_value.parse import KeyValueSchema
from tallystick.formats.key_value.source import HALVES
from tallystick.model import schema_type as types


def canonical_text(text: str) -> str:
    return _canonical(text, 1)


def _canonical(text: str, level: int) -> str:
    halves = source.load(text, level)
    raw: dict[str, Any] = json_source.load(text)
    for half in HALVES:
        inner = halves.key if half == "key" else halves.value
        if "schema" in raw[half]:
            raw[half]["schema"] = (
                _canonical(inner.schema, level + 1)
                if inner.type == types.KEY_VALUE
                else format_of(inner.type).canonical_text(inner.schema)
            )
    return json.dumps(raw, ensure_ascii=False, separators=(",", ":"))


def normal_form(schema: KeyValueSchema) -> str:
    halves = [parsed_identity(half)[:2] for half in (schema.key, schema.value)]
    return json.dumps([schema.encoding, *halves], ensure_ascii=False)
