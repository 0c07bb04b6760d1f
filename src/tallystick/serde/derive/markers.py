"""What a program adds to a type where Python's own types do not say enough: `Annotated[int, Avro("int")]`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Precision:
    """The digits of a `Decimal`, and how many of them stand after the point: `Annotated[Decimal, Precision(10, 2)]`."""

    digits: int
    scale: int = 0


@dataclass(frozen=True, slots=True)
class Avro:
    """The Avro type, exactly: `Avro("int")`, `Avro("timestamp-millis")`, `Avro({"type": "fixed", …})`.

    Values pass to Avro as they are.
    """

    type: str | Mapping[str, Any]

    def __hash__(self) -> int:
        return hash(self.type) if isinstance(self.type, str) else hash(tuple(sorted(map(repr, self.type.items()))))
