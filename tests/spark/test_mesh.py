"""A route through the mesh: half of the records are validated at each end, and nobody else notices."""

import json
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tallystick import AvroSchema, Client
from tallystick.spark.cluster import Cluster
from tallystick.spark.mesh.balance import Tally, Unbalanced, require_balance
from tallystick.spark.mesh.halves import Mode
from tallystick.spark.mesh.hops import Egress, Ingress, Way
from tallystick.spark.mesh.route import HopSettings, balanced, start_egress, start_ingress
from tallystick.spark.topics import read_topic
from tests.contracts.clusters import Served
from tests.e2e.topics import unused
from tests.spark.mixed import DOES_NOT_FIT, Filled, fill


class Trip:
    """A route on one cluster, with a folder for its checkpoints."""

    def __init__(self, spark: SparkSession, cluster: Cluster, place: Path, mode: Mode = Mode.SPLIT) -> None:
        self.spark, self.cluster, self.mode = spark, cluster, mode
        self.topic, self.internal = unused("in"), unused("mesh")
        self.out, self.quarantine = unused("out"), unused("bad")
        self.ingress = self._settings(place, "ingress")
        self.egress = self._settings(place, "egress")

    def _settings(self, place: Path, hop: str) -> HopSettings:
        return HopSettings(name=f"{self.topic}-{hop}", checkpoint=str(place / hop), max_records=17, available_now=True)

    def run(self, *ways: Way) -> tuple[Tally, Tally]:
        ingress = Ingress(self.cluster, self.internal, self.quarantine, self.mode)
        start_ingress(self.spark, self.cluster, self.topic, ingress, self.ingress).wait(120)
        chosen = ways or (Way(self.cluster, self.out),)
        egress = Egress(self.cluster, chosen, self.quarantine, self.mode)
        start_egress(self.spark, self.internal, egress, self.egress).wait(120)
        return balanced(self.spark, self.ingress, self.egress, self.mode)

    def read(self, topic: str) -> DataFrame:
        return read_topic(self.spark, self.cluster, topic)


def keys(frames: DataFrame) -> list[str]:
    return sorted(bytes(row.key).decode() for row in frames.select("key").collect())


@pytest.fixture
def cluster(served: Served) -> Cluster:
    return Cluster(served.pulsar, served.confluent)


def undecided(filled: Filled) -> set[str]:
    """What tells no known schema, and so cannot go through the mesh."""
    return {key for key, reason in filled.bad.items() if reason != DOES_NOT_FIT}


def expected(filled: Filled) -> list[str]:
    return sorted([*filled.good, *filled.deleted])


def test_each_record_is_validated_once_and_delivered_or_quarantined(
    spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    trip = Trip(spark, cluster, tmp_path)
    filled = fill(spark, cluster, trip.topic, 60, seed=3, bad=0.2)
    ingress, egress = trip.run()
    assert ingress.seen == filled.count
    assert ingress.validated + egress.validated == filled.count - len(filled.deleted)
    assert min(ingress.quarantined, egress.quarantined) > 0
    assert keys(trip.read(trip.out)) == expected(filled)
    assert keys(trip.read(trip.quarantine)) == sorted(filled.bad)

    is_even = "pmod(position.entry + greatest(position.batch_index, 0), 2) = 0"
    evens = keys(trip.read(trip.topic).where(is_even))
    undecidable = undecided(filled)
    assert ingress.validated == len([key for key in evens if key not in filled.deleted]) + len(undecidable - {*evens})

    reasons = trip.read(trip.quarantine).select("properties").collect()
    for row in reasons:
        told = row.properties
        assert json.loads(told["tally.finding"])["rule"] == told["tally.rule"]
        assert told["tally.hop"] in ("ingress", "egress")
        assert told["tally.position"]

    # Everything was read: a second run finds nothing, and counts nothing twice.
    assert trip.run() == (ingress, egress)
    assert keys(trip.read(trip.out)) == expected(filled)


def test_a_stock_consumer_sees_ordinary_messages(spark: SparkSession, cluster: Cluster, tmp_path: Path) -> None:
    trip = Trip(spark, cluster, tmp_path)
    filled = fill(spark, cluster, trip.topic, 30, seed=4, bad=0.1)
    trip.run()
    with Client(cluster.url) as client, client.consumer(trip.out, "s", start="earliest") as consumer:
        received = [consumer.receive(timeout_s=20) for _ in range(len(expected(filled)))]
    values = [message.value for message in received if message.value is not None]
    assert len(values) == len(filled.good)
    assert all({"id", "customer", "total"} <= value.keys() for value in values)


@pytest.mark.parametrize(
    ("mode", "at_ingress", "at_egress"),
    [(Mode.INGRESS, True, False), (Mode.EGRESS, False, True), (Mode.OFF, False, False), (Mode.BOTH, True, True)],
)
def test_a_mode_says_who_validates(
    spark: SparkSession, cluster: Cluster, tmp_path: Path, mode: Mode, at_ingress: bool, at_egress: bool
) -> None:
    trip = Trip(spark, cluster, tmp_path, mode)
    filled = fill(spark, cluster, trip.topic, 20, seed=6, bad=0.2)
    ingress, egress = trip.run()
    payloads, unknown = filled.count - len(filled.deleted), len(undecided(filled))
    assert ingress.validated == (payloads if at_ingress else unknown)
    assert egress.validated == (payloads - ingress.quarantined if at_egress else 0)
    assert ingress.quarantined + egress.quarantined == (len(filled.bad) if at_ingress or at_egress else unknown)


def test_records_go_to_whom_they_are_for(spark: SparkSession, cluster: Cluster, tmp_path: Path) -> None:
    trip = Trip(spark, cluster, tmp_path)
    order = AvroSchema({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]})
    with Client(cluster.url) as client, client.producer(trip.topic, order) as producer:
        for n in range(10):
            producer.send({"id": n}, key=str(n), properties={"region": "north" if n % 2 else "south"})
    north, south = unused("north"), unused("south")
    trip.run(
        Way(cluster, north, F.col("properties")["region"] == "north"),
        Way(cluster, south, F.col("properties")["region"] == "south"),
    )
    assert keys(trip.read(north)) == ["1", "3", "5", "7", "9"]
    assert keys(trip.read(south)) == ["0", "2", "4", "6", "8"]


def test_counts_that_do_not_add_up_are_an_error() -> None:
    good = Tally(seen=10, validated=5, passed_on=9, quarantined=1)
    require_balance(good, Tally(seen=9, validated=5, passed_on=9), validations=1)
    with pytest.raises(Unbalanced, match="left the ingress: 8 instead of 9"):
        require_balance(good, Tally(seen=8, validated=5, passed_on=8), validations=1)
    with pytest.raises(Unbalanced, match="validations: 9 instead of 10"):
        require_balance(good, Tally(seen=9, validated=4, passed_on=9), validations=1)
