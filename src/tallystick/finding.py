"""Finding: the one object that explains why something does not fit.

The REST error, the CLI line, the CI annotation, the red line of a diff and the header of a quarantined
record are all made from it.
"""

from dataclasses import dataclass, replace
from enum import StrEnum


class Direction(StrEnum):
    """Which of the two readings is broken."""

    BACKWARD = "BACKWARD"
    """The new schema cannot read what was written with the old one."""
    FORWARD = "FORWARD"
    """The old schema cannot read what is written with the new one."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a schema or a value: its path, and the line and column where the text has them (from 1)."""

    path: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        at = "" if self.line is None else f" (line {self.line}, column {self.column})"
        return f"{self.path or '/'}{at}"

    def as_dict(self) -> dict[str, object]:
        fields = {"path": self.path, "line": self.line, "column": self.column}
        return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One reason why something does not fit, with what is needed to mend it.

    `rule` is the stable id of the rule or check, `message` one sentence for people. `old` and `new` are the
    places in the two schemas; for a value that does not fit its schema, `old` is the place in the schema and
    `new` the place in the value. `was` and `now` quote what stands there. `version` is the version that was
    compared with, `direction` the reading that breaks; both are None where there is no such thing.
    """

    rule: str
    message: str
    fix: str
    old: Place | None = None
    new: Place | None = None
    was: str | None = None
    now: str | None = None
    version: int | None = None
    direction: Direction | None = None

    def against(self, version: int) -> "Finding":
        return replace(self, version=version)

    def as_dict(self) -> dict[str, object]:
        """The finding as plain values for JSON and YAML, without what is not known."""
        fields = {
            "rule": self.rule,
            "message": self.message,
            "fix": self.fix,
            "direction": self.direction and str(self.direction),
            "version": self.version,
            "old": self.old and self.old.as_dict(),
            "new": self.new and self.new.as_dict(),
            "was": self.was,
            "now": self.now,
        }
        return {name: value for name, value in fields.items() if value is not None}
