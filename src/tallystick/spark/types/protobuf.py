"""Protobuf messages → types of Spark.

A field that keeps presence is null where it was not written, others have their default. Enums are names (a number that
has none is the number's digits), unsigned integers the next larger type, Timestamp a timestamp and Duration an
interval, both in microseconds. All other well-known types are the messages that they are. Extensions, and messages
without fields, are left out.
"""

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DayTimeIntervalType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from tallystick.errors import Unsupported
from tallystick.formats.protobuf import ProtobufSchema
from tallystick.formats.protobuf.schema import Field
from tallystick.formats.protobuf.types import Types

TIMESTAMP, DURATION = "google.protobuf.Timestamp", "google.protobuf.Duration"

_SCALARS: dict[str, DataType] = {
    **dict.fromkeys(("int32", "sint32", "sfixed32"), IntegerType()),
    **dict.fromkeys(("int64", "sint64", "sfixed64", "uint32", "fixed32"), LongType()),
    **dict.fromkeys(("uint64", "fixed64"), DecimalType(20, 0)),
    "float": FloatType(),
    "double": DoubleType(),
    "bool": BooleanType(),
    "string": StringType(),
    "bytes": BinaryType(),
    "enum": StringType(),
}
_WELL_KNOWN: dict[str, DataType] = {TIMESTAMP: TimestampType(), DURATION: DayTimeIntervalType()}


def type_of(schema: ProtobufSchema, message: str | None = None) -> StructType:
    """The type of the root message, or of the one that is named. Raises `Unsupported` for one that holds itself."""
    name = message or schema.root
    if name is None or not schema.types.has_message(name):
        raise Unsupported("the schema has no message that a record could be")
    return struct_of(schema.types, name, ())


def struct_of(types: Types, name: str, around: tuple[str, ...]) -> StructType:
    if name in around:
        raise Unsupported(
            f"message {name} holds itself, and a table of Spark cannot: read it as bytes, or with a reader whose "
            "schema leaves that field out"
        )
    inside = (*around, name)
    fields = {f.name: _of(types, f, inside) for f in types.message(name).fields.values() if not is_extension(f)}
    return StructType([StructField(own, found) for own, found in fields.items() if found is not None])


def is_extension(field: Field) -> bool:
    return field.name.startswith("[")


def _of(types: Types, field: Field, inside: tuple[str, ...]) -> DataType | None:
    if field.entry is not None:
        key, value = (_single(types, half, inside) for half in field.entry)
        return None if key is None or value is None else MapType(key, value)
    single = _single(types, field, inside)
    return ArrayType(single) if field.is_repeated and single is not None else single


def _single(types: Types, field: Field, inside: tuple[str, ...]) -> DataType | None:
    if not field.is_message:
        return _SCALARS[field.kind]
    name = field.type_full_name
    assert name is not None
    if name in _WELL_KNOWN:
        return _WELL_KNOWN[name]
    found = struct_of(types, name, inside)
    return found if found.fields else None
