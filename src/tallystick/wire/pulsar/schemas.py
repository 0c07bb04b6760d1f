"""Schemas, schema versions and schema ids as they travel."""

import struct
from dataclasses import dataclass

from tallystick.errors import InvalidArgument, InvalidSchema, Unsupported
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.subject import Version
from tallystick.wire.pulsar import key_value, schema_types
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.faults import MalformedFrame

_NO_SCHEMA = {pb.Schema.NoSchema, pb.Schema.AutoConsume}
_VERSION = struct.Struct(">q")
_LENGTH = struct.Struct(">i")
_ONE_ID = b"\xff"
_TWO_IDS = b"\xfe"


def definition_of(schema: pb.Schema) -> SchemaDefinition | None:
    """The definition; None where a client sends bytes, or takes whatever the topic has."""
    if schema.type in _NO_SCHEMA:
        return None
    kind = schema_types.type_numbered(schema.type)
    properties = {pair.key: pair.value for pair in schema.properties}
    if kind == types.KEY_VALUE:
        return SchemaDefinition(kind, key_value.from_bytes(schema.schema_data, properties), (), properties)
    # The other types say all by themselves, but some clients send a text with them.
    text = _text(schema.schema_data) if kind in schema_types.WITH_JSON_TEXT else ""
    return SchemaDefinition(kind, text, (), properties)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as e:
        raise InvalidSchema("the schema data is not UTF-8 text") from e


def wire_schema(definition: SchemaDefinition, name: str) -> pb.Schema:
    """The schema under the topic's name; `Unsupported` where Pulsar has no such type."""
    if definition.references:
        raise Unsupported("Pulsar's protocol has no references; register the schema as one text")
    data, properties = definition.text.encode(), dict(definition.properties)
    if definition.type == types.KEY_VALUE:
        data, told = key_value.to_bytes(definition.text)
        properties |= told
    pairs = [pb.KeyValue(key=key, value=value) for key, value in properties.items()]
    kind = schema_types.number_of(definition.type)
    return pb.Schema(name=name, schema_data=data, type=kind, properties=pairs)


def version_bytes(version: Version) -> bytes:
    """Versions count from 0 in the protocol."""
    return _VERSION.pack(version - 1)


def version_of(data: bytes) -> Version:
    if len(data) != _VERSION.size:
        raise InvalidArgument("schema version", f"it has {_VERSION.size} bytes, not {len(data)}")
    (number,) = _VERSION.unpack(data)
    if number < 0:
        raise InvalidArgument("schema version", f"it counts from 0, {number} is less")
    return Version(number + 1)


@dataclass(frozen=True, slots=True)
class KeyValueIds:
    """The schema ids of a pair; nothing for a half without one."""

    key: bytes
    value: bytes


def write_schema_id(schema_id: bytes | KeyValueIds) -> bytes:
    """`MessageMetadata.schema_id` for the id that an external registry gave."""
    if isinstance(schema_id, bytes):
        return _ONE_ID + schema_id
    halves = (schema_id.key, schema_id.value)
    return _TWO_IDS + b"".join(_LENGTH.pack(len(half)) + half for half in halves)


def read_schema_id(data: bytes) -> bytes | KeyValueIds:
    """The id in `MessageMetadata.schema_id`. Without the byte that tells what follows, all of it is one id."""
    if data[:1] == _ONE_ID:
        return data[1:]
    if data[:1] != _TWO_IDS:
        return data
    key, rest = _id(data, 1)
    value, rest = _id(data, rest)
    if rest != len(data):
        raise MalformedFrame(f"a schema id has {len(data) - rest} bytes after key and value")
    return KeyValueIds(key, value)


def _id(data: bytes, start: int) -> tuple[bytes, int]:
    begin = start + _LENGTH.size
    (length,) = _LENGTH.unpack_from(data, start) if begin <= len(data) else (-1,)
    if not 0 <= length <= len(data) - begin:
        raise MalformedFrame("a schema id of a pair is cut off")
    return data[begin : begin + length], begin + length
