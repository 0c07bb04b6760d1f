"""The findings of one translation, collected on the way."""

from dataclasses import dataclass, field

from tallystick.finding import Finding, Place
from tallystick.formats.json_source import Path, pointer
from tallystick.translate.rule import CATALOGUE, Rule, Severity

EACH = "*"
"""The step of a path into the items of a list or the values of a map."""


@dataclass(slots=True)
class Losses:
    findings: list[Finding] = field(default_factory=list)

    def add(self, rule: Rule, path: Path, was: str, now: str | None = None) -> None:
        """Enters what a value at a path was and what it becomes; now is None where it becomes nothing."""
        place = Place(pointer(path))
        became = "" if now is None else f", now {now}"
        finding = Finding(
            rule=rule.id,
            message=f"`{place}` (was {was}{became}): {rule.sentence}",
            fix=rule.fix,
            old=place,
            was=was,
            now=now,
        )
        if finding not in self.findings:
            self.findings.append(finding)

    @property
    def is_possible(self) -> bool:
        return all(CATALOGUE[finding.rule].severity is Severity.LOSSY for finding in self.findings)
