"""Values ↔ framed bytes: the schemas that producers and consumers are given."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.serde.auto_consume import AutoConsume
    from tallystick.serde.auto_produce import AutoProduceBytes
    from tallystick.serde.avro import AvroSchema
    from tallystick.serde.derive.markers import Avro, Precision
    from tallystick.serde.json_schema import JsonSchema
    from tallystick.serde.key_value import KeyValueSchema
    from tallystick.serde.native import NativeSchema
    from tallystick.serde.primitive import (
        BOOLEAN,
        BYTES,
        DATE,
        DOUBLE,
        FLOAT,
        INSTANT,
        INT8,
        INT16,
        INT32,
        INT64,
        LOCAL_DATE,
        LOCAL_DATE_TIME,
        LOCAL_TIME,
        STRING,
        TIME,
        TIMESTAMP,
        BooleanSchema,
        BytesSchema,
        DateSchema,
        DoubleSchema,
        FloatSchema,
        InstantSchema,
        Int8Schema,
        Int16Schema,
        Int32Schema,
        Int64Schema,
        LocalDateSchema,
        LocalDateTimeSchema,
        LocalTimeSchema,
        StringSchema,
        TimeSchema,
        TimestampSchema,
    )
    from tallystick.serde.protobuf import ProtobufNativeSchema, ProtobufSchema
    from tallystick.serde.pulsar_json import PulsarJsonSchema
    from tallystick.serde.schema import EncodeData, RegistrySettings, Schema

__all__ = [
    "BOOLEAN",
    "BYTES",
    "DATE",
    "DOUBLE",
    "FLOAT",
    "INSTANT",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "LOCAL_DATE",
    "LOCAL_DATE_TIME",
    "LOCAL_TIME",
    "STRING",
    "TIME",
    "TIMESTAMP",
    "AutoConsume",
    "AutoProduceBytes",
    "Avro",
    "AvroSchema",
    "BooleanSchema",
    "BytesSchema",
    "DateSchema",
    "DoubleSchema",
    "EncodeData",
    "FloatSchema",
    "InstantSchema",
    "Int8Schema",
    "Int16Schema",
    "Int32Schema",
    "Int64Schema",
    "JsonSchema",
    "KeyValueSchema",
    "LocalDateSchema",
    "LocalDateTimeSchema",
    "LocalTimeSchema",
    "NativeSchema",
    "Precision",
    "ProtobufNativeSchema",
    "ProtobufSchema",
    "PulsarJsonSchema",
    "RegistrySettings",
    "Schema",
    "StringSchema",
    "TimeSchema",
    "TimestampSchema",
]

_HOMES = {
    "AutoConsume": "auto_consume",
    "AutoProduceBytes": "auto_produce",
    "Avro": "derive.markers",
    "AvroSchema": "avro",
    "EncodeData": "schema",
    "JsonSchema": "json_schema",
    "KeyValueSchema": "key_value",
    "NativeSchema": "native",
    "Precision": "derive.markers",
    "ProtobufNativeSchema": "protobuf",
    "ProtobufSchema": "protobuf",
    "PulsarJsonSchema": "pulsar_json",
    "RegistrySettings": "schema",
    "Schema": "schema",
}
"""Of all names but the primitives."""


def __getattr__(name: str) -> Any:
    # Loaded when asked for: the clients of registries need nothing but the ports of this package.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'primitive')}"), name)
