"""Avro values to plain JSON and back, as Pulsar's Java client writes it with Jackson.

The JSON is not Avro's own JSON encoding: the value of a union stands bare, bytes and fixed are Base64, an enum is its
symbol, a logical type the number or text underneath (a decimal its bytes), and NaN and the infinities are texts.

Reading follows Pulsar's readers: a field that is missing takes its default, or null where its type has null, and a
field that the schema does not know is passed over. A union takes the first branch that the JSON fits, which is all
that bare JSON tells. The result goes through Avro's own schema resolution, so a reader gets what the rules promise.
"""

import json
from typing import Any

from tallystick.errors import InvalidRecord, InvalidSchema
from tallystick.finding import Finding, Place
from tallystick.formats import json_source
from tallystick.formats.avro import codec as avro
from tallystick.formats.avro.types import AvroSchema
from tallystick.formats.avro.validate import validate
from tallystick.formats.pulsar_json.depth import MAX_VALUE_DEPTH, TooDeep
from tallystick.formats.pulsar_json.from_json import value_of
from tallystick.formats.pulsar_json.to_json import json_of

UNREADABLE = "PULSAR_JSON_PAYLOAD_UNREADABLE"
TOO_DEEP = "PULSAR_JSON_VALUE_TOO_DEEP"


def encode(schema: AvroSchema, value: object) -> bytes:
    findings = validate(schema, value)
    if findings:
        raise InvalidRecord(f"the value does not fit its schema: {findings[0].message}", findings)
    try:
        raw = json_of(schema.root, value)
    except TooDeep as e:
        raise _too_deep() from e
    return json.dumps(raw, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def decode(schema: AvroSchema, payload: bytes, reader: AvroSchema | None = None) -> Any:
    try:
        value, findings = value_of(schema.root, _loaded(payload))
    except TooDeep as e:
        raise _too_deep() from e
    if findings:
        raise InvalidRecord(f"the payload does not fit its schema: {findings[0].message}", findings)
    return avro.decode(schema, avro.encode(schema, value), reader)


def _loaded(payload: bytes) -> Any:
    try:
        return json_source.load(payload.decode())
    except UnicodeDecodeError as e:
        raise _unreadable(f"the bytes at offset {e.start} are not UTF-8", None) from e
    except InvalidSchema as e:
        raise _unreadable(e.reason, e.place) from e


def _too_deep() -> InvalidRecord:
    message = f"the value is nested deeper than {MAX_VALUE_DEPTH} levels"
    return InvalidRecord(message, [_finding(TOO_DEEP, message, "flatten the value")])


def _unreadable(reason: str, place: Place | None) -> InvalidRecord:
    message = f"the payload cannot be read: {reason}"
    fix = "write the payload as one JSON value in UTF-8, and nothing around it"
    return InvalidRecord(message, [_finding(UNREADABLE, message, fix, place)])


def _finding(check: str, message: str, fix: str, place: Place | None = None) -> Finding:
    return Finding(rule=check, message=message, fix=fix, new=place or Place(""))
