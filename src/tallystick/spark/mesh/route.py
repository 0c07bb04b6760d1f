"""A route as two queries: what its ingress writes to the internal topic, its egress reads from there."""

from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from tallystick.spark.checkpoint import Memory
from tallystick.spark.cluster import PULSAR, Cluster
from tallystick.spark.mesh.balance import Tally, require_balance, tally_of
from tallystick.spark.mesh.halves import Mode
from tallystick.spark.mesh.hops import MESH, Egress, Ingress, carried
from tallystick.spark.runner import Run, RunSettings
from tallystick.spark.topics import Topics, Where, ends, read_topic_stream

_VALIDATIONS = {Mode.BOTH: 2, Mode.OFF: 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class HopSettings:
    """How one end of a route runs."""

    name: str
    checkpoint: str
    starting: Where = "earliest"
    max_records: int | None = None
    every_s: float | None = None
    available_now: bool = False
    patience_s: float = 600.0

    def run(self) -> RunSettings:
        return RunSettings(
            name=self.name,
            checkpoint=self.checkpoint,
            every_s=self.every_s,
            available_now=self.available_now,
            patience_s=self.patience_s,
        )


def start_ingress(
    spark: SparkSession, cluster: Cluster, topics: Topics, ingress: Ingress, settings: HopSettings
) -> Run:
    """Starts the query that takes records in."""
    reading = _ending(cluster, topics, settings)
    stream = read_topic_stream(
        spark, cluster, topics, starting=settings.starting, max_records=settings.max_records, **reading
    )
    return Run(stream, cluster, ingress, settings.run(), at_end=ingress.close)


def start_egress(spark: SparkSession, topic: str, egress: Egress, settings: HopSettings) -> Run:
    """Starts the query that lets them out."""
    cluster = carried(egress.internal)
    reading = _ending(cluster, topic, settings)
    stream = read_topic_stream(
        spark,
        cluster,
        topic,
        starting=settings.starting,
        max_records=settings.max_records,
        framing=MESH,
        **reading,
    )
    return Run(stream, cluster, egress, settings.run(), at_end=egress.close)


def balanced(spark: SparkSession, ingress: HopSettings, egress: HopSettings, mode: Mode) -> tuple[Tally, Tally]:
    """What both ends have done, once all that came in has gone out. Raises `Unbalanced`."""
    tallies = tuple(tally_of(Memory(spark, hop.checkpoint, hop.name)) for hop in (ingress, egress))
    require_balance(tallies[0], tallies[1], validations=_VALIDATIONS.get(mode, 1))
    return tallies[0], tallies[1]


def _ending(cluster: Cluster, topics: Topics, settings: HopSettings) -> dict[str, Any]:
    if settings.available_now and cluster.kind == PULSAR:
        return {"ending": ends(cluster, topics)}
    return {}
