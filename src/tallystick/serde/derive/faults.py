"""Why no schema can be made from a class."""

from typing import NamedTuple

from tallystick.errors import InvalidSchema
from tallystick.finding import Place


class At(NamedTuple):
    """A class, or one of its fields."""

    cls: type
    field: str | None = None

    def underivable(self, reason: str, fix: str) -> InvalidSchema:
        steps = [self.cls.__name__] if self.field is None else [self.cls.__name__, self.field]
        message = f"no schema can be made from {'.'.join(steps)}: {reason}"
        return InvalidSchema(message, Place("".join(f"/{step}" for step in steps)), fix)
