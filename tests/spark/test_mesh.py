"""A route through the mesh: half of the records are validated at each end, and nobody else notices."""

import json
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tallystick import AvroSchema, Client
from tallystick.spark.cluster import Cluster
from tallystick.spark.decoding.decode import decode
from tallystick.spark.mesh.balance import Tally, Unbalanced, require_balance
from tallystick.spark.mesh.halves import Mode
from tallystick.spark.mesh.hops import Egress, Ingress, Way
from tallystick.spark.mesh.route import HopSettings, balanced, start_egress, start_ingress
from tallystick.spark.topics import read_topic
from tests.contracts.clusters import CLUSTERS
from tests.contracts.clusters import Cluster as Running
from tests.spark.mixed import DOES_NOT_FIT, Filled, fill

IS_EVEN = "pmod(position.entry + greatest(position.batch_index, 0), 2) = 0"


class Trip:
    """A route from one cluster to another, with a folder for its checkpoints."""

    def __init__(
        self, spark: SparkSession, source: Running, target: Running, place: Path, mode: Mode = Mode.SPLIT
    ) -> None:
        self.spark, self.mode = spark, mode
        self.source, self.target = (Cluster(one.url, registry=one.registry) for one in (source, target))
        self.topic, self.internal, self.quarantine = (source.topic(name) for name in ("in", "mesh", "bad"))
        self.out = target.topic("out")
        self.ingress, self.egress = (
            HopSettings(
                name=f"{self.internal.rpartition('/')[2]}-{hop}",
                checkpoint=str(place / hop),
                max_records=37,
                available_now=True,
            )
            for hop in ("ingress", "egress")
        )

    def run(self, *ways: Way) -> tuple[Tally, Tally]:
        ingress = Ingress(self.source, self.internal, self.quarantine, self.mode)
        start_ingress(self.spark, self.source, self.topic, ingress, self.ingress).wait(120)
        egress = Egress(self.source, ways or (Way(self.target, self.out),), self.quarantine, self.mode)
        start_egress(self.spark, self.internal, egress, self.egress).wait(120)
        return balanced(self.spark, self.ingress, self.egress, self.mode)

    def quarantined(self) -> DataFrame:
        return read_topic(self.spark, self.source, self.quarantine)

    def delivered(self) -> DataFrame:
        return read_topic(self.spark, self.target, self.out)


def keys(frames: DataFrame) -> list[str]:
    return sorted(bytes(row.key).decode() for row in frames.select("key").collect())


@pytest.fixture
def embedded(request: pytest.FixtureRequest) -> Running:
    return CLUSTERS["embedded"](request)


def undecided(filled: Filled) -> set[str]:
    """What tells no known schema, and so cannot go through the mesh."""
    return {key for key, reason in filled.bad.items() if reason != DOES_NOT_FIT}


@pytest.mark.parametrize(("source", "target"), [("embedded", "embedded"), ("kafka", "kafka"), ("embedded", "pulsar")])
def test_each_record_is_validated_once_and_delivered_or_quarantined(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path, source: str, target: str
) -> None:
    trip = Trip(spark, CLUSTERS[source](request), CLUSTERS[target](request), tmp_path)
    filled = fill(spark, trip.source, trip.topic, 120, seed=3, bad=0.2)
    ingress, egress = trip.run()
    assert ingress.seen == filled.count
    assert ingress.validated + egress.validated == filled.count - len(filled.deleted)
    assert min(ingress.quarantined, egress.quarantined) > 0
    assert keys(trip.delivered()) == sorted([*filled.good, *filled.deleted])
    assert keys(trip.quarantined()) == sorted(filled.bad)

    evens = keys(read_topic(spark, trip.source, trip.topic).where(IS_EVEN))
    unknown = undecided(filled)
    assert ingress.validated == len([key for key in evens if key not in filled.deleted]) + len(unknown - {*evens})

    for row in trip.quarantined().select("properties").collect():
        told = row.properties
        assert json.loads(told["tally.finding"])["rule"] == told["tally.rule"]
        assert told["tally.hop"] in ("ingress", "egress")
        assert told["tally.position"]

    # Without status and frame: ordinary records with their schemas.
    decoded = decode(trip.delivered(), trip.target)
    assert decoded.where("finding is not null").count() == 0
    found = {bytes(row.key).decode(): row.value for row in decoded.where("payload is not null").collect()}
    assert {key: value.customer for key, value in found.items()} == {key: f"customer-{int(key)}" for key in filled.good}

    # Everything was read: a second run finds nothing, and counts nothing twice.
    assert trip.run() == (ingress, egress)
    assert keys(trip.delivered()) == sorted([*filled.good, *filled.deleted])


