"""Two schemas side by side, seen from the one that reads."""

from dataclasses import dataclass
from typing import TypeVar

from tallystick.compat.rule import BACKWARD
from tallystick.finding import Direction, Place
from tallystick.formats.protobuf.schema import Field, Message
from tallystick.formats.protobuf.types import Types

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sides:
    """The types of the old and the new schema, and which of the two reads."""

    old: Types
    new: Types
    direction: Direction

    @property
    def writer(self) -> Types:
        return self.old if self.direction is BACKWARD else self.new

    @property
    def reader(self) -> Types:
        return self.new if self.direction is BACKWARD else self.old

    def written_and_read(self, old: T, new: T) -> tuple[T, T]:
        return (old, new) if self.direction is BACKWARD else (new, old)

    def places(self, old: Field | Message, new: Field | Message) -> dict[str, Place]:
        return {"old": self.old.place(old.full_name, old.path), "new": self.new.place(new.full_name, new.path)}


def type_phrase(field: Field) -> str:
    """A field's type as its text has it."""
    if field.entry is not None:
        return f"map<{', '.join(map(type_phrase, field.entry))}>"
    if field.type_name is None:
        return field.kind
    return f"group {field.type_name}" if field.kind == "group" else field.type_name
