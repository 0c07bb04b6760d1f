"""The bytes of Pulsar's primitives, as its Java client writes them: big-endian, of a fixed length but for texts.

FLOAT rounds to four bytes, as every client does. A payload of another length, or one that Python's values cannot
hold, is refused.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tallystick.errors import InvalidRecord
from tallystick.finding import Finding, Place
from tallystick.formats.identity import is_same
from tallystick.formats.primitive import times
from tallystick.formats.primitive.parse import PrimitiveSchema
from tallystick.formats.primitive.validate import validate
from tallystick.model import schema_type as types
from tallystick.model.schema_type import SchemaType
from tallystick.model.temporal import NANOS_PER_SECOND, Instant, LocalDateTime, LocalTime

UNREADABLE = "PRIMITIVE_PAYLOAD_UNREADABLE"


def encode(schema: PrimitiveSchema, value: object) -> bytes:
    findings = validate(schema, value)
    if findings:
        raise InvalidRecord(findings[0].message, findings)
    kind = schema.definition.type
    if kind in _FIXED:
        return _FIXED[kind].pack(value)
    if kind == types.STRING:
        assert isinstance(value, str)
        return value.encode(schema.charset)
    assert isinstance(value, bytes)
    return value


def decode(schema: PrimitiveSchema, payload: bytes, reader: PrimitiveSchema | None = None) -> Any:
    """A reader has nothing to resolve here; it must be of the type that wrote."""
    kind = schema.definition.type
    if reader is not None and not is_same(schema, reader):
        raise _refused(reader.definition.type, f"it was written as {kind}")
    try:
        if kind in _FIXED:
            return _FIXED[kind].unpack(payload)
        return payload.decode(schema.charset) if kind == types.STRING else payload
    except _Unreadable as e:
        raise _refused(kind, str(e)) from e
    except UnicodeDecodeError as e:
        raise _refused(kind, f"the bytes at offset {e.start} are not {schema.charset}") from e
    except OverflowError as e:
        raise _refused(kind, "the day lies outside of the years 1 to 9999, which is all that Python holds") from e


class _Unreadable(Exception):
    pass


def _refused(kind: SchemaType, reason: str) -> InvalidRecord:
    message = f"the payload is not of type {kind}: {reason}"
    fix = f"write the payload with a schema of type {kind}, or read it with the type that wrote it"
    return InvalidRecord(message, [Finding(rule=UNREADABLE, message=message, fix=fix, old=Place(""), new=Place(""))])


@dataclass(frozen=True, slots=True)
class _Fixed:
    """A type of fixed length: its numbers, and how a value becomes them and comes back."""

    layout: struct.Struct
    numbers: Callable[[Any], tuple[Any, ...]]
    value: Callable[..., Any]

    def pack(self, value: object) -> bytes:
        return self.layout.pack(*self.numbers(value))

    def unpack(self, payload: bytes) -> Any:
        if len(payload) != self.layout.size:
            raise _Unreadable(f"it has {len(payload)} bytes, not {self.layout.size}")
        return self.value(*self.layout.unpack(payload))


def _plain(code: str) -> _Fixed:
    return _Fixed(struct.Struct(code), lambda value: (value,), lambda number: number)


def _instant(second: int, nano: int) -> Instant:
    if not 0 <= nano < NANOS_PER_SECOND:
        raise _Unreadable(f"{nano} are not the nanoseconds of a second")
    return Instant(second, nano)


def _instant_numbers(value: Any) -> tuple[int, int]:
    instant = times.instant_of(value)
    return instant.epoch_second, instant.nano


def _local_time(nano: int) -> LocalTime:
    if not times.is_nano_of_day(nano):
        raise _Unreadable(f"{nano} are not the nanoseconds of a day")
    return LocalTime(nano)


def _local_date_time_numbers(value: Any) -> tuple[int, int]:
    moment = times.local_date_time_of(value)
    return times.day_of(moment.date), moment.time.nano_of_day


_MOMENT = _Fixed(struct.Struct(">q"), lambda value: (times.millis_of(value),), times.moment_of)

_FIXED = {
    types.BOOLEAN: _Fixed(struct.Struct(">B"), lambda value: (int(value),), bool),
    types.INT8: _plain(">b"),
    types.INT16: _plain(">h"),
    types.INT32: _plain(">i"),
    types.INT64: _plain(">q"),
    types.FLOAT: _plain(">f"),
    types.DOUBLE: _plain(">d"),
    types.DATE: _MOMENT,
    types.TIMESTAMP: _MOMENT,
    types.TIME: _Fixed(struct.Struct(">q"), lambda value: (times.millis_of_time(value),), times.time_of),
    types.INSTANT: _Fixed(struct.Struct(">qi"), _instant_numbers, _instant),
    types.LOCAL_DATE: _Fixed(struct.Struct(">q"), lambda value: (times.day_of(value),), times.date_of),
    types.LOCAL_TIME: _Fixed(struct.Struct(">q"), lambda value: (times.local_time_of(value).nano_of_day,), _local_time),
    types.LOCAL_DATE_TIME: _Fixed(
        struct.Struct(">qq"),
        _local_date_time_numbers,
        lambda day, nano: LocalDateTime(times.date_of(day), _local_time(nano)),
    ),
}
