"""Schemas without a text, of Pulsar's primitive types. Each has a ready instance: `STRING` is `StringSchema()`."""

import datetime as dt
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeVar

from tallystick.formats.primitive.parse import CHARSET_PROPERTY
from tallystick.model import schema_type as types
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.model.temporal import Instant, LocalDateTime, LocalTime
from tallystick.serde.native import NativeSchema
from tallystick.serde.schema import Read, RegistrySettings, SchemaIdBytes

T = TypeVar("T")

_UTF_8 = "UTF-8"
_NO_PROPERTIES: Mapping[str, str] = MappingProxyType({})


class PrimitiveSchema(NativeSchema[T]):
    schema_type: ClassVar[SchemaType]

    def __init__(self, properties: Mapping[str, str] = _NO_PROPERTIES) -> None:
        super().__init__(SchemaDefinition(self.schema_type, properties=properties))

    def configure(self, settings: RegistrySettings) -> None:
        """Needs nothing of a client, so one instance serves all."""


class BytesSchema(PrimitiveSchema[bytes]):
    """Bytes that nobody looks into. As a reader it takes messages of every schema, as they came."""

    schema_type = types.BYTES

    def _encoder(self) -> Callable[[bytes], bytes]:
        explain = super()._encoder()
        return lambda value: value if type(value) is bytes else explain(value)

    def reader_of(
        self,
        topic: str,
        writer: SchemaDefinition | None,
        schema_id: SchemaIdBytes | None,
        references: References = NO_REFERENCES,
    ) -> Read[bytes]:
        return as_it_came


def as_it_came(payload: bytes, key: bytes | None) -> bytes:
    return payload


class StringSchema(PrimitiveSchema[str]):
    """Texts, in UTF-8 or in one of Java's other standard character sets: US-ASCII, ISO-8859-1, UTF-16BE, UTF-16LE."""

    schema_type = types.STRING

    def __init__(self, charset: str = _UTF_8) -> None:
        super().__init__({} if charset.upper() == _UTF_8 else {CHARSET_PROPERTY: charset})

    def _encoder(self) -> Callable[[str], bytes]:
        encode = super()._encoder()
        if self.definition.properties:
            return encode

        def encode_utf_8(value: str) -> bytes:
            try:
                return str.encode(value)
            except (TypeError, UnicodeEncodeError):
                return encode(value)

        return encode_utf_8


class BooleanSchema(PrimitiveSchema[bool]):
    schema_type = types.BOOLEAN


class Int8Schema(PrimitiveSchema[int]):
    schema_type = types.INT8


class Int16Schema(PrimitiveSchema[int]):
    schema_type = types.INT16


class Int32Schema(PrimitiveSchema[int]):
    schema_type = types.INT32


class Int64Schema(PrimitiveSchema[int]):
    schema_type = types.INT64


class FloatSchema(PrimitiveSchema[float]):
    """Four bytes: most numbers of Python are rounded."""

    schema_type = types.FLOAT


class DoubleSchema(PrimitiveSchema[float]):
    schema_type = types.DOUBLE


class DateSchema(PrimitiveSchema[dt.datetime]):
    """Java's `Date`: a point in time in whole milliseconds. A day is `LocalDateSchema`."""

    schema_type = types.DATE


class TimeSchema(PrimitiveSchema[dt.time]):
    schema_type = types.TIME


class TimestampSchema(PrimitiveSchema[dt.datetime]):
    schema_type = types.TIMESTAMP


class InstantSchema(PrimitiveSchema[Instant]):
    """A point in time with nanoseconds. Takes a `datetime` with a time zone as well."""

    schema_type = types.INSTANT


class LocalDateSchema(PrimitiveSchema[dt.date]):
    schema_type = types.LOCAL_DATE


class LocalTimeSchema(PrimitiveSchema[LocalTime]):
    """A time of day with nanoseconds. Takes a `time` as well."""

    schema_type = types.LOCAL_TIME


class LocalDateTimeSchema(PrimitiveSchema[LocalDateTime]):
    """Day and time with nanoseconds, without a zone. Takes a `datetime` without one as well."""

    schema_type = types.LOCAL_DATE_TIME


BYTES: Final = BytesSchema()
STRING: Final = StringSchema()
BOOLEAN: Final = BooleanSchema()
INT8: Final = Int8Schema()
INT16: Final = Int16Schema()
INT32: Final = Int32Schema()
INT64: Final = Int64Schema()
FLOAT: Final = FloatSchema()
DOUBLE: Final = DoubleSchema()
DATE: Final = DateSchema()
TIME: Final = TimeSchema()
TIMESTAMP: Final = TimestampSchema()
INSTANT: Final = InstantSchema()
LOCAL_DATE: Final = LocalDateSchema()
LOCAL_TIME: Final = LocalTimeSchema()
LOCAL_DATE_TIME: Final = LocalDateTimeSchema()

PRIMITIVES: Final[tuple[NativeSchema[Any], ...]] = (
    BYTES,
    STRING,
    BOOLEAN,
    INT8,
    INT16,
    INT32,
    INT64,
    FLOAT,
    DOUBLE,
    DATE,
    TIME,
    TIMESTAMP,
    INSTANT,
    LOCAL_DATE,
    LOCAL_TIME,
    LOCAL_DATE_TIME,
)
"""One of each type."""
