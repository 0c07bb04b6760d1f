"""Which values survive when one type writes and another reads.

Types of one family share an encoding in which equal values have equal bytes, so a reader keeps exactly the values
that its own type has. Families do not mix, with one exception: a message is read by a bytes field as its encoding.
"""

from enum import Enum

from tallystick.formats.protobuf.schema import Field
from tallystick.formats.protobuf.types import Types


class Survival(Enum):
    ALL = "all values survive"
    SOME = "the reader's type does not have all values of the writer's"
    NONE = "the bytes mean something else to the reader, or nothing at all"


_FAMILIES = {
    "varint": ("int32", "int64", "uint32", "uint64", "bool", "enum"),
    "zigzag": ("sint32", "sint64"),
    "four bytes": ("fixed32", "sfixed32"),
    "eight bytes": ("fixed64", "sfixed64"),
    "text": ("string", "bytes"),
}
_FAMILY = {kind: family for family, kinds in _FAMILIES.items() for kind in kinds}

_RANGES = {
    **dict.fromkeys(("int32", "sint32", "sfixed32", "enum"), (-(2**31), 2**31 - 1)),
    **dict.fromkeys(("int64", "sint64", "sfixed64"), (-(2**63), 2**63 - 1)),
    **dict.fromkeys(("uint32", "fixed32"), (0, 2**32 - 1)),
    **dict.fromkeys(("uint64", "fixed64"), (0, 2**64 - 1)),
    "bool": (0, 1),
}


def survival(written: Field, writer: Types, read: Field, reader: Types) -> Survival:
    """What survives of single values; two enums, and two messages, are compared on their own."""
    if written.kind == read.kind:
        return Survival.NONE if read.is_map and not _is_like_entry(written, writer) else Survival.ALL
    if written.is_message or read.is_message:
        return _of_message(written, read)
    family = _FAMILY.get(written.kind)
    if family is None or family != _FAMILY.get(read.kind):
        return Survival.NONE
    if family == "text":
        return Survival.ALL if read.kind == "bytes" else Survival.SOME
    return Survival.ALL if _keeps_numbers(written, writer, read, reader) else Survival.SOME


def _of_message(written: Field, read: Field) -> Survival:
    if (written.kind, read.kind) == ("message", "bytes"):
        return Survival.ALL
    return Survival.SOME if (written.kind, read.kind) == ("bytes", "message") else Survival.NONE


def _is_like_entry(written: Field, writer: Types) -> bool:
    """Whether a message has only what the entry of a map has; with anything more, a map skips it."""
    return written.is_map or set(writer.message(written.type_full_name or "").fields) <= {1, 2}


def _keeps_numbers(written: Field, writer: Types, read: Field, reader: Types) -> bool:
    few = _few_numbers(written, writer)
    named = _named_numbers(read, reader)
    if named is not None:
        return few is not None and few <= named
    low, high = _RANGES[read.kind]
    return all(low <= number <= high for number in few or _RANGES[written.kind])


def _few_numbers(field: Field, types: Types) -> frozenset[int] | None:
    return frozenset((0, 1)) if field.kind == "bool" else _named_numbers(field, types)


def _named_numbers(field: Field, types: Types) -> frozenset[int] | None:
    """The numbers of a closed enum; an open one holds any int32."""
    if field.kind != "enum" or field.type_full_name is None:
        return None
    enum = types.enum(field.type_full_name)
    return frozenset(enum.names) if enum.is_closed else None
