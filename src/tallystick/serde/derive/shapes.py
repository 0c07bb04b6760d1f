"""What Python's types say of values, before any format has a word: schemas and conversions are made from it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from uuid import UUID

from tallystick.serde.derive.markers import Avro, Precision


class _NoDefault:
    def __repr__(self) -> str:
        return "no default"


NO_DEFAULT: Final = _NoDefault()

SCALARS: Final[frozenset[Any]] = frozenset({bool, int, float, str, bytes, datetime, date, time, Decimal, UUID})


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value without parts. `type` is one of Python's own, or anything where a marker says what it is in Avro."""

    type: Any
    avro: Avro | None = None
    precision: Precision | None = None


@dataclass(frozen=True, slots=True)
class Literals:
    """One of some values of one type."""

    type: type
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Symbols:
    type: type[Enum]


@dataclass(frozen=True, slots=True)
class Items:
    item: "Shape"
    make: type
    """list, tuple, set or frozenset: what is read."""
    takes: tuple[type, ...]
    """What can be written."""


@dataclass(frozen=True, slots=True)
class Entries:
    """A dict with texts as its keys."""

    values: "Shape"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several, or None where it is optional."""

    branches: tuple["Shape", ...]
    is_optional: bool


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    name: str
    """The attribute."""
    key: str
    """What records call it: the alias of pydantic's fields, else the attribute."""
    shape: "Shape"
    default: Any = NO_DEFAULT
    doc: str | None = None

    @property
    def is_optional(self) -> bool:
        return isinstance(self.shape, Choice) and self.shape.is_optional

    @property
    def is_required(self) -> bool:
        return self.default is NO_DEFAULT and not self.is_optional


@dataclass(slots=True, eq=False)
class Record:
    """The fields are filled in once they are known: a class may hold itself."""

    type: type
    doc: str | None = None
    fields: tuple[Field, ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(field.key for field in self.fields)


Shape = Scalar | Literals | Symbols | Items | Entries | Choice | Record


def takes(shape: Shape, value: object) -> bool:
    """Whether a value is meant for a shape, by its type alone."""
    match shape:
        case Scalar(type=kind):
            # Other types have a marker, and what that says is Avro's to judge.
            return kind not in SCALARS or _is_scalar(kind, value)
        case Literals(values=values):
            return value in values
        case Symbols() | Record():
            return isinstance(value, shape.type)
        case Items():
            return isinstance(value, shape.takes)
        case Entries():
            return isinstance(value, dict)
        case Choice(branches=branches, is_optional=is_optional):
            return (value is None and is_optional) or any(takes(branch, value) for branch in branches)


def _is_scalar(kind: Any, value: object) -> bool:
    if kind is float:
        return type(value) in (float, int)
    # A bool is no int here, and a datetime no date, whatever Python says.
    return isinstance(value, kind) and (type(value) not in (bool, datetime) or type(value) is kind)


def records_in(shapes: tuple[Shape, ...]) -> Iterator[Record]:
    return (shape for shape in shapes if isinstance(shape, Record))