def test_a_stock_consumer_sees_ordinary_messages(spark: SparkSession, embedded: Running, tmp_path: Path) -> None:
    trip = Trip(spark, embedded, embedded, tmp_path)
    filled = fill(spark, trip.source, trip.topic, 30, seed=4, bad=0.1)
    trip.run()
    with Client(embedded.url) as client, client.consumer(trip.out, "s", start="earliest") as consumer:
        received = [consumer.receive(timeout_s=20) for _ in range(len(filled.good) + len(filled.deleted))]
    values = [message.value for message in received if message.value is not None]
    assert len(values) == len(filled.good)
    assert all({"id", "customer", "total"} <= value.keys() for value in values)


@pytest.mark.parametrize(
    ("mode", "at_ingress", "at_egress"),
    [(Mode.INGRESS, True, False), (Mode.EGRESS, False, True), (Mode.OFF, False, False), (Mode.BOTH, True, True)],
)
def test_a_mode_says_who_validates(
    spark: SparkSession, embedded: Running, tmp_path: Path, mode: Mode, at_ingress: bool, at_egress: bool
) -> None:
    trip = Trip(spark, embedded, embedded, tmp_path, mode)
    filled = fill(spark, trip.source, trip.topic, 20, seed=6, bad=0.2)
    ingress, egress = trip.run()
    payloads, unknown = filled.count - len(filled.deleted), len(undecided(filled))
    assert ingress.validated == (payloads if at_ingress else unknown)
    assert egress.validated == (payloads - ingress.quarantined if at_egress else 0)
    assert ingress.quarantined + egress.quarantined == (len(filled.bad) if at_ingress or at_egress else unknown)


def test_records_go_to_whom_they_are_for(spark: SparkSession, embedded: Running, tmp_path: Path) -> None:
    trip = Trip(spark, embedded, embedded, tmp_path)
    order = AvroSchema({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]})
    with Client(embedded.url) as client, client.producer(trip.topic, order) as producer:
        for n in range(10):
            producer.send({"id": n}, key=str(n), properties={"region": "north" if n % 2 else "south"})
    north, south = embedded.topic("north"), embedded.topic("south")
    region = F.col("properties")["region"]
    trip.run(Way(trip.target, north, region == "north"), Way(trip.target, south, region == "south"))
    assert keys(read_topic(spark, trip.target, north)) == ["1", "3", "5", "7", "9"]
    assert keys(read_topic(spark, trip.target, south)) == ["0", "2", "4", "6", "8"]


def test_counts_that_do_not_add_up_are_an_error() -> None:
    good = Tally(seen=10, validated=5, passed_on=9, quarantined=1)
    require_balance(good, Tally(seen=9, validated=5, passed_on=9), validations=1)
    with pytest.raises(Unbalanced, match="left the ingress: 8 instead of 9"):
        require_balance(good, Tally(seen=8, validated=5, passed_on=8), validations=1)
    with pytest.raises(Unbalanced, match="validations: 9 instead of 10"):
        require_balance(good, Tally(seen=9, validated=4, passed_on=9), validations=1)
