"""What a schema says of its values, before any format has a word: every format is read into it and written from it.

A field that may lack a value is optional, which is Avro's union with null and the default null, Protobuf's presence,
and a property that JSON Schema does not require. `Nullable` is a null that is written out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final


class _NoDefault:
    def __repr__(self) -> str:
        return "no default"


NO_DEFAULT: Final = _NoDefault()


class Kind(StrEnum):
    NULL = "null"
    BOOLEAN = "boolean"
    INT32 = "int32"
    INT64 = "int64"
    UINT32 = "uint32"
    UINT64 = "uint64"
    FLOAT = "float"
    DOUBLE = "double"
    STRING = "string"
    BYTES = "bytes"
    DECIMAL = "decimal"
    UUID = "uuid"
    DATE = "date"
    TIME = "time"
    """A time of day."""
    TIMESTAMP = "timestamp"
    """A point in time."""
    LOCAL_TIMESTAMP = "local timestamp"
    """A day and a time of day without a zone."""


INTEGERS: Final = {
    Kind.INT32: range(-(2**31), 2**31),
    Kind.INT64: range(-(2**63), 2**63),
    Kind.UINT32: range(2**32),
    Kind.UINT64: range(2**64),
}
FLOAT_MAX: Final = float.fromhex("0x1.fffffep+127")


@dataclass(frozen=True, slots=True)
class Scalar:
    kind: Kind
    digits: int | None = None
    """Of the fraction of a second: 3, 6 or 9."""
    precision: int | None = None
    """Of a decimal; None where it may have any number of digits."""
    scale: int | None = None
    size: int | None = None
    """Of bytes, or of the bytes that hold a decimal or a UUID, where their number is fixed."""
    name: str | None = None
    """Of a fixed size."""


@dataclass(frozen=True, slots=True)
class Symbols:
    name: str
    symbols: tuple[str, ...]
    default: str | None = None
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class Items:
    item: "Shape"


@dataclass(frozen=True, slots=True)
class Entries:
    value: "Shape"
    key: Kind = Kind.STRING


@dataclass(frozen=True, slots=True)
class Nullable:
    inner: "Shape"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several. `members` are the fields that hold the branches where the format has a field for each."""

    branches: tuple["Shape", ...]
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    shape: "Shape"
    is_optional: bool = False
    """Whether a record may do without it."""
    default: Any = NO_DEFAULT
    """As the codec of the format gives it."""
    doc: str | None = None


@dataclass(slots=True, eq=False)
class Record:
    """The fields are filled in once they are known: a record may hold itself."""

    name: str
    doc: str | None = None
    is_wrapper: bool = False
    """Whether it only holds a value, in its one field, where the format allows nothing but records."""
    fields: tuple[Field, ...] = field(default=(), repr=False)


Shape = Scalar | Symbols | Items | Entries | Nullable | Choice | Record


def describe(shape: Shape) -> str:
    """A shape in a few words: "list of record shop.Line"."""
    match shape:
        case Scalar():
            return _scalar(shape)
        case Symbols(name=name):
            return f"enum {name}"
        case Items(item=item):
            return f"list of {describe(item)}"
        case Entries(value=value, key=key):
            return f"map of {describe(value)}" + (f" by {key}" if key is not Kind.STRING else "")
        case Nullable(inner=inner):
            return f"{describe(inner)} or null"
        case Choice(branches=branches):
            return "one of " + ", ".join(describe(branch) for branch in branches)
        case Record(name=name):
            return f"record {name}"


def _scalar(scalar: Scalar) -> str:
    said = str(scalar.kind)
    if scalar.precision is not None:
        said += f"({scalar.precision}, {scalar.scale})"
    if scalar.digits is not None:
        said += {3: " in milliseconds", 6: " in microseconds", 9: " in nanoseconds"}[scalar.digits]
    return said + (f" of {scalar.size} bytes" if scalar.size is not None else "")


def every_shape(root: Shape) -> Iterator[Shape]:
    """Every shape in a shape, each record once, the outer ones first."""
    seen: set[int] = set()
    waiting = [root]
    for shape in waiting:
        if isinstance(shape, Record):
            if id(shape) in seen:
                continue
            seen.add(id(shape))
        yield shape
        match shape:
            case Items(item=inner) | Entries(value=inner) | Nullable(inner=inner):
                waiting.append(inner)
            case Choice(branches=branches):
                waiting.extend(branches)
            case Record(fields=fields):
                waiting.extend(field.shape for field in fields)


def type_names(root: Shape) -> set[str]:
    """The full names of all records, enums and fixed sizes in a shape."""
    named = (shape.name for shape in every_shape(root) if isinstance(shape, Record | Symbols | Scalar))
    return {name for name in named if name is not None}
