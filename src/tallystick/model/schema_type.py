"""The names of the schema types. The set is open: a package may bring a format of its own (see `formats`)."""

from typing import Final, NewType

SchemaType = NewType("SchemaType", str)

AVRO: Final = SchemaType("AVRO")
JSON_SCHEMA: Final = SchemaType("JSON_SCHEMA")
PROTOBUF: Final = SchemaType("PROTOBUF")
"""`.proto` text."""
PROTOBUF_NATIVE: Final = SchemaType("PROTOBUF_NATIVE")
"""Pulsar's descriptor set with the name of the root message."""
PULSAR_JSON: Final = SchemaType("PULSAR_JSON")
"""JSON payloads described by Avro text."""
PULSAR_PROTOBUF: Final = SchemaType("PULSAR_PROTOBUF")
"""Protobuf payloads described by Avro text."""
KEY_VALUE: Final = SchemaType("KEY_VALUE")
EXTERNAL: Final = SchemaType("EXTERNAL")
"""The schema is kept by a registry that this cluster does not know; only the type is recorded."""

BYTES: Final = SchemaType("BYTES")
NONE: Final = SchemaType("NONE")
STRING: Final = SchemaType("STRING")
BOOLEAN: Final = SchemaType("BOOLEAN")
INT8: Final = SchemaType("INT8")
INT16: Final = SchemaType("INT16")
INT32: Final = SchemaType("INT32")
INT64: Final = SchemaType("INT64")
FLOAT: Final = SchemaType("FLOAT")
DOUBLE: Final = SchemaType("DOUBLE")
DATE: Final = SchemaType("DATE")
TIME: Final = SchemaType("TIME")
TIMESTAMP: Final = SchemaType("TIMESTAMP")
INSTANT: Final = SchemaType("INSTANT")
LOCAL_DATE: Final = SchemaType("LOCAL_DATE")
LOCAL_TIME: Final = SchemaType("LOCAL_TIME")
LOCAL_DATE_TIME: Final = SchemaType("LOCAL_DATE_TIME")

CLIENT_SIDE: Final = frozenset({SchemaType("AUTO_CONSUME"), SchemaType("AUTO_PRODUCE")})
"""Types that a client resolves before it speaks to a broker or registry; they are never stored."""
