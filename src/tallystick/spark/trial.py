"""trial: how many of some records a schema reads, which it does not, and why."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from tallystick.finding import Finding, Place
from tallystick.model.position import KafkaPosition, Position, PulsarPosition
from tallystick.spark import columns as c
from tallystick.spark.cluster import KAFKA, Cluster
from tallystick.spark.decoding.decode import decode
from tallystick.spark.decoding.explaining import explained
from tallystick.spark.decoding.schemas import Reader, Schemas

MOST_EXAMPLES = 5
_WRITTEN = (c.TOPIC, c.SCHEMA_VERSION, c.SCHEMA_ID)


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """Where a record stands; the position is one that the client takes, too."""

    topic: str
    position: Position

    def __str__(self) -> str:
        return f"{self.topic} {self.position}"


@dataclass(frozen=True, slots=True)
class Misfit:
    """Records that do not fit for the same reason, all of one schema."""

    finding: Finding
    """Of the first of them."""
    count: int
    examples: tuple[RecordPlace, ...]
    """The first of them, and some more; of each partition where there are several."""


@dataclass(frozen=True, slots=True)
class Written:
    """Records of a topic that were written with one schema."""

    topic: str
    version: int | None
    schema_id: int | None
    records: int
    unreadable: int


@dataclass(frozen=True, slots=True)
class Trial:
    records: int
    tombstones: int
    written: tuple[Written, ...]
    misfits: tuple[Misfit, ...]
    """Those of most records first."""

    @property
    def unreadable(self) -> int:
        return sum(misfit.count for misfit in self.misfits)

    @property
    def read(self) -> int:
        return self.records - self.unreadable


def trial(frames: DataFrame, cluster: Cluster, reader: Reader) -> Trial:
    """Reads every record by `reader`, and once more those that do not fit, to know why. Frames should have an end."""
    with Schemas(cluster) as schemas:
        decoded = decode(frames, schemas, reader=reader).drop(c.VALUE)
        counts = _counts(decoded)
        bad = _reasons(explained(decoded.where(F.col(c.FINDING).isNotNull()), schemas, reader=reader), counts)
    return _trial(counts, bad, is_kafka=cluster.kind == KAFKA)


def _counts(decoded: DataFrame) -> list[Row]:
    groups = decoded.groupBy(*_WRITTEN, F.col(c.PAYLOAD).isNull().alias("is_tombstone"))
    return groups.agg(F.count(F.lit(1)).alias("count"), F.count(c.FINDING).alias("bad")).collect()


def _reasons(bad: DataFrame, counts: Sequence[Row]) -> list[Row]:
    """One row for each reason and some of its records."""
    if not any(row["bad"] for row in counts):
        return []
    place = F.struct(c.TOPIC, c.PARTITION, *(f"{c.POSITION}.{name}" for name in c.POSITION_TYPE.names))
    # Groups within groups: each gives its first record, so that there is more than one example and no long list.
    part = F.pmod(F.col(f"{c.POSITION}.entry") + F.col(f"{c.POSITION}.batch_index"), F.lit(MOST_EXAMPLES))
    groups = bad.groupBy(*_WRITTEN, f"{c.FINDING}.rule", f"{c.FINDING}.path", part.alias("part"))
    first = (F.min(place).alias("first"), F.min_by(c.FINDING, place).alias(c.FINDING))
    return groups.agg(F.count(F.lit(1)).alias("count"), *first).collect()


def _trial(counts: Sequence[Row], bad: Sequence[Row], *, is_kafka: bool) -> Trial:
    reasons: dict[tuple[object, ...], list[Row]] = {}
    for row in bad:
        same = (*(row[name] for name in _WRITTEN), row["rule"], row["path"])
        reasons.setdefault(same, []).append(row)
    most_first = sorted(reasons.values(), key=lambda some: (-_count(some), min(row["first"] for row in some)))
    written = (
        Written(row[c.TOPIC], row[c.SCHEMA_VERSION], row[c.SCHEMA_ID], row["count"], row["bad"])
        for row in counts
        if not row["is_tombstone"]
    )
    return Trial(
        records=_count(counts),
        tombstones=_count(row for row in counts if row["is_tombstone"]),
        written=tuple(sorted(written, key=repr)),
        misfits=tuple(_misfit(some, is_kafka=is_kafka) for some in most_first),
    )


def _count(rows: Iterable[Row]) -> int:
    return sum(row["count"] for row in rows)


def _misfit(rows: list[Row], *, is_kafka: bool) -> Misfit:
    ordered = sorted(rows, key=lambda row: row["first"])
    told = ordered[0][c.FINDING]
    finding = Finding(
        rule=told["rule"],
        message=told["message"],
        fix=told["fix"],
        new=None if told["path"] is None else Place(told["path"]),
        version=ordered[0][c.SCHEMA_VERSION],
    )
    return Misfit(finding, _count(rows), tuple(_place(row["first"], is_kafka=is_kafka) for row in ordered))


def _place(row: Row, *, is_kafka: bool) -> RecordPlace:
    topic, partition, ledger, entry, batch_index = row
    position = KafkaPosition(partition, entry) if is_kafka else PulsarPosition(ledger, entry, partition, batch_index)
    return RecordPlace(topic, position)
