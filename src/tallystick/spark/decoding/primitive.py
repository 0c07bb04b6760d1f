"""Pulsar's primitives on the JVM: big-endian bytes → numbers; the length is the proof.

Spark has no function for that, so integers go through their hexadecimal digits, and floats through Avro, which writes
the same bytes the other way round.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.types import DataType

from tallystick.errors import IncompatibleSchema
from tallystick.finding import Finding, Place
from tallystick.formats.primitive import PrimitiveSchema
from tallystick.model import schema_type as types
from tallystick.model.schema_type import SchemaType
from tallystick.spark.decoding import taking
from tallystick.spark.decoding.decoder import ArrowDecoder, ColumnDecoder
from tallystick.spark.types.primitive import type_of

_MILLIS_PER_DAY = 86_400_000
_NANOS_PER_SECOND = 1_000_000_000
_NANOS_PER_DAY = 86_400 * _NANOS_PER_SECOND
_LAST_SECOND = 9_223_372_036_854
"""Of the microseconds that Spark counts."""
_FIRST_MILLI, _LAST_MILLI = -62_135_596_800_000, 253_402_300_799_999
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""The years 1 to 9999: what Python's values hold, and so our codec."""
_TIMES_OF_DAY = frozenset((types.TIME, types.LOCAL_TIME))


def decoder(
    writer: PrimitiveSchema, target: DataType, *, reader: PrimitiveSchema | None = None
) -> ColumnDecoder | ArrowDecoder:
    """`reader` is the schema whose type the target is, where that is a primitive.

    Raises `IncompatibleSchema` where the target is no wider number and no other name of the same type.
    """
    kind = writer.definition.type
    if reader is not None and reader.definition.type != kind and {kind, reader.definition.type} & _TIMES_OF_DAY:
        raise _other_unit(kind, reader.definition.type)
    taking.check(type_of(writer), target)
    if kind == types.STRING and writer.charset != "utf-8":
        return ArrowDecoder(_Texts(writer.charset))
    read = _READ.get(kind, _bytes)
    return ColumnDecoder(lambda payload, key: read(payload).cast(target), key=("primitive", kind, target.json()))


def _other_unit(written: SchemaType, read: SchemaType) -> IncompatibleSchema:
    message = f"{written} cannot be read as {read}: a time of day is a number on Spark, and the two count other things"
    fix = "read by a schema of the type that was written, or change the type back"
    found = Finding(rule=taking.TYPE_CHANGED, message=message, fix=fix, new=Place(""), was=str(written), now=str(read))
    return IncompatibleSchema(message, [found])


@dataclass(frozen=True, slots=True)
class _Texts:
    """Other character sets than UTF-8: Spark's decoder stops a whole job for one wrong character."""

    charset: str

    def __call__(self, payloads: pa.Array, keys: pa.Array) -> pa.Array:
        return pa.array([self._text(payload) for payload in payloads.to_pylist()], pa.string())

    def _text(self, payload: bytes) -> str | None:
        try:
            return payload.decode(self.charset)
        except UnicodeDecodeError:
            return None


def integer(payload: Column, start: int, size: int) -> Column:
    """The signed big-endian number of `size` bytes from byte `start` on, from 0; null where they are not all there."""
    unsigned = F.conv(F.hex(F.substring(payload, start + 1, size)), 16, -10).cast("bigint")
    missing_bits = 64 - 8 * size
    signed = F.shiftright(F.shiftleft(unsigned, missing_bits), missing_bits) if missing_bits else unsigned
    return F.when(F.length(payload) >= start + size, signed)


def _exact(size: int, value: Callable[[Column], Column]) -> Callable[[Column], Column]:
    return lambda payload: F.when(F.length(payload) == size, value(payload))


def _whole(size: int) -> Callable[[Column], Column]:
    return _exact(size, lambda payload: integer(payload, 0, size))


def _floating(kind: str, size: int) -> Callable[[Column], Column]:
    def value(payload: Column) -> Column:
        turned = F.concat(*(F.substring(payload, i, 1) for i in range(size, 0, -1)))
        return from_avro(turned, f'"{kind}"', {"mode": "PERMISSIVE"})

    return _exact(size, value)


def _moment(payload: Column) -> Column:
    millis = integer(payload, 0, 8)
    return F.when(millis.between(_FIRST_MILLI, _LAST_MILLI), F.timestamp_millis(millis))


def _instant(payload: Column) -> Column:
    second, nano = integer(payload, 0, 8), integer(payload, 8, 4)
    micros = second * 1_000_000 + F.floor(nano / 1000)
    is_good = second.between(-_LAST_SECOND, _LAST_SECOND - 1) & nano.between(0, _NANOS_PER_SECOND - 1)
    return F.when(is_good, F.timestamp_micros(micros))


def _date(payload: Column) -> Column:
    day = integer(payload, 0, 8)
    return F.when(day.between(_FIRST_DAY, _LAST_DAY), F.date_from_unix_date(day.cast("int")))


def _local_time(payload: Column) -> Column:
    nano = integer(payload, 0, 8)
    return F.when(nano.between(0, _NANOS_PER_DAY - 1), nano)


def _local_date_time(payload: Column) -> Column:
    day, nano = integer(payload, 0, 8), integer(payload, 8, 8)
    # Not by way of a point in time: that would depend on the time zone of the session.
    seconds = F.floor(nano / 1000).cast("decimal(18,0)") / F.lit(1_000_000)
    since = F.make_dt_interval(day.cast("int"), F.lit(0), F.lit(0), seconds.cast("decimal(18,6)"))
    is_good = day.between(_FIRST_DAY, _LAST_DAY) & nano.between(0, _NANOS_PER_DAY - 1)
    return F.when(is_good, F.expr("timestamp_ntz'1970-01-01 00:00:00'") + since)


def _bytes(payload: Column) -> Column:
    return payload


_READ: dict[SchemaType, Callable[[Column], Column]] = {
    types.STRING: lambda payload: F.try_validate_utf8(payload.cast("string")),
    types.BOOLEAN: _exact(1, lambda payload: integer(payload, 0, 1) != 0),
    types.INT8: _whole(1),
    types.INT16: _whole(2),
    types.INT32: _whole(4),
    types.INT64: _whole(8),
    types.FLOAT: _floating("float", 4),
    types.DOUBLE: _floating("double", 8),
    types.DATE: _exact(8, _moment),
    types.TIMESTAMP: _exact(8, _moment),
    types.TIME: _exact(8, lambda payload: F.pmod(integer(payload, 0, 8), F.lit(_MILLIS_PER_DAY))),
    types.INSTANT: _exact(12, _instant),
    types.LOCAL_DATE: _exact(8, _date),
    types.LOCAL_TIME: _exact(8, _local_time),
    types.LOCAL_DATE_TIME: _exact(16, _local_date_time),
}
