"""Change: one difference between two schemas."""

from dataclasses import dataclass
from enum import StrEnum

from tallystick.finding import Finding, Place
from tallystick.model.strategy import Strategy


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    WIDENED = "widened"
    """The new one holds every value of the old one, and more."""
    NARROWED = "narrowed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """`what` names the thing for people: "field `email` of record `shop.Order`"."""

    kind: ChangeKind
    what: str
    old: Place | None = None
    new: Place | None = None
    was: str | None = None
    now: str | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def breaks(self) -> tuple[Strategy, ...]:
        """The strategies that refuse this change."""
        broken = {finding.direction for finding in self.findings}
        return tuple(strategy for strategy in Strategy if strategy.directions & broken)

    def as_dict(self) -> dict[str, object]:
        fields: dict[str, object | None] = {
            "kind": str(self.kind),
            "what": self.what,
            "old": self.old and self.old.as_dict(),
            "new": self.new and self.new.as_dict(),
            "was": self.was,
            "now": self.now,
        }
        known: dict[str, object] = {name: value for name, value in fields.items() if value is not None}
        known["breaks"] = [str(strategy) for strategy in self.breaks]
        known["findings"] = [finding.as_dict() for finding in self.findings]
        return known
