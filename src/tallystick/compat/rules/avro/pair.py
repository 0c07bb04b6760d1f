"""Two Avro types that stand for each other, and the findings about them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tallystick.compat.rule import BACKWARD, Rule
from tallystick.finding import Direction, Finding
from tallystick.formats.avro import places
from tallystick.formats.avro.places import Spot
from tallystick.formats.avro.types import AvroSchema, AvroType, describe

RESOLUTION = "Avro 1.12 specification, Schema Resolution"
ALIASES = "Avro 1.12 specification, Aliases"
LOGICAL = "Avro 1.12 specification, Logical Types"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two types that stand for each other, and where they are used. `reader` is of the new schema if BACKWARD."""

    old_schema: AvroSchema
    new_schema: AvroSchema
    direction: Direction
    reader: Any
    writer: Any
    reader_spot: Spot
    writer_spot: Spot
    what: str
    """What they are the types of, in words."""

    def inner(self, reader: AvroType, writer: AvroType, reader_spot: Spot, writer_spot: Spot, what: str) -> "Pair":
        return Pair(self.old_schema, self.new_schema, self.direction, reader, writer, reader_spot, writer_spot, what)

    def part(self, key: str) -> "Pair":
        """The items of two arrays or the values of two maps."""
        reader, writer = getattr(self.reader, key), getattr(self.writer, key)
        what = f"the {key} of {self.what}"
        return self.inner(reader, writer, self.reader_spot.step(key), self.writer_spot.step(key), what)

    @property
    def old(self) -> Any:
        return self.writer if self.direction is BACKWARD else self.reader

    @property
    def new(self) -> Any:
        return self.reader if self.direction is BACKWARD else self.writer

    def finding(
        self,
        violated: Rule,
        message: str,
        fix: str,
        *,
        reader: Spot | None = None,
        writer: Spot | None = None,
        was: str | None = None,
        now: str | None = None,
    ) -> Finding:
        spots = (reader or self.reader_spot, writer or self.writer_spot)
        new, old = spots if self.direction is BACKWARD else spots[::-1]
        return violated.finding(
            self.direction,
            message,
            fix,
            old=places.place(self.old_schema, old),
            new=places.place(self.new_schema, new),
            was=was,
            now=now,
        )


def type_finding(pair: Pair, violated: Rule, reason: str, fix: str) -> Iterator[Finding]:
    was, now = describe(pair.old), describe(pair.new)
    verbs = ("were", "are") if pair.what.startswith(("the items", "the values")) else ("was", "is")
    message = f"{pair.what} {verbs[0]} {was} and {verbs[1]} {now} now, {reason}"
    yield pair.finding(violated, message, fix, was=was, now=now)
