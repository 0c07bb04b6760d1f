"""Schema types as Pulsar names and numbers them."""

from typing import Final

from tallystick.errors import InvalidSchema, Unsupported
from tallystick.model import schema_type as types
from tallystick.model.schema_type import SchemaType
from tallystick.wire.pulsar.pulsar_pb2 import Schema

# The name is what the admin API and the properties of a KEY_VALUE use, the number what the protocol uses.
_TABLE: tuple[tuple[SchemaType, str, Schema.Type], ...] = (
    (types.BYTES, "BYTES", Schema.NoSchema),
    (types.NONE, "NONE", Schema.NoSchema),
    (types.STRING, "STRING", Schema.String),
    (types.PULSAR_JSON, "JSON", Schema.Json),
    (types.PULSAR_PROTOBUF, "PROTOBUF", Schema.Protobuf),
    (types.AVRO, "AVRO", Schema.Avro),
    (types.BOOLEAN, "BOOLEAN", Schema.Bool),
    (types.INT8, "INT8", Schema.Int8),
    (types.INT16, "INT16", Schema.Int16),
    (types.INT32, "INT32", Schema.Int32),
    (types.INT64, "INT64", Schema.Int64),
    (types.FLOAT, "FLOAT", Schema.Float),
    (types.DOUBLE, "DOUBLE", Schema.Double),
    (types.DATE, "DATE", Schema.Date),
    (types.TIME, "TIME", Schema.Time),
    (types.TIMESTAMP, "TIMESTAMP", Schema.Timestamp),
    (types.KEY_VALUE, "KEY_VALUE", Schema.KeyValueSchema),
    (types.INSTANT, "INSTANT", Schema.Instant),
    (types.LOCAL_DATE, "LOCAL_DATE", Schema.LocalDate),
    (types.LOCAL_TIME, "LOCAL_TIME", Schema.LocalTime),
    (types.LOCAL_DATE_TIME, "LOCAL_DATE_TIME", Schema.LocalDateTime),
    (types.PROTOBUF_NATIVE, "PROTOBUF_NATIVE", Schema.ProtobufNative),
    (types.EXTERNAL, "EXTERNAL", Schema.External),
)
_NAMED = {name: kind for kind, name, _ in _TABLE}
_NAMES = {kind: name for kind, name, _ in _TABLE}
_NUMBERED = {number: kind for kind, _, number in _TABLE}
_NUMBERS = {kind: number for kind, _, number in _TABLE}

NAMES: Final = sorted(_NAMED)
"""Of the types that can be kept."""

WITH_JSON_TEXT: Final = frozenset({types.AVRO, types.PULSAR_JSON, types.PULSAR_PROTOBUF, types.PROTOBUF_NATIVE})
"""Those whose schema data is a JSON text."""


def is_known(kind: SchemaType) -> bool:
    return kind in _NAMES


def type_named(name: str) -> SchemaType:
    try:
        return _NAMED[name.upper()]
    except KeyError as e:
        raise InvalidSchema(
            f"{name[:40]!r} is not a schema type that can be kept", fix=f"use one of {', '.join(NAMES)}"
        ) from e


def name_of(kind: SchemaType) -> str:
    if kind not in _NAMES:
        raise _lacking(kind)
    return _NAMES[kind]


def type_numbered(number: Schema.Type) -> SchemaType:
    """The type that a number stands for, except AutoConsume, which no schema has."""
    return _NUMBERED[number]


def number_of(kind: SchemaType) -> Schema.Type:
    if kind not in _NUMBERS:
        raise _lacking(kind)
    return _NUMBERS[kind]


def _lacking(kind: SchemaType) -> Unsupported:
    return Unsupported(f"Pulsar has no schema type {kind}; its JSON and PROTOBUF hold Avro text")
