"""The text of a KEY_VALUE definition, checked for its shape."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tallystick.errors import InvalidSchema
from tallystick.finding import Place
from tallystick.formats import json_source
from tallystick.formats.json_source import Path
from tallystick.model.key_value import KeyValueEncoding
from tallystick.model.schema_type import SchemaType

Half = Literal["key", "value"]
HALVES: tuple[Half, ...] = ("key", "value")

MAX_NESTING = 8
"""KEY_VALUE schemas within each other. Each level hides the next in a text, where JSON's own limit does not see it."""


@dataclass(frozen=True, slots=True)
class HalfText:
    type: SchemaType
    schema: str
    properties: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Source:
    encoding: KeyValueEncoding
    key: HalfText
    value: HalfText


def load(text: str, level: int = 1) -> Source:
    """The parts of a text that stands this deep within others; raises `InvalidSchema` with the place of a fault."""
    if level > MAX_NESTING:
        raise InvalidSchema(
            f"KEY_VALUE schemas are nested deeper than {MAX_NESTING} levels",
            Place(""),
            "use records for the inner",
        )
    raw = _object(text, json_source.load(text), (), {"encoding", *HALVES})
    encoding = raw.get("encoding", KeyValueEncoding.INLINE)
    if encoding not in list(KeyValueEncoding):
        reason = f"the encoding must be INLINE or SEPARATED, not {_shown(encoding)}"
        raise InvalidSchema(reason, json_source.place(text, ("encoding",)))
    return Source(KeyValueEncoding(encoding), _half(text, raw, "key"), _half(text, raw, "value"))


def _half(text: str, raw: dict[str, Any], half: Half) -> HalfText:
    if half not in raw:
        raise InvalidSchema(f"the {half} is missing", json_source.place(text, ()), f'add "{half}" with its type')
    parts = _object(text, raw[half], (half,), {"type", "schema", "properties"})
    if not isinstance(parts.get("type"), str):
        raise InvalidSchema(
            f"the {half} needs a type", json_source.place(text, (half,)), 'set "type" to its schema type'
        )
    schema = parts.get("schema", "")
    if not isinstance(schema, str):
        raise InvalidSchema(
            f"the schema of the {half} must be a text",
            json_source.place(text, (half, "schema")),
            "write it as a string",
        )
    return HalfText(SchemaType(parts["type"]), schema, _properties(text, parts, half))


def _properties(text: str, parts: dict[str, Any], half: Half) -> dict[str, str]:
    properties = parts.get("properties", {})
    if not isinstance(properties, dict) or not all(isinstance(value, str) for value in properties.values()):
        at = json_source.place(text, (half, "properties"))
        raise InvalidSchema(f"the properties of the {half} must be an object of texts", at)
    return properties


def _object(text: str, raw: Any, path: Path, known: set[str]) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise InvalidSchema(f"an object is expected, not {_shown(raw)}", json_source.place(text, path))
    unknown = next((key for key in raw if key not in known), None)
    if unknown is not None:
        reason = f"the key {_shown(unknown)} is not known"
        raise InvalidSchema(reason, json_source.place(text, (*path, unknown)), f"use {', '.join(sorted(known))}")
    return raw


def _shown(raw: object) -> str:
    return repr(raw) if isinstance(raw, str | int | None) and len(repr(raw)) <= 40 else f"a {type(raw).__name__}"
