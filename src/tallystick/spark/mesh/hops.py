"""The two hops of a route, for one micro-batch each: in with a status, out without it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from tallystick.messaging.settings import Framing
from tallystick.spark.cluster import KAFKA, Cluster
from tallystick.spark.columns import FINDING, FRAMES, PAYLOAD, STATUS
from tallystick.spark.decoding.decode import told_by
from tallystick.spark.decoding.schemas import Schemas
from tallystick.spark.decoding.telling import Telling
from tallystick.spark.landing.counts import Counts
from tallystick.spark.mesh.balance import Tally, told_to
from tallystick.spark.mesh.halves import Mode, at_egress, at_ingress
from tallystick.spark.mesh.quarantine_topic import as_quarantined
from tallystick.spark.mesh.stamps import restamped
from tallystick.spark.runner import MicroBatch
from tallystick.spark.topics import write_topic
from tallystick.spark.validation import OWN, validate

MESH = "mesh"


@dataclass(frozen=True, slots=True)
class Way:
    """Out of the mesh: a topic, and which records go there."""

    cluster: Cluster
    topic: str
    when: Column | None = None
    """None: all."""


@dataclass(frozen=True, slots=True)
class Writing:
    """How a hop writes: the name of its query makes what is written twice the same."""

    delivery: str | None = None
    """Of Kafka."""

    def to(self, frames: DataFrame, cluster: Cluster, topic: str, batch: MicroBatch, framing: str | None) -> None:
        more: dict[str, Any] = {"delivery": self.delivery} if self.delivery and cluster.kind == KAFKA else {}
        named = f"{batch.query}.{topic.rpartition('/')[2]}"
        write_topic(frames, cluster, topic, producer=named, batch_id=batch.id, framing=framing, **more)


def carried(cluster: Cluster) -> Cluster:
    """The same cluster, whose records carry ids before their payloads: so it is on a route's internal topic."""
    return replace(cluster, framing=Framing.PAYLOAD)


@dataclass(slots=True)
class Ingress:
    """Steps 4 and 5 of the mesh: validates its half, and puts status and schema id before each payload.

    A record that tells no known schema has no id to be put there, so it goes into quarantine here, whatever the mode.
    """

    internal: Cluster
    topic: str
    quarantine: str
    mode: Mode = Mode.SPLIT
    writing: Writing = Writing()
    _target: Schemas = field(init=False)

    def __post_init__(self) -> None:
        self._target = Schemas(carried(self.internal))

    def close(self) -> None:
        self._target.close()

    def __call__(self, frames: DataFrame, batch: MicroBatch) -> Counts:
        told = told_by(frames)
        known = [one for one in told if batch.schemas.writer(one).schema is not None]
        mask = at_ingress(self.mode) | ~Telling(told).is_one_of(known)
        checked = validate(frames, batch.schemas, mask=mask, reader=OWN, told=told)
        counted, tally_of_it = _watched(checked, mask, self.internal)
        good = restamped(_good(counted), told, batch.schemas, self._target, self.topic)
        fitting = good.withColumn(STATUS, at_ingress(self.mode).cast("int"))
        self.writing.to(fitting, self.internal, self.topic, batch, MESH)
        tally = tally_of_it()
        if tally.quarantined:
            self.writing.to(as_quarantined(checked, batch, "ingress"), self.internal, self.quarantine, batch, None)
        return told_to(batch.memory, batch.id, tally)


@dataclass(slots=True)
class Egress:
    """Steps 6 and 7: validates what nobody has, takes the status off, and delivers to whoever a record is for.

    A record may go to several ways, or to none.
    """

    internal: Cluster
    ways: Sequence[Way]
    quarantine: str
    mode: Mode = Mode.SPLIT
    writing: Writing = Writing()
    _targets: list[Schemas] = field(init=False)

    def __post_init__(self) -> None:
        self._targets = [Schemas(way.cluster) for way in self.ways]

    def close(self) -> None:
        for target in self._targets:
            target.close()

    def __call__(self, frames: DataFrame, batch: MicroBatch) -> Counts:
        told = told_by(frames)
        mask = at_egress(self.mode)
        checked = validate(frames, batch.schemas, mask=mask, reader=OWN, told=told)
        # Each way reads all records; the first one counts them.
        counted, tally_of_it = _watched(checked, mask, self.ways[0].cluster)
        for number, (way, target) in enumerate(zip(self.ways, self._targets, strict=True)):
            rows = _good(counted if number == 0 else checked)
            chosen = rows if way.when is None else rows.where(way.when)
            delivered = restamped(chosen, told, batch.schemas, target, way.topic)
            self.writing.to(delivered.withColumn(STATUS, F.lit(None).cast("int")), way.cluster, way.topic, batch, None)
        tally = tally_of_it()
        if tally.quarantined:
            self.writing.to(as_quarantined(checked, batch, "egress"), self.internal, self.quarantine, batch, None)
        return told_to(batch.memory, batch.id, tally)


def _good(rows: DataFrame) -> DataFrame:
    return rows.where(F.col(FINDING).isNull()).select(*FRAMES.names)


def _counts(mask: Column) -> list[Column]:
    is_bad, is_deleted = F.col(FINDING).isNotNull(), F.col(PAYLOAD).isNull()
    return [
        F.count(F.lit(1)).alias("seen"),
        F.count_if(mask & ~is_deleted).alias("validated"),
        F.count_if(~is_bad).alias("passed_on"),
        F.count_if(is_bad).alias("quarantined"),
        F.count_if(is_deleted & ~is_bad).alias("tombstones"),
    ]


def _watched(checked: DataFrame, mask: Column, cluster: Cluster) -> tuple[DataFrame, Callable[[], Tally]]:
    """The rows, and what they came to, to be asked for after they were written to a cluster."""
    if cluster.kind == KAFKA:
        # Spark's sink for Kafka runs a plan of its own, which no observation sees: it would be waited for for ever.
        (row,) = checked.agg(*_counts(mask)).collect()
        return checked, lambda: Tally(**row.asDict())
    watch = Observation()
    return checked.observe(watch, *_counts(mask)), lambda: Tally(**watch.get)
