"""Avro types as values.

Equal types are one object wherever they occur ("interned"), so that comparing two versions of a wide record costs
one identity test for each field that did not change. Nothing depends on it but speed: two objects may still be
equal types.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tallystick.formats.format import Schema


class Logical(NamedTuple):
    """A logical type with valid parameters; an invalid one is ignored, as the specification asks."""

    name: str
    precision: int | None = None
    scale: int | None = None

    def __str__(self) -> str:
        return self.name if self.precision is None else f"{self.name}({self.precision}, {self.scale})"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Primitive:
    kind: str
    logical: Logical | None = None


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Array:
    items: "AvroType"
    kind: str = field(default="array", init=False)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Map:
    values: "AvroType"
    kind: str = field(default="map", init=False)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Union:
    branches: tuple["AvroType", ...]
    kind: str = field(default="union", init=False)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Fixed:
    name: str
    aliases: tuple[str, ...]
    doc: str | None
    size: int
    logical: Logical | None = None
    kind: str = field(default="fixed", init=False)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Enum:
    name: str
    aliases: tuple[str, ...]
    doc: str | None
    symbols: tuple[str, ...]
    default: str | None
    kind: str = field(default="enum", init=False)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Field:
    """`default` is JSON text, None where there is no default (`"null"` is the default null)."""

    name: str
    type: "AvroType"
    default: str | None
    aliases: tuple[str, ...]
    doc: str | None
    order: str


@dataclass(slots=True, eq=False, weakref_slot=True)
class Record:
    """The fields are filled in once, after the record's own name is known to them: a record may hold itself."""

    name: str
    aliases: tuple[str, ...]
    doc: str | None
    fields: tuple[Field, ...] = field(default=(), repr=False)
    by_name: dict[str, Field] = field(default_factory=dict, repr=False)
    by_alias: dict[str, Field] = field(default_factory=dict, repr=False)
    index: dict[str, int] = field(default_factory=dict, repr=False)
    kind: str = field(default="record", init=False)

    def fill(self, fields: tuple[Field, ...]) -> None:
        self.fields = fields
        self.by_name = {f.name: f for f in fields}
        self.by_alias = {alias: f for f in fields for alias in f.aliases}
        self.index = {f.name: i for i, f in enumerate(fields)}


Named = Fixed | Enum | Record
AvroType = Primitive | Array | Map | Union | Named


@dataclass(frozen=True, slots=True, eq=False)
class AvroSchema(Schema):
    root: AvroType
    referenced: tuple[tuple[str, str], ...] = ()
    """Texts of the schemas that were referred to, with the name of the reference."""


def unqualified(name: str) -> str:
    return name.rpartition(".")[2]


def enumerated(texts: Sequence[str]) -> str:
    """The texts joined by commas, as many as people read."""
    shown = list(texts) if len(texts) <= 12 else [*texts[:10], f"… ({len(texts)} in all)"]
    return ", ".join(shown)


def describe(type_: AvroType) -> str:
    """A type in a few words: "array of record shop.Line"."""
    match type_:
        case Array(items=items):
            return f"array of {describe(items)}"
        case Map(values=values):
            return f"map of {describe(values)}"
        case Union(branches=branches):
            return f"union of {enumerated([_outline(branch) for branch in branches])}" if branches else "empty union"
    return _outline(type_)


def _outline(type_: AvroType) -> str:
    match type_:
        case Record() | Enum():
            return f"{type_.kind} {type_.name}"
        case Fixed():
            return f"fixed {type_.name} of {type_.size} bytes" + (f" ({type_.logical})" if type_.logical else "")
        case Primitive(logical=logical) if logical is not None:
            return f"{logical} on {type_.kind}"
    return type_.kind


def children(type_: AvroType) -> Iterator[AvroType]:
    match type_:
        case Array():
            yield type_.items
        case Map():
            yield type_.values
        case Union():
            yield from type_.branches
        case Record():
            yield from (f.type for f in type_.fields)


def every_type(root: AvroType) -> Iterator[AvroType]:
    """Every type that a value of this type may hold, each once."""
    seen = {id(root)}
    stack = [root]
    while stack:
        type_ = stack.pop()
        yield type_
        for child in children(type_):
            if id(child) not in seen:
                seen.add(id(child))
                stack.append(child)
