"""Scalars as the codecs of the formats have them, and what stands between: one neutral value for each kind.

| kind | neutral |
|---|---|
| date | days since 1970-01-01 |
| time | nanoseconds since midnight |
| timestamp, local timestamp | nanoseconds since 1970-01-01T00:00 |
| all others | the Python type of that name |
"""

import base64
import binascii
import datetime as dt
import math
import re
import struct
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from tallystick.translate.shape import INTEGERS, Kind, Scalar

Change = Callable[[Any], Any]

_DAY = dt.date(1970, 1, 1).toordinal()
_EPOCH = dt.datetime(1970, 1, 1)
_NANOS_PER_DAY = 86_400 * 10**9
_MICROSECOND = dt.timedelta(microseconds=1)
_FLOAT = struct.Struct("<f")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?")
_MOMENT = re.compile(rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})[Tt ]({_TIME.pattern})([Zz]|[+-][0-9]{{2}}:[0-9]{{2}})?")
_NO_TEXTS = frozenset({Kind.NULL, Kind.BOOLEAN, Kind.STRING, Kind.BYTES, *INTEGERS, Kind.FLOAT, Kind.DOUBLE})


class Misfit(Exception):
    """A value that has no counterpart; `path` is where it stands, found on the way out."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path: list[str | int] = []


def same(value: Any) -> Any:
    return value


def as_float(value: float) -> float:
    """Rounded to 32 bits."""
    rounded: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
    return rounded


# ---- Avro: Python's own types for all but nanoseconds, which are plain numbers


def from_avro(scalar: Scalar) -> Change:
    match scalar.kind:
        case Kind.DATE:
            return lambda value: value if isinstance(value, int) else value.toordinal() - _DAY
        case Kind.TIME:
            return lambda value: _nanos_of_time(value) if isinstance(value, dt.time) else value * _unit(scalar)
        case Kind.TIMESTAMP | Kind.LOCAL_TIMESTAMP:
            return lambda value: _nanos_since(value) if isinstance(value, dt.datetime) else value * _unit(scalar)
        case Kind.UUID:
            return lambda value: UUID(bytes=bytes(value)) if isinstance(value, bytes | bytearray) else UUID(str(value))
    return same


def to_avro(scalar: Scalar) -> Change:
    match scalar.kind:
        case Kind.DATE:
            return lambda value: dt.date.fromordinal(value + _DAY)
        case Kind.TIME:
            return lambda value: (dt.datetime.min + dt.timedelta(microseconds=value // 1000)).time()
        case Kind.TIMESTAMP | Kind.LOCAL_TIMESTAMP if scalar.digits == 9:
            return _within(INTEGERS[Kind.INT64], scalar.kind)
        case Kind.TIMESTAMP:
            return lambda value: _moment(value).replace(tzinfo=dt.UTC)
        case Kind.LOCAL_TIMESTAMP:
            return _moment
        case Kind.UUID if scalar.size is not None:
            return lambda value: value.bytes
    return same


def avro_underlying(scalar: Scalar, value: Any) -> Any:
    """What stands under a logical type: the number, text or bytes that are written."""
    neutral = from_avro(scalar)(value)
    match scalar.kind:
        case Kind.TIME | Kind.TIMESTAMP | Kind.LOCAL_TIMESTAMP:
            return neutral // _unit(scalar)
        case Kind.UUID:
            return str(neutral) if scalar.size is None else neutral.bytes
        case Kind.DECIMAL:
            unscaled = int(neutral.scaleb(scalar.scale or 0))
            size = scalar.size or unscaled.bit_length() // 8 + 1
            return unscaled.to_bytes(size, "big", signed=True)
    return neutral


# ---- JSON: texts for what JSON has no type for


def from_json(scalar: Scalar) -> Change:
    match scalar.kind:
        case Kind.FLOAT:
            return as_float
        case Kind.DOUBLE:
            return _as_double
        case Kind.BYTES:
            return _decoded
        case kind if kind in INTEGERS:
            return int
        case kind if kind in _NO_TEXTS:
            return same
    return lambda text: _parsed(scalar, text)


def to_json(scalar: Scalar) -> Change:
    match scalar.kind:
        case Kind.FLOAT | Kind.DOUBLE:
            return _finite
        case Kind.BYTES:
            return lambda value: base64.b64encode(value).decode()
        case kind if kind in _NO_TEXTS:
            return same
    return lambda value: text_of(scalar, value)


# ---- Protobuf: a Timestamp is a dict


def from_protobuf(scalar: Scalar) -> Change:
    if scalar.kind is Kind.TIMESTAMP:
        return lambda value: value.get("seconds", 0) * 10**9 + value.get("nanos", 0)
    return same


def to_protobuf(scalar: Scalar) -> Change:
    if scalar.kind is Kind.TIMESTAMP:
        return lambda value: dict(zip(("seconds", "nanos"), divmod(value, 10**9), strict=True))
    return same


# ---- from a kind to another, or to fewer digits


def between(source: Scalar, target: Scalar) -> Change:
    """From the neutral value of a scalar to that of the one it became."""
    if target.kind is Kind.STRING and source.kind is not Kind.STRING:
        return lambda value: text_of(source, value)
    if target.kind is Kind.DECIMAL:
        if source.kind is not Kind.DECIMAL:
            return Decimal
        return lambda value: _scaled(value, target)
    if target.kind in INTEGERS:
        return _within(INTEGERS[target.kind], target.kind)
    if source.digits is not None and target.digits is not None and target.digits < source.digits:
        return lambda value: value - value % _unit(target)
    return same


def text_of(scalar: Scalar, value: Any) -> str:
    """The text of a neutral value: ISO 8601, all digits of a decimal."""
    match scalar.kind:
        case Kind.DATE:
            return dt.date.fromordinal(value + _DAY).isoformat()
        case Kind.TIME:
            return _time_text(value, scalar.digits)
        case Kind.TIMESTAMP | Kind.LOCAL_TIMESTAMP:
            days, rest = divmod(value, _NANOS_PER_DAY)
            day = dt.date.fromordinal(days + _DAY).isoformat()
            return f"{day}T{_time_text(rest, scalar.digits)}" + ("Z" if scalar.kind is Kind.TIMESTAMP else "")
        case Kind.DECIMAL:
            return format(value if scalar.precision is None else _scaled(value, scalar), "f")
    return str(value)


def _parsed(scalar: Scalar, text: str) -> Any:
    match scalar.kind:
        case Kind.DATE:
            return dt.date.fromisoformat(text).toordinal() - _DAY
        case Kind.TIME:
            return _nanos_of_text(text)
        case Kind.DECIMAL:
            return Decimal(text)
        case Kind.UUID:
            return UUID(text)
    found = _MOMENT.fullmatch(text)
    if found is None:
        raise Misfit(f"{text[:60]!r} is no {scalar.kind}")
    offset = _nanos_of_offset(found[7])
    return (dt.date.fromisoformat(found[1]).toordinal() - _DAY) * _NANOS_PER_DAY + _nanos_of_text(found[2]) - offset


def _nanos_of_text(text: str) -> int:
    found = _TIME.fullmatch(text)
    if found is None:
        raise Misfit(f"{text[:60]!r} is no time of day")
    hour, minute, second = int(found[1]), int(found[2]), int(found[3])
    if hour > 23 or minute > 59 or second > 59:
        raise Misfit(f"{text[:60]!r} is no time of day")
    return ((hour * 60 + minute) * 60 + second) * 10**9 + int((found[4] or "0").ljust(9, "0")[:9])


def _nanos_of_offset(text: str | None) -> int:
    if text is None or text in "Zz":
        return 0
    minutes = int(text[1:3]) * 60 + int(text[4:6])
    return (-minutes if text[0] == "-" else minutes) * 60 * 10**9


def _time_text(nanos: int, digits: int | None) -> str:
    seconds, fraction = divmod(nanos, 10**9)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02}:{minute:02}:{second:02}.{fraction:09}"[: 9 + (digits or 9)]


def _unit(scalar: Scalar) -> int:
    return int(10 ** (9 - (scalar.digits or 9)))


def _nanos_of_time(value: dt.time) -> int:
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 10**9 + value.microsecond * 1000


def _nanos_since(value: dt.datetime) -> int:
    bare = value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
    return (bare - _EPOCH) // _MICROSECOND * 1000


def _moment(nanos: int) -> dt.datetime:
    return _EPOCH + dt.timedelta(microseconds=nanos // 1000)


def _scaled(value: Decimal, scalar: Scalar) -> Decimal:
    """The value with exactly the digits that a decimal has."""
    if scalar.precision is None or scalar.scale is None:
        return value
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or len(digits) + exponent > scalar.precision - scalar.scale:
        raise Misfit(f"{value} does not fit decimal({scalar.precision}, {scalar.scale})")
    shift = exponent + scalar.scale
    if shift < 0 and any(digits[shift:]):
        raise Misfit(f"{value} does not fit decimal({scalar.precision}, {scalar.scale})")
    kept = digits + (0,) * shift if shift >= 0 else digits[:shift] or (0,)
    return Decimal((sign if any(kept) else 0, kept, -scalar.scale))


def _within(held: range, kind: Kind) -> Change:
    def checked(value: Any) -> Any:
        if value not in held:
            raise Misfit(f"{value} does not fit {kind}")
        return value

    return checked


def _as_double(value: Any) -> float:
    number = float(value)
    if isinstance(value, int) and int(number) != value:
        raise Misfit(f"{value} has more digits than a double")
    return number


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise Misfit(f"{value} is no JSON number")
    return value


def _decoded(text: str) -> bytes:
    try:
        found = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as e:
        raise Misfit(f"{text[:60]!r} is not Base64") from e
    if base64.b64encode(found).decode() != text:
        raise Misfit(f"{text[:60]!r} is not Base64 as it should be written")
    return found


UNFIT = (ValueError, OverflowError, InvalidOperation, struct.error, AttributeError, TypeError, KeyError)
"""What Python raises for a value that is not of its type, or out of the range of another."""
