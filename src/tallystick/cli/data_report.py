"""What a check against data found, ready to be shown in any output."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tallystick.cli.sources import SchemaFile

if TYPE_CHECKING:
    from tallystick.spark.trial import Misfit, Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class DataReport:
    """`data` is the topic or table as the user named it."""

    candidate: SchemaFile
    data: str
    trial: "Trial"

    @property
    def fits(self) -> bool:
        return not self.trial.unreadable

    @property
    def verdict(self) -> str:
        name, trial = self.candidate.name, self.trial
        if not trial.records:
            return f"{self.data} has no records that {name} could be tried on"
        if self.fits:
            return f"{name} reads all {counted(trial.records, 'record')} of {self.data}"
        return f"{name} does not read {trial.unreadable:,} of {counted(trial.records, 'record')} of {self.data}"


def counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def occurrences(misfit: "Misfit") -> str:
    """`3 records, such as orders 1:0:-1:0, orders 1:4:-1:0`"""
    listed = ", ".join(map(str, misfit.examples))
    more = "such as " if misfit.count > len(misfit.examples) else ""
    return f"{counted(misfit.count, 'record')}: {more}{listed}"


def written_in_words(trial: "Trial") -> list[str]:
    """Of each schema that the records have, how many are read: `orders version 2: 5 of 7 records`."""
    lines = []
    for written in trial.written:
        known = f"version {written.version}" if written.version is not None else f"schema id {written.schema_id}"
        if written.version is None and written.schema_id is None:
            known = "without a schema"
        read = written.records - written.unreadable
        lines.append(f"{written.topic} {known}: {read:,} of {counted(written.records, 'record')} read")
    if trial.tombstones:
        lines.append(f"{counted(trial.tombstones, 'tombstone')}, which every schema reads")
    return lines
