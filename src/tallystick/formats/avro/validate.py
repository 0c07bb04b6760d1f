"""Does a Python value fit an Avro type?

`fits` answers yes or no with a function that is put together once for each type, fast enough for every record that
is sent. `validate` explains a no: it looks for the innermost parts that do not fit.

A record is a mapping, an array a list or tuple. A tuple in the place of a union is a pair (branch name, value).
Logical types take their Python type (`datetime`, `Decimal`, `UUID`, …) or the plain value underneath, as far as the
Python type can hold it: the codec reads it back as that.
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID

from tallystick.finding import Finding, Place
from tallystick.formats.avro.types import (
    Array,
    AvroSchema,
    AvroType,
    Enum,
    Fixed,
    Map,
    Named,
    Primitive,
    Record,
    Union,
    describe,
    every_type,
)
from tallystick.formats.json_source import Path, pointer

Check = Callable[[Any], bool]

_INFINITE = (float("inf"), float("-inf"))
_FLOAT_MAX = float.fromhex("0x1.fffffep+127")
_FLOAT = struct.Struct("<f")

MAX_DIGITS = 4_000
"""Digits of a decimal, whatever its precision: a small schema may ask for more than memory holds."""


def validate(schema: AvroSchema, value: object) -> list[Finding]:
    return problems(schema.root, value)


def problems(root: AvroType, value: object) -> list[Finding]:
    try:
        return list(_problems(root, value, ()))
    except RecursionError:
        return [
            _finding("AVRO_VALUE_TOO_DEEP", (), "the value is nested too deeply", "any depth", "too deep", "flatten it")
        ]


@lru_cache(maxsize=4096)
def check_of(root: AvroType) -> Check:
    """A function that says whether a value fits a type. It raises RecursionError for values nested too deeply."""
    return _put_together(root, _PLAIN, is_exact=False)


@lru_cache(maxsize=4096)
def exact_check_of(root: AvroType) -> Check:
    """A function that says whether a value that fits comes back as it is: nothing rounded, nothing filled in."""
    return _put_together(root, _PLAIN | _EXACT, is_exact=True)


def _put_together(root: AvroType, plain: dict[str, Check], is_exact: bool) -> Check:
    checks: dict[int, Check] = {}
    for type_ in every_type(root):
        checks[id(type_)] = _check(type_, checks, plain, is_exact)
    return checks[id(root)]


def _check(type_: AvroType, checks: dict[int, Check], plain: dict[str, Check], is_exact: bool) -> Check:
    # The parts' checks are looked up when a value comes: a record may hold itself.
    match type_:
        case Record():
            return _record_check(type_, checks, is_exact)
        case Array(items=items):
            return lambda value: isinstance(value, list | tuple) and all(map(checks[id(items)], value))
        case Map(values=values):
            return lambda value: (
                isinstance(value, dict) and all(map(_is_text, value)) and all(map(checks[id(values)], value.values()))
            )
        case Union(branches=branches):
            return lambda value: (
                any(checks[id(branch)](value) for branch in branches)
                if not isinstance(value, tuple)
                else (branch := named_branch(type_, value)) is not None and checks[id(branch)](value[1])
            )
        case Enum(symbols=symbols):
            known = frozenset(symbols)
            return lambda value: isinstance(value, str) and value in known
        case Fixed(size=size):
            return _logical_check(type_, lambda value: isinstance(value, bytes | bytearray) and len(value) == size)
        case Primitive(kind=kind):
            return _logical_check(type_, plain[kind])


def _record_check(record: Record, checks: dict[int, Check], is_exact: bool) -> Check:
    required = [(field.name, id(field.type)) for field in record.fields if field.default is None or is_exact]
    optional = [(field.name, id(field.type)) for field in record.fields if field.default is not None and not is_exact]

    def fits(value: Any) -> bool:
        if not isinstance(value, Mapping):
            return False
        known = 0
        for name, type_id in required:
            if name not in value or not checks[type_id](value[name]):
                return False
        for name, type_id in optional:
            if name in value:
                if not checks[type_id](value[name]):
                    return False
                known += 1
        return len(value) == known + len(required)

    return fits


def named_branch(union: Union, value: Any) -> AvroType | None:
    if not isinstance(value, tuple) or len(value) != 2:
        return None
    return next((b for b in union.branches if (b.name if isinstance(b, Named) else b.kind) == value[0]), None)


def _is_int(limit: int) -> Check:
    return lambda value: type(value) is int and -limit <= value < limit


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and (value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value))


_PLAIN: dict[str, Check] = {
    "null": lambda value: value is None,
    "boolean": lambda value: value is True or value is False,
    "int": _is_int(2**31),
    "long": _is_int(2**63),
    "float": lambda value: (
        (type(value) is float and (-_FLOAT_MAX <= value <= _FLOAT_MAX or value in _INFINITE or value != value))
        or (type(value) is int and abs(value) <= _FLOAT_MAX)
    ),
    "double": lambda value: type(value) is float or (type(value) is int and abs(value) < 2**1023),
    "bytes": lambda value: isinstance(value, bytes | bytearray),
    "string": _is_text,
}
_EXACT: dict[str, Check] = {
    "float": lambda value: type(value) is float and (value != value or value in _INFINITE or _as_float(value) == value),
    "double": lambda value: type(value) is float,
}


def _as_float(value: float) -> float:
    """Rounded to 32 bits, as a float is written."""
    rounded: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
    return rounded


_NATIVE: dict[str, Check] = {
    "date": lambda value: isinstance(value, date) and not isinstance(value, datetime),
    "time-millis": lambda value: isinstance(value, time),
    "time-micros": lambda value: isinstance(value, time),
    "timestamp-millis": lambda value: isinstance(value, datetime),
    "timestamp-micros": lambda value: isinstance(value, datetime),
    "local-timestamp-millis": lambda value: isinstance(value, datetime),
    "local-timestamp-micros": lambda value: isinstance(value, datetime),
}


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = (datetime.replace(at, tzinfo=UTC) - _EPOCH for at in (datetime.min, datetime.max))
_DAY = timedelta(days=1)


def _units(unit: timedelta) -> range:
    return range(-(-_FIRST // unit), _LAST // unit + 1)


_MILLIS, _MICROS = timedelta(milliseconds=1), timedelta(microseconds=1)
_RANGES: dict[str, range] = {
    "date": _units(_DAY),
    "time-millis": range(_DAY // _MILLIS),
    "time-micros": range(_DAY // _MICROS),
    "timestamp-millis": _units(_MILLIS),
    "timestamp-micros": _units(_MICROS),
    "local-timestamp-millis": _units(_MILLIS),
    "local-timestamp-micros": _units(_MICROS),
}
"""The numbers that the Python types hold."""


def _logical_check(type_: Primitive | Fixed, plain: Check) -> Check:
    logical = type_.logical
    if logical is None:
        return plain
    if logical.name == "decimal":
        assert logical.precision is not None
        assert logical.scale is not None
        digits, scale = min(logical.precision, MAX_DIGITS), logical.scale
        limit = 10**digits
        return lambda value: (
            _is_decimal(value, digits, scale)
            if isinstance(value, Decimal)
            else plain(value) and -limit < int.from_bytes(value, "big", signed=True) < limit
        )
    if logical.name == "uuid":
        # The codec turns the text of a UUID into a UUID, so other text would be lost on the way back.
        return lambda value: isinstance(value, UUID) or (plain(value) and (isinstance(type_, Fixed) or _is_uuid(value)))
    if logical.name not in _NATIVE:
        return plain
    native, held = _NATIVE[logical.name], _RANGES[logical.name]
    return lambda value: native(value) or (plain(value) and value in held)


def _is_decimal(value: Decimal, precision: int, scale: int) -> bool:
    if not value.is_finite():
        return False
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    return -exponent <= scale and len(digits) + exponent + scale <= precision


def _is_uuid(value: str) -> bool:
    try:
        UUID(value)
    except ValueError:
        return False
    return True


def _problems(type_: AvroType, value: Any, path: Path) -> Iterator[Finding]:
    if check_of(type_)(value):
        return
    match type_:
        case Record() if isinstance(value, Mapping):
            yield from _record_problems(type_, value, path)
        case Array(items=items) if isinstance(value, list | tuple):
            for i, item in enumerate(value):
                yield from _problems(items, item, (*path, i))
        case Map(values=values) if isinstance(value, dict) and all(map(_is_text, value)):
            for key, item in value.items():
                yield from _problems(values, item, (*path, key))
        case Union(branches=branches) if (likely := _likely_branch(branches, value)) is not None:
            yield from _problems(likely, value, path)
        case _:
            yield _wrong_type(type_, value, path)


def _record_problems(record: Record, value: Mapping[Any, Any], path: Path) -> Iterator[Finding]:
    for field in record.fields:
        if field.name in value:
            yield from _problems(field.type, value[field.name], (*path, field.name))
        elif field.default is None:
            yield _finding(
                "AVRO_VALUE_FIELD_MISSING",
                (*path, field.name),
                f"record `{record.name}` needs field `{field.name}`, which has no default",
                describe(field.type),
                "nothing",
                f"add `{field.name}`",
            )
    for name in value:
        if name not in record.by_name:
            yield _finding(
                "AVRO_VALUE_FIELD_UNKNOWN",
                (*path, str(name)),
                f"record `{record.name}` has no field `{name}`, so its value would be lost",
                "no such field",
                _quoted(value[name]),
                f"remove `{name}`, or add it to the schema",
            )


def _likely_branch(branches: tuple[AvroType, ...], value: Any) -> AvroType | None:
    """The only branch that a value of this shape can be meant for."""
    shape: tuple[type, ...] = ()
    if isinstance(value, Mapping):
        shape = (Record, Map)
    elif isinstance(value, list):
        shape = (Array,)
    likely = [branch for branch in branches if isinstance(branch, shape)]
    return likely[0] if len(likely) == 1 else None


def _wrong_type(type_: AvroType, value: Any, path: Path) -> Finding:
    if isinstance(type_, Enum) and isinstance(value, str):
        return _finding(
            "AVRO_VALUE_SYMBOL_UNKNOWN",
            path,
            f"enum `{type_.name}` has no symbol {_quoted(value)}",
            ", ".join(type_.symbols),
            _quoted(value),
            "use one of its symbols, or add this one to the schema",
        )
    return _finding(
        "AVRO_VALUE_TYPE_WRONG",
        path,
        f"{_quoted(value)} ({type(value).__name__}) is not of type {describe(type_)}",
        describe(type_),
        _quoted(value),
        f"send a value of type {describe(type_)}",
    )


def _finding(rule: str, path: Path, message: str, was: str, now: str, fix: str) -> Finding:
    where = pointer(path)
    text = f"{message} (at {where})" if where else message
    return Finding(rule=rule, message=text, fix=fix, new=Place(where), was=was, now=now)


def _quoted(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
