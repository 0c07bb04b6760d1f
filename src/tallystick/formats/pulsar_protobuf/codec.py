"""Avro values to Protobuf bytes and back, for flat messages.

A field that is not in the payload takes its default: Avro's where the text has one, else Protobuf's zero. Fields that
the description does not know are passed over, as Protobuf's readers do.
"""

import json
from collections.abc import Mapping
from typing import Any

from google.protobuf.message import DecodeError, Message

from tallystick.errors import InvalidRecord
from tallystick.finding import Finding, Place
from tallystick.formats.avro import codec as avro
from tallystick.formats.avro import defaults
from tallystick.formats.avro.types import AvroSchema, Field, Record
from tallystick.formats.avro.validate import validate
from tallystick.formats.pulsar_protobuf.descriptor import Undescribed, message_class

UNDESCRIBED = "PULSAR_PROTOBUF_MESSAGE_UNDESCRIBED"
UNREADABLE = "PULSAR_PROTOBUF_PAYLOAD_UNREADABLE"
UNWRITABLE = "PULSAR_PROTOBUF_VALUE_TYPE_WRONG"


def encode(schema: AvroSchema, value: object) -> bytes:
    message = _message(schema)
    findings = validate(schema, value)
    if findings:
        raise InvalidRecord(f"the value does not fit its schema: {findings[0].message}", findings)
    assert isinstance(value, Mapping)
    for name, part in value.items():
        if part is not None:
            _put(message, name, part)
    return message.SerializeToString(deterministic=True)


def decode(schema: AvroSchema, payload: bytes, reader: AvroSchema | None = None) -> Any:
    message = _message(schema)
    try:
        message.ParseFromString(payload)
        assert isinstance(schema.root, Record)
        value = {field.name: _taken(message, field) for field in schema.root.fields}
    except (DecodeError, UnicodeDecodeError) as e:
        fix = "write the payload with the message that the schema describes, and nothing around it"
        raise _refused(UNREADABLE, f"the payload cannot be read: {e}", fix) from e
    return avro.decode(schema, avro.encode(schema, value), reader)


def _message(schema: AvroSchema) -> Message:
    try:
        return message_class(schema)()
    except Undescribed as e:
        fix = (
            "describe a flat message there, or use the type PROTOBUF_NATIVE or PROTOBUF, which knows the whole message"
        )
        raise _refused(UNDESCRIBED, str(e), fix) from e


def _put(message: Message, name: str, value: Any) -> None:
    try:
        if message.DESCRIPTOR.fields_by_name[name].is_repeated:
            getattr(message, name).extend(value)
        else:
            setattr(message, name, value)
    except (TypeError, ValueError) as e:
        text = f"field `{name}` does not take {value!r:.60}: {e}"
        raise _refused(UNWRITABLE, text, f"send a value that Protobuf's type of `{name}` holds", f"/{name}") from e


def _taken(message: Message, field: Field) -> Any:
    described = message.DESCRIPTOR.fields_by_name[field.name]
    if described.is_repeated:
        return list(getattr(message, field.name))
    if field.default is not None and not message.HasField(field.name):
        return defaults.python_value(field.type, json.loads(field.default))
    return getattr(message, field.name)


def _refused(check: str, message: str, fix: str, path: str = "") -> InvalidRecord:
    return InvalidRecord(message, [Finding(rule=check, message=message, fix=fix, new=Place(path))])
