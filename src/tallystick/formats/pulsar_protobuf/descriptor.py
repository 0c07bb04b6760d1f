"""The Protobuf message that the property `__PARSING_INFO__` describes: number, name, type and label of each field."""

from functools import lru_cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

from tallystick.errors import InvalidSchema
from tallystick.formats import json_source
from tallystick.formats.avro.types import AvroSchema, Record

PARSING_INFO = "__PARSING_INFO__"

_Field = descriptor_pb2.FieldDescriptorProto
_INSIDE_UNKNOWN = {"MESSAGE", "GROUP", "ENUM"}
_TYPES = frozenset(_Field.Type.keys())
_MAX_NUMBER = 536_870_911


class Undescribed(Exception):
    """The property does not say enough to write or read a payload."""


def message_class(schema: AvroSchema) -> type[Message]:
    if not isinstance(schema.root, Record):
        raise Undescribed("the schema is no record, and a Protobuf payload is always a message")
    text = schema.definition.properties.get(PARSING_INFO)
    if text is None:
        raise Undescribed(f"the property {PARSING_INFO} is missing, so the numbers of the fields are not known")
    found = _message_class(text)
    named = {field.name for field in found.DESCRIPTOR.fields}
    missing = next((field.name for field in schema.root.fields if field.name not in named), None)
    if missing is not None:
        raise Undescribed(f"the property {PARSING_INFO} does not say the number of field `{missing}`")
    return found


@lru_cache(maxsize=256)
def _message_class(text: str) -> type[Message]:
    file = descriptor_pb2.FileDescriptorProto(name="payload.proto", package="tallystick.payload")
    message = file.message_type.add(name="Payload")
    for entry in _entries(text):
        message.field.append(_field(entry))
    pool = descriptor_pool.DescriptorPool()
    try:
        pool.Add(file)
        return message_factory.GetMessageClass(pool.FindMessageTypeByName("tallystick.payload.Payload"))
    except (TypeError, KeyError) as e:  # two fields of one number or name, or a name outside of the grammar
        raise Undescribed(f"the property {PARSING_INFO} does not describe a message: {e}") from e


def _entries(text: str) -> list[Any]:
    try:
        entries = json_source.load(text)
    except InvalidSchema as e:
        raise Undescribed(f"the property {PARSING_INFO} cannot be read: {e.reason}") from e
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise Undescribed(f"the property {PARSING_INFO} is not a list of fields")
    return entries


def _field(entry: dict[str, Any]) -> descriptor_pb2.FieldDescriptorProto:
    name, number, kind = entry.get("name"), entry.get("number"), entry.get("type")
    if kind in _INSIDE_UNKNOWN:
        raise Undescribed(f"field `{name}` is of type {kind}, of whose inside {PARSING_INFO} says nothing")
    if not isinstance(name, str) or type(number) is not int or not 0 < number <= _MAX_NUMBER:
        raise Undescribed(f"the property {PARSING_INFO} has a field without a proper name and number")
    if not isinstance(kind, str) or f"TYPE_{kind}" not in _TYPES:
        raise Undescribed(f"field `{name}` is of a type that Protobuf does not have")
    is_list = entry.get("label") == "LABEL_REPEATED"
    label = _Field.LABEL_REPEATED if is_list else _Field.LABEL_OPTIONAL
    return _Field(name=name, number=number, type=_Field.Type.Value(f"TYPE_{kind}"), label=label)
