"""Readers: statements that read from a place in the payload on, and leave it at the end of what they read.

A record is read as another where every field is equal, new or gone. What else schema resolution has to decide is left
to the general reader, and so are types whose payloads must be measured first.
"""

import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from fastavro.read import LOGICAL_READERS

from tallystick.formats.avro import payload_limits
from tallystick.formats.avro.compiled.source import Misfit, Source, indented, is_large
from tallystick.formats.avro.compiled.varints import rest_of_length, rest_of_varint
from tallystick.formats.avro.defaults import Defaults
from tallystick.formats.avro.general import unshared
from tallystick.formats.avro.prepared import as_json, prepared
from tallystick.formats.avro.types import (
    Array,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Union,
    every_type,
    unqualified,
)

_OBJECTS = {
    "rest_of_varint": rest_of_varint,
    "rest_of_length": rest_of_length,
    "float_at": struct.Struct("<f").unpack_from,
    "double_at": struct.Struct("<d").unpack_from,
    "unshared": unshared,
    "epoch": datetime(1970, 1, 1, tzinfo=UTC),
    "millisecond": timedelta(milliseconds=1),
    "microsecond": timedelta(microseconds=1),
}
_BITS = """\
n = payload[at]
at += 1
if n > 127: n, at = rest_of_varint(payload, at, n)
"""
_LENGTH = """\
n = payload[at]
at += 1
if n & 129: n, at = rest_of_length(payload, at, n)
"""
_NUMBER = _BITS + "{0} = n >> 1 ^ -(n & 1)"
_BYTES = _LENGTH + "{0} = payload[at : (at := at + (n >> 1))]"
_PLAIN = {
    "null": "{0} = None",
    "boolean": "{0} = payload[at] != 0\nat += 1",
    "int": _NUMBER,
    "long": _NUMBER,
    "float": "({0},) = float_at(payload, at)\nat += 4",
    "double": "({0},) = double_at(payload, at)\nat += 8",
    "bytes": _BYTES,
    "string": _BYTES + ".decode()",
}
"""Bytes that break off are shorter than they should be; that the place is behind the end then is seen at the end."""
_QUICKER = {
    "timestamp-millis": "{0} = epoch + millisecond * {0}",
    "timestamp-micros": "{0} = epoch + microsecond * {0}",
}
"""What `fastavro` has for these, in half the time."""
_MAX_BRANCHES = 64
"""As many as one byte tells apart."""


def reader_of(root: AvroType, target: AvroType) -> Callable[[bytes], Any] | None:
    """A reader of what was written as one type, which makes of it a value of the other; None where there is none."""
    if payload_limits.needs_measuring(root) or is_large(root):
        return None
    if target is not root and prepared(target) == prepared(root):
        target = root
    source = Source(_OBJECTS)
    try:
        return source.compiled(source.function("root", "payload", _Readers(source).whole(root, target)))
    except Misfit:
        return None


class _Readers:
    def __init__(self, source: Source) -> None:
        self._source = source

    def whole(self, root: AvroType, target: AvroType) -> Iterator[str]:
        yield "at = 0"
        yield from self._value(root, "value", target)
        yield "if at != len(payload): misfit()"
        yield "return value"

    def _value(self, type_: AvroType, into: str, target: AvroType | None = None) -> Iterator[str]:
        """Statements that put a value into a variable."""
        match type_:
            case Record():
                yield f"{into}, at = {self._record_function(type_, type_ if target is None else target)}(payload, at)"
            case _ if target is not None and target is not type_:
                raise Misfit
            case Primitive(kind=kind):
                yield _PLAIN[kind].format(into)
                yield from self._converted(type_, into)
            case Fixed(size=size):
                # Seen at once, as an array may claim any number of them.
                yield f"{into} = payload[at : (at := at + {size})]"
                yield "if at > len(payload): misfit()"
                yield from self._converted(type_, into)
            case Enum(symbols=symbols):
                by_bits = self._source.name_of({2 * number: symbol for number, symbol in enumerate(symbols)})
                yield f"{_BITS}{into} = {by_bits}[n]"
            case Union(branches=branches):
                yield from self._union(branches, into)
            case Array() | Map():
                function = self._source.function(id(type_), "payload, at", self._blocks(type_))
                yield f"{into}, at = {function}(payload, at)"

    def _converted(self, type_: Primitive | Fixed, into: str) -> Iterator[str]:
        """To the Python type of the logical type."""
        name = "" if type_.logical is None else type_.logical.name
        convert = LOGICAL_READERS.get(f"{type_.kind}-{name}")
        if name in _QUICKER:
            yield _QUICKER[name].format(into)
        elif convert is not None:
            yield f"{into} = {self._source.name_of(convert)}({into}, {self._source.name_of(as_json(type_, {}))})"

    def _union(self, branches: tuple[AvroType, ...], into: str) -> Iterator[str]:
        if not 0 < len(branches) <= _MAX_BRANCHES:
            raise Misfit
        yield "n = payload[at]"
        yield "at += 1"
        for number, branch in enumerate(branches):
            yield f"{'elif' if number else 'if'} n == {2 * number}:"
            yield indented(self._value(branch, into))
        yield "else: misfit()"

    def _blocks(self, type_: Array | Map) -> Iterator[str]:
        yield f"items = {'[]' if isinstance(type_, Array) else '{}'}"
        yield "while payload[at]:"
        # A count below zero, which few writers make, is one more number to read: the general reader does.
        yield indented([_LENGTH + "for _ in range(n >> 1):", indented(self._entry(type_))])
        yield "return items, at + 1"

    def _entry(self, type_: Array | Map) -> Iterator[str]:
        if isinstance(type_, Array):
            yield from self._value(type_.items, "item")
            yield "items.append(item)"
        else:
            yield _PLAIN["string"].format("key")
            yield from self._value(type_.values, "items[key]")

    def _record_function(self, record: Record, target: AvroType) -> str:
        if not isinstance(target, Record) or unqualified(target.name) != unqualified(record.name):
            raise Misfit
        return self._source.function((id(record), id(target)), "payload, at", self._record(record, target))

    def _record(self, record: Record, target: Record) -> Iterator[str]:
        entries = []
        for number, field in enumerate(record.fields):
            wanted = target.by_name.get(field.name)
            if record is not target and _takes_a_decision(field, target):
                raise Misfit
            yield from self._value(field.type, f"field_{number}", None if wanted is None else wanted.type)
            if wanted is not None:
                entries.append(f"{field.name!r}: field_{number}")
        new = [field for field in target.fields if field.name not in record.by_name]
        entries += [f"{field.name!r}: {self._default(field)}" for field in new]
        yield f"return {{{', '.join(entries)}}}, at"

    def _default(self, field: Field) -> str:
        if field.default is None:
            raise Misfit
        value = Defaults().value_of(field)
        name = self._source.name_of(value)
        return f"unshared({name})" if isinstance(value, list | dict) else name


def _takes_a_decision(field: Field, target: Record) -> bool:
    """Whether it is an alias that says where the field goes, or a union's branches that say how it is read."""
    if field.name not in target.by_name:
        return field.name in target.by_alias
    unions = (type_ for type_ in every_type(field.type) if isinstance(type_, Union))
    return any(sum(branch.kind != "null" for branch in union.branches) > 1 for union in unions)
