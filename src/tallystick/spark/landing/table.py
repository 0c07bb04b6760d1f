"""Tables: where rows land."""

from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from tallystick.errors import InvalidArgument

_QUARANTINE = "_quarantine"


class TableFormat(StrEnum):
    PARQUET = "parquet"
    DELTA = "delta"
    ICEBERG = "iceberg"


@dataclass(frozen=True, slots=True)
class Table:
    """A table by its format and place: a folder for Parquet, a folder or a name for Delta, a name for Iceberg.

    It is made by the first batch that lands. `partition_by` names columns of the table and counts when it is made.
    """

    format: TableFormat | str
    place: str
    partition_by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "format", TableFormat(self.format))
        except ValueError as e:
            known = ", ".join(TableFormat)
            raise InvalidArgument("format", f"{str(self.format)[:60]!r} is none; use one of {known}") from e
        object.__setattr__(self, "partition_by", tuple(self.partition_by))
        object.__setattr__(self, "place", self._whole(str(self.place)))

    def _whole(self, place: str) -> str:
        """Workers have folders of their own: what is relative means the driver's."""
        if not place.strip() or "`" in place:
            raise InvalidArgument("table", f"{place[:60]!r} names no table")
        if self.is_folder(place) and "://" not in place:
            return str(Path(place).absolute())
        return place.rstrip("/")

    def is_folder(self, place: str | None = None) -> bool:
        named = self.place if place is None else place
        return self.format is TableFormat.PARQUET or (self.format is TableFormat.DELTA and "/" in named)

    @property
    def quarantine(self) -> "Table":
        """The table beside it for what does not fit."""
        return replace(self, place=self.place + _QUARANTINE, partition_by=())

    @property
    def sql_name(self) -> str:
        if self.is_folder():
            return f"{self.format}.`{self.place}`"
        return ".".join(f"`{part}`" for part in self.place.split("."))
