"""Does a value fit a type without a text? Each type says what it takes, and names what is wrong with anything else."""

import datetime as dt
import math
import reprlib
import struct
from collections.abc import Callable, Iterator

from tallystick.finding import Finding, Place
from tallystick.formats.primitive import times
from tallystick.formats.primitive.parse import PrimitiveSchema
from tallystick.model import schema_type as types
from tallystick.model.schema_type import SchemaType
from tallystick.model.temporal import NANOS_PER_SECOND, Instant, LocalDateTime, LocalTime

TYPE_WRONG = "PRIMITIVE_VALUE_TYPE_WRONG"
OUT_OF_RANGE = "PRIMITIVE_VALUE_OUT_OF_RANGE"
TOO_PRECISE = "PRIMITIVE_VALUE_TOO_PRECISE"
NO_TIME_ZONE = "PRIMITIVE_VALUE_NEEDS_TIME_ZONE"
HAS_TIME_ZONE = "PRIMITIVE_VALUE_HAS_TIME_ZONE"
NOT_IN_CHARSET = "PRIMITIVE_VALUE_NOT_IN_CHARACTER_SET"

Fault = tuple[str, str, str]
"""Check, message and fix."""


def validate(schema: PrimitiveSchema, value: object) -> list[Finding]:
    return [
        Finding(rule=check, message=message, fix=fix, old=Place(""), new=Place(""), now=_quoted(value))
        for check, message, fix in _FAULTS[schema.definition.type](schema, value)
    ]


def _quoted(value: object) -> str:
    try:
        return reprlib.repr(value)
    except ValueError:  # an integer of thousands of digits
        return f"a {type(value).__name__} too long to show"


def _wrong(schema: PrimitiveSchema, value: object, wanted: str) -> Fault:
    kind = schema.definition.type
    return TYPE_WRONG, f"{kind} takes {wanted}, not {_quoted(value)}", f"give {wanted}"


def _integer(bits: int) -> Callable[[PrimitiveSchema, object], Iterator[Fault]]:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def faults(schema: PrimitiveSchema, value: object) -> Iterator[Fault]:
        if isinstance(value, bool) or not isinstance(value, int):
            yield _wrong(schema, value, "an integer")
        elif not low <= value <= high:
            yield _outside(schema, value, f"{low} to {high}")

    return faults


def _outside(schema: PrimitiveSchema, value: object, span: str) -> Fault:
    kind = schema.definition.type
    return OUT_OF_RANGE, f"{_quoted(value)} lies outside of what {kind} holds, {span}", f"give a value from {span}"


def _float(code: str) -> Callable[[PrimitiveSchema, object], Iterator[Fault]]:
    def faults(schema: PrimitiveSchema, value: object) -> Iterator[Fault]:
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield _wrong(schema, value, "a number")
            return
        try:
            struct.pack(code, value)
        except (OverflowError, struct.error):
            largest = struct.unpack(">f", b"\x7f\x7f\xff\xff")[0] if code == ">f" else math.nextafter(math.inf, 0)
            yield _outside(schema, value, f"{-largest:.6g} to {largest:.6g}")

    return faults


def _boolean(schema: PrimitiveSchema, value: object) -> Iterator[Fault]:
    if not isinstance(value, bool):
        yield _wrong(schema, value, "True or False")


def _string(schema: PrimitiveSchema, value: object) -> Iterator[Fault]:
    if not isinstance(value, str):
        yield _wrong(schema, value, "a text (str)")
        return
    try:
        value.encode(schema.charset)
    except UnicodeEncodeError as e:
        message = f"character {value[e.start]!a} at position {e.start} does not exist in {schema.charset}"
        yield NOT_IN_CHARSET, message, "remove or replace that character"


def _bytes(schema: PrimitiveSchema, value: object) -> Iterator[Fault]:
    if not isinstance(value, bytes):
        yield _wrong(schema, value, "bytes")


def _external(schema: PrimitiveSchema, value: object) -> Iterator[Fault]:
    if not isinstance(value, bytes):
        yield (
            TYPE_WRONG,
            f"EXTERNAL takes the bytes that the client of the outside registry made, not {_quoted(value)}",
            "encode the value with the schema of that registry first",
        )


