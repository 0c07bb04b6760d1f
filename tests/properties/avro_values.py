"""Values of Avro types: together they reach every symbol, every branch and the ends of every number."""

import math
import struct
from typing import Any

from tallystick.formats.avro.types import Array, AvroType, Enum, Fixed, Map, Named, Primitive, Record, Union
from tallystick.formats.avro.validate import check_of

_UUID = "12345678-1234-5678-1234-567812345678"
_PLAIN: dict[str, list[Any]] = {
    "null": [None],
    "boolean": [True, False],
    "int": [0, -(2**31), 2**31 - 1],
    "long": [0, -(2**63), 2**63 - 1],
    "float": [0.0, -0.5, float("inf")],
    "double": [0.0, 1e300, -1e-300],
    "string": ["", "tally", "ä€😀"],
    "bytes": [b"", b"tally"],
}
_LOGICAL: dict[str, list[Any]] = {
    "date": [0, 19000, -1],
    "time-millis": [0, 86_399_999],
    "timestamp-millis": [0, -1, 1_700_000_000_000],
    "local-timestamp-micros": [0, 1],
    "timestamp-micros": [0, -1],
    "local-timestamp-millis": [0, 1],
    "time-micros": [0, 86_399_999_999],
    "uuid": [_UUID],
    "decimal": [b"\x00", b"\x04\xd2", b"\xff"],
}
_MAX_SELF = 2
"""How often a record may stand inside itself in one value."""


def values(type_: AvroType) -> list[Any]:
    """Values that name the branches of their unions."""
    return _values(type_, {})


def _values(type_: AvroType, open_: dict[str, int]) -> list[Any]:
    match type_:
        case Record():
            return _record_values(type_, open_)
        case Array(items=items):
            inner = _values(items, open_)
            return [inner, []] if inner else [[]]
        case Map(values=parts):
            inner = _values(parts, open_)
            return [{f"k{i}": value for i, value in enumerate(inner)}, {}] if inner else [{}]
        case Union(branches=branches):
            return [(_tag(branch), value) for branch in branches for value in _values(branch, open_)]
        case Enum(symbols=symbols):
            return list(symbols)
        case Fixed(size=size, logical=logical):
            return [bytes(size)] if logical else [b"x" * size]
        case Primitive(kind=kind, logical=logical):
            return _PLAIN[kind] if logical is None else _LOGICAL[logical.name]


def _record_values(record: Record, open_: dict[str, int]) -> list[Any]:
    """As many as the field with the most values has; none where the record would have to hold itself too often."""
    times = open_.get(record.name, 0)
    if times > _MAX_SELF:
        return []
    parts = {field.name: _values(field.type, {**open_, record.name: times + 1}) for field in record.fields}
    count = max((len(values) for values in parts.values()), default=1)
    if not all(parts.values()):
        return []
    return [{name: values[i % len(values)] for name, values in parts.items()} for i in range(count)]


def _tag(type_: AvroType) -> str:
    return type_.name if isinstance(type_, Named) else type_.kind


def bare(type_: AvroType, value: Any) -> Any:
    """The value without the names of branches, as most people write it."""
    match type_:
        case Record(fields=fields):
            return {field.name: bare(field.type, value[field.name]) for field in fields}
        case Array(items=items):
            return [bare(items, item) for item in value]
        case Map(values=parts):
            return {key: bare(parts, item) for key, item in value.items()}
        case Union(branches=branches):
            return bare(next(branch for branch in branches if _tag(branch) == value[0]), value[1])
    return value


def is_kept(written: Any, read: Any, symbols: frozenset[str]) -> bool:
    """Whether a value read by another schema is the one that was written.

    Numbers and texts may be promoted, fields may have been added or dropped, and a symbol may have become one of
    those that stand for unknown ones.
    """
    match written, read:
        case dict(), dict():
            return all(is_kept(written[key], read[key], symbols) for key in written.keys() & read.keys())
        case list(), list():
            return len(written) == len(read) and all(
                is_kept(*both, symbols) for both in zip(written, read, strict=True)
            )
        case str(), str():
            return written == read or read in symbols
        case str(), bytes():
            return written.encode() == read
        case bytes(), str():
            return written == read.encode()
        case int(), float():
            return math.isclose(written, read)
    return bool(written == read or (written != written and read != read))


def is_same(type_: AvroType, given: Any, read: Any) -> bool:
    """Whether a bare value came back, apart from what a float rounds and what a logical type makes of it."""
    match type_:
        case Record(fields=fields):
            return all(is_same(field.type, given[field.name], read[field.name]) for field in fields)
        case Array(items=items):
            return len(given) == len(read) and all(is_same(items, *both) for both in zip(given, read, strict=True))
        case Map(values=parts):
            return given.keys() == read.keys() and all(is_same(parts, given[key], read[key]) for key in given)
        case Union(branches=branches) if isinstance(given, float) and any(b.kind == "double" for b in branches):
            return bool(given == read)
        case Union(branches=branches):
            return any(_is_for(branch, given) and is_same(branch, given, read) for branch in branches)
        case Primitive(logical=logical) | Fixed(logical=logical) if logical is not None:
            return type(given) is not type(read) or bool(given == read)
        case Primitive(kind="float"):
            rounded: float = struct.unpack("<f", struct.pack("<f", given))[0]
            return bool(rounded == read)
    return bool(given == read)


def _is_for(branch: AvroType, value: Any) -> bool:
    """Whether a whole value, with every field, may be meant for a branch."""
    is_whole = not isinstance(branch, Record) or (isinstance(value, dict) and value.keys() == branch.by_name.keys())
    return is_whole and check_of(branch)(value)
