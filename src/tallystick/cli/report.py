"""What a check found, ready to be shown in any output."""

from collections.abc import Iterable
from dataclasses import dataclass

from tallystick.cli.sources import SchemaFile
from tallystick.compat.change import Change
from tallystick.finding import Direction, Finding
from tallystick.model.strategy import Strategy


@dataclass(frozen=True, slots=True)
class Version:
    number: int
    file: SchemaFile

    def __str__(self) -> str:
        return f"version {self.number} ({self.file.name})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`compared` are the versions that the strategy looks at; `changes` are those since the last one given."""

    strategy: Strategy
    candidate: SchemaFile
    history: tuple[Version, ...]
    compared: tuple[Version, ...]
    findings: tuple[Finding, ...]
    changes: tuple[Change, ...]

    @property
    def fits(self) -> bool:
        return not self.findings

    def old_file(self, finding: Finding) -> SchemaFile | None:
        return next((version.file for version in self.history if version.number == finding.version), None)

    def in_words(self, numbers: Iterable[int | None]) -> str:
        """Versions by their numbers, and one alone by its file too."""
        wanted = set(numbers)
        alone = [str(version) for version in self.history if {version.number} == wanted]
        return alone[0] if alone else versions_in_words(wanted)


@dataclass(frozen=True, slots=True)
class Reason:
    """Findings that say the same of several versions, or of both directions."""

    findings: tuple[Finding, ...]

    @property
    def newest(self) -> Finding:
        return self.findings[-1]

    def sentences(self, report: Report) -> list[str]:
        """Whose reading breaks, one sentence a direction; none where it is no matter of reading."""
        directions = dict.fromkeys(f.direction for f in self.findings if f.direction is not None)
        return [
            sentence(direction, report.in_words(f.version for f in self.findings if f.direction is direction))
            for direction in directions
        ]


def reasons(findings: Iterable[Finding]) -> list[Reason]:
    """The findings with repetitions put together, in the order of the candidate's text."""
    same: dict[object, list[Finding]] = {}
    for f in findings:
        same.setdefault((f.rule, f.message, f.fix, f.new, f.was, f.now), []).append(f)
    found = [Reason(tuple(group)) for group in same.values()]
    return sorted(found, key=_position)


def _position(reason: Reason) -> tuple[int, int]:
    place = reason.newest.new
    return (0, 0) if place is None else (place.line or 0, place.column or 0)


def sentence(direction: Direction, old: str) -> str:
    match direction:
        case Direction.BACKWARD:
            return f"readers with the new schema cannot read records written with {old}"
        case Direction.FORWARD:
            return f"readers with {old} cannot read records written with the new schema"


def versions_in_words(numbers: Iterable[int | None]) -> str:
    """`version 2`, `versions 1–3 and 5`; `the old schema` where there is no number."""
    known = sorted({number for number in numbers if number is not None})
    if not known:
        return "the old schema"
    runs: list[list[int]] = []
    for number in known:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [part for run in runs for part in (map(str, run) if len(run) < 3 else [f"{run[0]}–{run[-1]}"])]
    listed = " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
    return f"version {listed}" if len(known) == 1 else f"versions {listed}"
