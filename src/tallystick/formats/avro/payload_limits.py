"""Payloads that would exhaust the reader: values nested without end, and long arrays that take no bytes.

Only types that allow one of the two are looked at, so ordinary records cost nothing here. What is looked at must be
understood as `fastavro` does, up to where it stops: else it would go on to what nobody has looked at.
"""

from functools import lru_cache

from tallystick.formats.avro.types import (
    Array,
    AvroType,
    Enum,
    Fixed,
    Map,
    Primitive,
    Record,
    Union,
    children,
    every_type,
)

MAX_VALUE_DEPTH = 500
MAX_EMPTY_ITEMS = 1_000_000
"""How many items without bytes (nulls, empty records) one payload may claim."""


def problem(root: AvroType, payload: bytes) -> str | None:
    """Why a payload is not safe to read. A payload that breaks off is left to the reader to refuse."""
    return _Measure(payload).run(root)


@lru_cache(maxsize=4096)
def needs_measuring(root: AvroType) -> bool:
    types = list(every_type(root))
    return any(
        (isinstance(t, Array) and _empty_size(t.items) > 0) or _empty_size(t) > MAX_EMPTY_ITEMS or holds_itself(t)
        for t in types
    )


def can_be_skipped_without_end(root: AvroType) -> bool:
    """Whether there is an array whose items `fastavro` skips without a look at whether the payload has them."""
    return any(isinstance(type_, Array) and _has_no_numbers(type_.items) for type_ in every_type(root))


def _has_no_numbers(type_: AvroType) -> bool:
    """Of no type that begins with a number: reading one fails where the payload ends."""
    match type_:
        case Primitive(kind=kind):
            return kind in ("null", "boolean", "float", "double")
        case Record(fields=fields):
            return not holds_itself(type_) and all(_has_no_numbers(field.type) for field in fields)
    return isinstance(type_, Fixed)


@lru_cache(maxsize=4096)
def holds_itself(type_: AvroType) -> bool:
    return isinstance(type_, Record) and any(type_ in every_type(child) for child in set(children(type_)))


@lru_cache(maxsize=4096)
def _empty_size(type_: AvroType) -> int:
    """How many values it takes to build one of this type out of no bytes at all; 0 where it takes bytes."""
    match type_:
        case Primitive(kind="null") | Fixed(size=0):
            return 1
        case Record(fields=fields) if not holds_itself(type_):
            sizes = [_empty_size(field.type) for field in fields]
            return 1 + sum(sizes) if all(sizes) else 0
    return 0


class _Ended(Exception):
    """The payload breaks off here."""


class _Malformed(Exception):
    """No writer writes this."""


class _Measure:
    """Walks a payload without building its values; the stack of open types is a list, so depth costs nothing."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self._at = 0
        self._empty_items = 0

    def run(self, root: AvroType) -> str | None:
        # Each entry is a type to read at a depth, or a block of items or entries that goes on.
        stack: list[tuple[AvroType, int, bool]] = [(root, 0, False)]
        try:
            while stack:
                type_, depth, is_inside = stack.pop()
                if depth > MAX_VALUE_DEPTH:
                    return f"the value is nested deeper than {MAX_VALUE_DEPTH} levels"
                self._step(type_, depth, is_inside, stack)
                if self._empty_items > MAX_EMPTY_ITEMS:
                    return f"the payload claims more than {MAX_EMPTY_ITEMS} items that take no bytes"
        except _Ended:
            return None
        except _Malformed as e:
            return str(e)
        return None

    def _step(self, type_: AvroType, depth: int, is_inside: bool, stack: list[tuple[AvroType, int, bool]]) -> None:
        match type_:
            case Record() if (size := _empty_size(type_)) > 0:
                self._empty_items += size
            case Record(fields=fields):
                stack.extend((field.type, depth + 1, False) for field in reversed(fields))
            case Union(branches=branches):
                index = self._long()
                if not 0 <= index < len(branches):
                    raise _Malformed(f"the payload has branch {index} of a union of {len(branches)}")
                stack.append((branches[index], depth, False))
            case Array(items=items):
                self._block(type_, items, depth, is_inside, stack)
            case Map(values=values):
                self._block(type_, values, depth, is_inside, stack)
            case Fixed(size=size):
                self._skip(size)
            case Enum():
                self._long()
            case Primitive(kind=kind):
                self._primitive(kind)

    def _block(
        self, type_: Array | Map, part: AvroType, depth: int, is_inside: bool, stack: list[tuple[AvroType, int, bool]]
    ) -> None:
        count = self._long()
        if count < 0:
            count = -count
            self._long()  # the block's size in bytes
        if count == 0:
            return
        if isinstance(type_, Array) and _empty_size(part) > 0:
            self._empty_items += count * _empty_size(part)
            stack.append((type_, depth, True))
            return
        if count > len(self._payload):
            raise _Malformed(f"the payload claims {count} items, more than it has bytes")
        stack.append((type_, depth, True))
        entry: list[tuple[AvroType, int, bool]] = [(part, depth + 1, False)]
        if isinstance(type_, Map):
            entry.append((_KEY, depth + 1, False))
        stack.extend(entry * count)

    def _primitive(self, kind: str) -> None:
        match kind:
            case "boolean":
                self._skip(1)
            case "int" | "long":
                self._long()
            case "float":
                self._skip(4)
            case "double":
                self._skip(8)
            case "bytes" | "string":
                self._skip(self._long())

    def _skip(self, count: int) -> None:
        if count < 0:
            raise _Malformed(f"the payload has a length of {count}")
        self._at += count
        if self._at > len(self._payload):
            raise _Ended

    def _long(self) -> int:
        value = shift = 0
        while True:
            if self._at >= len(self._payload):
                raise _Ended
            if shift > 63:
                raise _Malformed("the payload has a number of more than 64 bits")
            byte = self._payload[self._at]
            self._at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                value &= 0xFFFF_FFFF_FFFF_FFFF
                return (value >> 1) ^ -(value & 1)
            shift += 7


_KEY = Primitive("string")
