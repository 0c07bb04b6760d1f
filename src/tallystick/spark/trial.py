"""trial: how many of some records a schema reads, which it does not, and why."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from tallystick.errors import InvalidRecord
from tallystick.finding import Finding, Place
from tallystick.model.position import KafkaPosition, Position, PulsarPosition
from tallystick.model.schema_type import PROTOBUF
from tallystick.serde.native import NativeSchema
from tallystick.spark import columns as c
from tallystick.spark.cluster import KAFKA, Cluster
from tallystick.spark.decoding.decode import DOES_NOT_FIT, decode
from tallystick.spark.decoding.schemas import Schemas, Told

MOST_EXAMPLES = 5
_TELLING = (c.TOPIC, c.SCHEMA_VERSION, c.SCHEMA_ID, c.SCHEMA_MARK)


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
    """The first of them, and some more."""


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


def trial(frames: DataFrame, cluster: Cluster, reader: NativeSchema[object]) -> Trial:
    """Reads every record by `reader`, in one pass. Frames that change meanwhile should have an end."""
    with Schemas(cluster) as schemas:
        groups = _groups(decode(frames, schemas, reader=reader))
        return _trial(groups, Explaining(schemas, reader))


def _groups(decoded: DataFrame) -> list[Row]:
    place = F.struct(c.TOPIC, c.PARTITION, *(f"{c.POSITION}.{name}" for name in c.POSITION_TYPE.names))
    # Groups within groups: each gives its first record, so that there is more than one example and no long list.
    part = F.pmod(F.col(f"{c.POSITION}.entry") + F.col(f"{c.POSITION}.batch_index"), F.lit(MOST_EXAMPLES))
    first = F.when(F.col(c.FINDING).isNotNull(), F.struct(c.FINDING, c.PAYLOAD, c.KEY))
    return (
        decoded.groupBy(
            *(F.col(name) for name in _TELLING),
            F.col(c.PAYLOAD).isNull().alias("is_tombstone"),
            F.col(f"{c.FINDING}.rule").alias("rule"),
            F.col(f"{c.FINDING}.path").alias("path"),
            F.when(F.col(c.FINDING).isNotNull(), part).alias("part"),
        )
        .agg(F.count(F.lit(1)).alias("count"), F.min(place).alias("first"), F.min_by(first, place).alias("record"))
        .collect()
    )


@dataclass(frozen=True, slots=True)
class Explaining:
    """Says of a record what our own codec says: the JVM only tells that it does not fit."""

    schemas: Schemas
    reader: NativeSchema[object]

    @property
    def is_kafka(self) -> bool:
        return self.schemas.cluster.kind == KAFKA

    def finding(self, row: Row) -> Finding:
        told = row["record"][c.FINDING]
        place = None if told["path"] is None else Place(told["path"])
        found = Finding(rule=told["rule"], message=told["message"], fix=told["fix"], new=place)
        if found.rule == DOES_NOT_FIT:
            found = self._by_codec(row) or found
        version = row[c.SCHEMA_VERSION]
        return found if version is None else found.against(version)

    def _by_codec(self, row: Row) -> Finding | None:
        mark = row[c.SCHEMA_MARK]
        told = Told(row[c.TOPIC], row[c.SCHEMA_ID], row[c.SCHEMA_VERSION], None if mark is None else bytes(mark))
        if told.schema_id is not None:
            # Filled in from the subject; the record told its id alone.
            told = replace(told, schema_version=None)
        writer = self.schemas.writer(told).schema
        record = row["record"]
        if writer is None or (self.schemas.cluster.is_framed and writer.definition.type == PROTOBUF):
            return None
        read = self.reader.reader_of(told.topic, writer.definition, None, writer.references)
        key = record[c.KEY]
        try:
            read(bytes(record[c.PAYLOAD]), None if key is None else bytes(key))
        except InvalidRecord as e:
            return e.findings[0] if e.findings else None
        return None


def _trial(rows: Sequence[Row], explaining: Explaining) -> Trial:
    written: dict[tuple[str, int | None, int | None], list[Row]] = {}
    misfits: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        schema = (row[c.TOPIC], row[c.SCHEMA_VERSION], row[c.SCHEMA_ID])
        if not row["is_tombstone"]:
            written.setdefault(schema, []).append(row)
        if row["rule"] is not None:
            misfits.setdefault((*schema, row["rule"], row["path"]), []).append(row)
    most_first = sorted(misfits.values(), key=lambda some: (-_count(some), min(row["first"] for row in some)))
    return Trial(
        records=_count(rows),
        tombstones=_count(row for row in rows if row["is_tombstone"]),
        written=tuple(_written(key, written[key]) for key in sorted(written, key=repr)),
        misfits=tuple(_misfit(some, explaining) for some in most_first),
    )


def _count(rows: Iterable[Row]) -> int:
    return sum(row["count"] for row in rows)


def _written(key: tuple[str, int | None, int | None], rows: list[Row]) -> Written:
    return Written(*key, records=_count(rows), unreadable=_count(row for row in rows if row["rule"] is not None))


def _misfit(rows: list[Row], explaining: Explaining) -> Misfit:
    ordered = sorted(rows, key=lambda row: row["first"])
    places = tuple(_place(row["first"], is_kafka=explaining.is_kafka) for row in ordered)
    return Misfit(explaining.finding(ordered[0]), _count(rows), places[:MOST_EXAMPLES])


def _place(row: Row, *, is_kafka: bool) -> RecordPlace:
    topic, partition, ledger, entry, batch_index = row
    position = KafkaPosition(partition, entry) if is_kafka else PulsarPosition(ledger, entry, partition, batch_index)
    return RecordPlace(topic, position)
