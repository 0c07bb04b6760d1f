"""Records of a Protobuf schema that try every edge of it, and the question whether a reader sees the same.

This is the measure for the rules: real bytes, written and parsed by the Protobuf runtime.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import Any

from google.protobuf.message import DecodeError
from google.protobuf.message import Message as Record

from tallystick.finding import Direction
from tallystick.formats.protobuf import ProtobufSchema
from tallystick.formats.protobuf.schema import Enum, Field, Message
from tallystick.formats.protobuf.types import Types
from tallystick.formats.protobuf.validate import extension_key, get

_INT32 = (0, 1, -1, 2, 2**31 - 1, -(2**31))
_INT64 = (*_INT32, 2**31, 2**63 - 1, -(2**63))
_UINT32 = (0, 1, 2, 2**31, 2**32 - 1)
_UINT64 = (*_UINT32, 2**63, 2**64 - 1)

_VALUES: dict[str, Sequence[Any]] = {
    **dict.fromkeys(("int32", "sint32", "sfixed32"), _INT32),
    **dict.fromkeys(("int64", "sint64", "sfixed64"), _INT64),
    **dict.fromkeys(("uint32", "fixed32"), _UINT32),
    **dict.fromkeys(("uint64", "fixed64"), _UINT64),
    **dict.fromkeys(("float", "double"), (0.0, 1.5, -2.0)),
    "bool": (False, True),
    "string": ("", "a", "é"),
    "bytes": (b"", b"a", b"\xff", b"\x08\x01"),
}
_DEPTH = 2


@dataclass(frozen=True)
class Writer:
    types: Types

    def records(self, name: str, depth: int = _DEPTH) -> Iterator[Record]:
        """Records with nothing, with each field at each of its edges, and with each two fields together."""
        message = self.types.message(name)
        yield self._record(message, {}, depth)
        candidates = {f.number: list(self._values(f, depth)) for f in message.fields.values()}
        for number, values in candidates.items():
            for value in values:
                yield self._record(message, {number: value}, depth)
        for one, other in combinations(candidates, 2):
            for value, other_value in product(candidates[one][:3], candidates[other][:3]):
                yield self._record(message, {one: value, other: other_value}, depth)
        yield self._record(message, {n: values[0] for n, values in candidates.items() if values}, depth)

    def _record(self, message: Message, values: dict[int, Any], depth: int) -> Record:
        record = self.types.record_class(message.full_name)()
        for f in message.fields.values():
            if f.is_required and f.number not in values:
                values = {f.number: next(iter(self._values(f, depth))), **values}
        for number, value in values.items():
            _put(record, message.fields[number], value)
        return record

    def _values(self, f: Field, depth: int) -> Iterator[Any]:
        """Values for a field, those that differ from the default first."""
        if f.entry is not None:
            yield from self._maps(*f.entry, depth)
        elif f.is_repeated:
            singles = list(self._singles(f, depth))
            for single in singles:
                yield [single]
            yield singles[:3]
            if singles:
                yield [singles[0], singles[0], singles[-1]]
        else:
            yield from self._singles(f, depth)

    def _maps(self, key: Field, value: Field, depth: int) -> Iterator[Any]:
        values = list(self._singles(value, depth))
        keys = list(self._singles(key, depth))
        for one in keys:
            yield {one: values[0]} if values else {}
        for single in values:
            yield {keys[0]: single}
        yield dict.fromkeys(keys[:2], values[0]) if values else {}

    def _singles(self, f: Field, depth: int) -> list[Any]:
        if f.is_message:
            return self._inner(f, depth)
        values = _enum_numbers(self.types.enum(f.type_full_name or "")) if f.kind == "enum" else _VALUES[f.kind]
        return sorted(values, key=lambda value: value == f.default)

    def _inner(self, f: Field, depth: int) -> list[Any]:
        if depth == 0:
            return [self.types.record_class(f.type_full_name or "")()] if not f.is_required else []
        records = [r for r in self.records(f.type_full_name or "", depth - 1) if r.IsInitialized()]
        return sorted(records, key=lambda record: record.ByteSize() == 0)[:25]


def _enum_numbers(enum: Enum) -> list[int]:
    return [*enum.names, *([] if enum.is_closed else [-1, 2**31 - 1, -(2**31)])]


def _put(record: Record, f: Field, value: Any) -> None:
    target: Any = get(record, f) if f.is_map or f.is_repeated or f.is_message else None
    if f.is_map:
        for key, item in value.items():
            if isinstance(item, Record):
                target[key].CopyFrom(item)
            else:
                target[key] = item
    elif f.is_repeated:
        for item in value:
            target.add().CopyFrom(item) if isinstance(item, Record) else target.append(item)
    elif f.is_message:
        target.SetInParent()
        target.CopyFrom(value)
    elif f.name.startswith("["):
        record.Extensions[extension_key(record, f)] = value
    else:
        setattr(record, f.name, value)


def witness(old: ProtobufSchema, new: ProtobufSchema, direction: Direction) -> str | None:
    """A record of the writer that the reader does not see as it was written, if one is found."""
    writer, reader = (old, new) if direction is Direction.BACKWARD else (new, old)
    for name in [writer.root] if writer.is_native and writer.root else writer.types.own:
        read_as = reader.types.absolute(writer.types.relative(name))
        if writer.is_native and reader.root:
            read_as = reader.root
        if not reader.types.has_message(read_as):
            if name in writer.types.records:
                return f"{name} is not known to the reader"
            continue
        found = _lost(writer.types, name, reader.types, read_as)
        if found is not None:
            return found
    return None


def _lost(writer: Types, name: str, reader: Types, read_as: str) -> str | None:
    comparison = _Comparison(writer, reader)
    for record in Writer(writer).records(name):
        if not record.IsInitialized():
            continue
        read = reader.record_class(read_as)()
        try:
            read.MergeFromString(record.SerializeToString())
        except DecodeError as e:
            return f"{name} {{{record}}}: {e}"
        if not read.IsInitialized():
            return f"{name} {{{record}}}: required fields are missing"
        if not comparison.same(record, read):
            return f"{name} {{{record}}} is read as {{{read}}}"
    return None


@dataclass(frozen=True)
class _Comparison:
    writer: Types
    reader: Types

    def same(self, written: Record, read: Record) -> bool:
        """Whether every field that both know, by number or by name, has an equal value."""
        one = self.writer.message(written.DESCRIPTOR.full_name)
        other = self.reader.message(read.DESCRIPTOR.full_name)
        pairs = [(f, other.fields[n]) for n, f in one.fields.items() if n in other.fields]
        pairs += [(f, other.by_name[name]) for name, f in one.by_name.items() if name in other.by_name]
        return all(self._same_field(written, f, read, g) for f, g in pairs)

    def _same_field(self, written: Record, f: Field, read: Record, g: Field) -> bool:
        if not f.is_repeated and not g.is_repeated:
            if f.is_message and g.is_message:
                is_set = _is_set(written, f)
                if not is_set or not _is_set(read, g):
                    # That it is there says something, even if it is empty.
                    return is_set == _is_set(read, g)
            return self._same_single(written, f, get(written, f), g, get(read, g))
        values, seen = _elements(self.writer, written, f), _elements(self.reader, read, g)
        # A map has no order: some order must do.
        orders = permutations(values) if f.is_map or g.is_map else [values]
        return len(values) == len(seen) and any(self._same_list(written, f, order, g, seen) for order in orders)

    def _same_list(self, written: Record, f: Field, values: Sequence[Any], g: Field, seen: list[Any]) -> bool:
        return all(
            self._same_single(written, f, one, g, other, is_set=True) for one, other in zip(values, seen, strict=True)
        )

    def _same_single(
        self, written: Record, f: Field, value: Any, g: Field, seen: Any, is_set: bool | None = None
    ) -> bool:
        if f.is_message and g.is_message:
            return self.same(value, seen)
        if f.kind == "message" and g.kind == "bytes":
            return _holds(seen, value)
        if _sort(f) != _sort(g):
            return not (_is_set(written, f) if is_set is None else is_set)
        if g.kind == "string" and isinstance(seen, bytes):  # how the runtime shows a text that is no UTF-8
            return False
        if f.kind == "enum" and g.kind == "enum":
            return bool(value == seen) and self._same_name(f, g, value)
        return bool(_bytes(value) == _bytes(seen)) or _are_nan(value, seen)

    def _same_name(self, f: Field, g: Field, number: int) -> bool:
        numbers = self.writer.enum(f.type_full_name or "").numbers
        known = self.reader.enum(g.type_full_name or "").numbers
        return all(known.get(name, number) == number for name, n in numbers.items() if n == number)


def _elements(types: Types, record: Record, f: Field) -> list[Any]:
    """The elements of a repeated field, the entries of a map, or the one value of a field that is set."""
    value = get(record, f)
    if not f.is_map:
        return list(value) if f.is_repeated else [value] if _is_set(record, f) else []
    entries = []
    for key in value:
        entry: Any = types.record_class(f.type_full_name or "")(key=key)
        if isinstance(value[key], Record):
            entry.value.CopyFrom(value[key])
        else:
            entry.value = value[key]
        entries.append(entry)
    return entries


def _holds(encoded: bytes, record: Record) -> bool:
    try:
        return bool(type(record).FromString(encoded) == record)
    except DecodeError:
        return False


def _sort(f: Field) -> str:
    if f.is_message:
        return f"message {f.type_name}"
    return "text" if f.kind in ("string", "bytes") else "number"


def _bytes(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


def _are_nan(one: Any, other: Any) -> bool:
    return isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other)


def _is_set(record: Record, f: Field) -> bool:
    return any(set_field.number == f.number for set_field, _ in record.ListFields())
