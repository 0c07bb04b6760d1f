"""JSON as people write it → the value of a schema.

What the JSON of a line stands for depends on the schema: a text may be bytes, a decimal or a point in time (see
`topic_to_json` for the forms). What stands for nothing of its type is left as it is: the schema's own validation says
why it does not fit, and the hints here say how it is written in JSON.
"""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from tallystick.cli import topic_times as times
from tallystick.cli.topic_times import MILLIS
from tallystick.finding import Finding
from tallystick.formats import Schema
from tallystick.formats.avro.types import AvroSchema
from tallystick.formats.key_value import KeyValueSchema
from tallystick.formats.primitive.parse import PrimitiveSchema
from tallystick.formats.protobuf.types import ProtobufSchema
from tallystick.model import schema_type as types
from tallystick.model.key_value import KeyValue

Hints = dict[str, str]
"""How the value at a path is written."""

NOT_FINITE: Mapping[str, float] = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}

BASE64 = "write the bytes in Base64"


class FromJson(NamedTuple):
    value: Any
    hints: Hints

    def explained(self, findings: Sequence[Finding]) -> list[Finding]:
        """Findings whose fix says how the value is written in JSON."""
        return [
            replace(finding, fix=self.hints[finding.new.path])
            if finding.new is not None and finding.new.path in self.hints
            else finding
            for finding in findings
        ]


def reader_of(schema: Schema) -> Callable[[Any], FromJson]:
    match schema:
        case AvroSchema(root=root):
            from tallystick.cli import topic_from_json_avro

            return lambda raw: topic_from_json_avro.value_of(root, raw)
        case ProtobufSchema(types=known, root=name) if name is not None:
            from tallystick.cli import topic_from_json_protobuf

            return lambda raw: topic_from_json_protobuf.value_of(known, name, raw)
        case KeyValueSchema():
            return _pair_reader(schema)
        case PrimitiveSchema():
            return _primitive_reader(schema)
    return lambda raw: FromJson(raw, {})


def _pair_reader(schema: KeyValueSchema) -> Callable[[Any], FromJson]:
    key, value = reader_of(schema.key), reader_of(schema.value)

    def read(raw: Any) -> FromJson:
        if not isinstance(raw, dict) or raw.keys() - {"key", "value"}:
            return FromJson(raw, {"": 'write {"key": …, "value": …}'})
        halves = {"key": key(raw.get("key")), "value": value(raw.get("value"))}
        hints = {f"/{name}{path}": hint for name, half in halves.items() for path, hint in half.hints.items()}
        return FromJson(KeyValue(halves["key"].value, halves["value"].value), hints)

    return read


def _primitive_reader(schema: PrimitiveSchema) -> Callable[[Any], FromJson]:
    form = _FORMS.get(schema.definition.type)
    if form is None:
        return lambda raw: FromJson(raw, {})
    convert, hint = form

    def read(raw: Any) -> FromJson:
        found = convert(raw) if isinstance(raw, str) else None
        return FromJson(raw, {"": hint}) if found is None else FromJson(found, {})

    return read


def base64_of(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


_MOMENT = 'write a time of ISO 8601, such as "2026-01-31T12:00:00.250Z"'
_FORMS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    types.BYTES: (base64_of, BASE64),
    types.NONE: (base64_of, BASE64),
    types.FLOAT: (NOT_FINITE.get, "write a number"),
    types.DOUBLE: (NOT_FINITE.get, "write a number"),
    types.DATE: (lambda text: times.moment(text, MILLIS), _MOMENT),
    types.TIMESTAMP: (lambda text: times.moment(text, MILLIS), _MOMENT),
    types.TIME: (lambda text: times.time(text, MILLIS), 'write a time, such as "12:30:00.250"'),
    types.INSTANT: (times.instant, _MOMENT),
    types.LOCAL_DATE: (times.date, 'write a date, such as "2026-01-31"'),
    types.LOCAL_TIME: (times.local_time, 'write a time without a zone, such as "12:30:00.250"'),
    types.LOCAL_DATE_TIME: (
        times.local_date_time,
        'write date and time without a zone, such as "2026-01-31T12:30:00.250"',
    ),
}
"""Types whose values JSON has as texts. In a pair a half may be of any type; alone, BYTES and STRING are the line."""
