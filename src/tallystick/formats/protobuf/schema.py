"""What a Protobuf schema consists of, with all features of its syntax or edition resolved.

Types are named, not nested in each other, so that messages may contain each other in circles.
"""

from dataclasses import dataclass, field
from typing import Any

DescriptorPath = tuple[int, ...]
"""Field numbers and indexes that lead from a file's descriptor to an element, as `SourceCodeInfo` has them."""

Ranges = tuple[tuple[int, int], ...]
"""Ranges of numbers; the end does not belong to its range."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message, or an extension of it. Where an element stands in the text does not count for `==`."""

    name: str
    """Within the message; an extension's name stands in brackets, without the package of the file."""
    number: int
    kind: str
    """The name of the scalar, or "enum", "message" or "group"."""
    type_name: str | None
    """The enum or message, without the package of the file."""
    is_repeated: bool
    is_required: bool
    entry: "tuple[Field, Field] | None"
    """The key and the value of a map's entries; None for all other fields."""
    has_presence: bool
    oneof: str | None
    default: Any
    """What a reader sees where nothing was written; None for messages and repeated fields."""
    full_name: str = field(compare=False)
    type_full_name: str | None = field(compare=False)
    path: DescriptorPath | None = field(compare=False)

    @property
    def is_map(self) -> bool:
        return self.entry is not None

    @property
    def is_message(self) -> bool:
        return self.kind in ("message", "group")


@dataclass(frozen=True, slots=True)
class Message:
    full_name: str = field(compare=False)
    path: DescriptorPath | None = field(compare=False)
    fields: dict[int, Field]
    by_name: dict[str, Field] = field(compare=False)
    typed: tuple[int, ...] = field(compare=False)
    """The numbers of the fields that are enums or messages."""
    oneofs: dict[str, tuple[int, ...]]
    oneof_paths: dict[str, DescriptorPath | None] = field(compare=False)
    reserved: Ranges


@dataclass(frozen=True, slots=True)
class Enum:
    full_name: str = field(compare=False)
    path: DescriptorPath | None = field(compare=False)
    is_closed: bool
    """Whether a reader drops numbers that the enum does not name."""
    numbers: dict[str, int]
    names: dict[int, str]
    """The first name of each number."""
    reserved: Ranges