def _moment(schema: PrimitiveSchema, value: object) -> Iterator[Fault]:
    if not isinstance(value, dt.datetime):
        yield _wrong(schema, value, "a datetime with a time zone")
    elif value.utcoffset() is None:
        yield _zoneless(schema, value)
    elif value.microsecond % 1000:
        yield _too_precise(schema, value)


def _zoneless(schema: PrimitiveSchema, value: object) -> Fault:
    kind = schema.definition.type
    message = f"{kind} is a point in time, and {_quoted(value)} does not say in which time zone"
    return NO_TIME_ZONE, message, "give the datetime a time zone, such as tzinfo=datetime.UTC"


def _zoned(schema: PrimitiveSchema, value: object) -> Fault:
    kind = schema.definition.type
    return HAS_TIME_ZONE, f"{kind} has no time zone, but {_quoted(value)} has one", "give the value without tzinfo"


def _too_precise(schema: PrimitiveSchema, value: object) -> Fault:
    kind = schema.definition.type
    return TOO_PRECISE, f"{kind} keeps milliseconds, and {_quoted(value)} has more", "round it to whole milliseconds"


def _time(schema: PrimitiveSchema, value: object) -> Iterator[Fault]:
    if not isinstance(value, dt.time):
        yield _wrong(schema, value, "a time")
    elif value.tzinfo is not None:
        yield _zoned(schema, value)
    elif value.microsecond % 1000:
        yield _too_precise(schema, value)


def _instant(schema: PrimitiveSchema, value: object) -> Iterator[Fault]:
    if isinstance(value, dt.datetime):
        if value.utcoffset() is None:
            yield _zoneless(schema, value)
    elif not isinstance(value, Instant):
        yield _wrong(schema, value, "an Instant, or a datetime with a time zone")
    elif not (-(1 << 63) <= value.epoch_second < 1 << 63 and 0 <= value.nano < NANOS_PER_SECOND):
        yield _outside(schema, value, "64-bit seconds and nanoseconds from 0 to 999999999")


def _local_date(schema: PrimitiveSchema, value: object) -> Iterator[Fault]:
    if not isinstance(value, dt.date) or isinstance(value, dt.datetime):
        yield _wrong(schema, value, "a date without a time")


def _local_time(schema: PrimitiveSchema, value: object) -> Iterator[Fault]:
    if isinstance(value, dt.time):
        if value.tzinfo is not None:
            yield _zoned(schema, value)
    elif not isinstance(value, LocalTime):
        yield _wrong(schema, value, "a LocalTime or a time")
    elif not times.is_nano_of_day(value.nano_of_day):
        yield _outside(schema, value, "the nanoseconds of one day")


def _local_date_time(schema: PrimitiveSchema, value: object) -> Iterator[Fault]:
    if isinstance(value, dt.datetime):
        if value.tzinfo is not None:
            yield _zoned(schema, value)
    elif not isinstance(value, LocalDateTime):
        yield _wrong(schema, value, "a LocalDateTime, or a datetime without a time zone")
    elif not times.is_nano_of_day(value.time.nano_of_day):
        yield _outside(schema, value, "the nanoseconds of one day")


_FAULTS: dict[SchemaType, Callable[[PrimitiveSchema, object], Iterator[Fault]]] = {
    types.EXTERNAL: _external,
    types.BYTES: _bytes,
    types.NONE: _bytes,
    types.STRING: _string,
    types.BOOLEAN: _boolean,
    types.INT8: _integer(8),
    types.INT16: _integer(16),
    types.INT32: _integer(32),
    types.INT64: _integer(64),
    types.FLOAT: _float(">f"),
    types.DOUBLE: _float(">d"),
    types.DATE: _moment,
    types.TIME: _time,
    types.TIMESTAMP: _moment,
    types.INSTANT: _instant,
    types.LOCAL_DATE: _local_date,
    types.LOCAL_TIME: _local_time,
    types.LOCAL_DATE_TIME: _local_date_time,
}
