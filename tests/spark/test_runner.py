"""Streams through the runner: topics of the embedded broker, whose schemas change while the query runs."""

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import Producer
from pyspark.sql import DataFrame, SparkSession

from tallystick import BYTES, AvroSchema, Client, RegistryClient
from tallystick.errors import IncompatibleSchema, InvalidArgument, TimedOut, Unavailable
from tallystick.model.pipeline import Outcomes, PipelineState
from tallystick.spark.cluster import Cluster
from tallystick.spark.decoded_batches import for_each_decoded_batch
from tallystick.spark.landing.stream import land_stream
from tallystick.spark.landing.table import Table
from tallystick.spark.quarantine import opened, quarantined
from tallystick.spark.readers import ReaderChanged
from tallystick.spark.runner import Run
from tallystick.spark.topics import read_topic_stream
from tests.contracts.clusters import Served
from tests.contracts.orders import FIRST, ID, NOTE, SECOND, THIRD, avro
from tests.integration.servers import serving, start, wait_until
from tests.kafka.driving import make_topic
from tests.kafka.server import Kafka
from tests.ports import free_port

WAIT_S = 90.0


@pytest.fixture
def topic() -> str:
    return f"t-{secrets.token_hex(4)}"


@pytest.fixture
def cluster(served: Served) -> Cluster:
    return Cluster(served.pulsar, served.http)


@pytest.fixture
def client(served: Served) -> Iterator[Client]:
    with Client(served.pulsar) as opened_client:
        yield opened_client


def send(client: Client, topic: str, schema: dict[str, Any], *numbers: int) -> None:
    with client.producer(topic, AvroSchema(schema)) as producer:
        for number in numbers:
            value: dict[str, Any] = {"id": number, "item": f"item {number}", "note": "new", "price": 2.5}
            producer.send({field["name"]: value[field["name"]] for field in schema["fields"]}, key=f"k{number}")


@contextmanager
def running(run: Run) -> Iterator[Run]:
    try:
        yield run
    finally:
        run.stop(30)


def landed(spark: SparkSession, table: Table) -> dict[int, Any]:
    rows = opened(spark, table).where("not tally_is_deleted").collect()
    assert len({row.id for row in rows}) == len(rows)
    return {row.id: row for row in rows}


def test_a_topic_lands_whatever_is_in_it(
    spark: SparkSession, cluster: Cluster, client: Client, topic: str, tmp_path: Path
) -> None:
    send(client, topic, FIRST, 1, 2)
    send(client, topic, SECOND, 3)
    with client.producer(topic, BYTES) as producer:
        producer.send(b"no order at all")
    with client.producer(topic, AvroSchema(SECOND)) as deleting:
        deleting.send(None, key="k1")
    table = Table("parquet", str(tmp_path / "orders"))

    def run() -> Run:
        place = str(tmp_path / "checkpoint")
        return land_stream(
            spark, cluster, topic, table, checkpoint=place, name=topic, available_now=True, max_records=2
        )

    status = run().wait(WAIT_S)
    assert (status.state, status.records) == (PipelineState.FINISHED, Outcomes(3, 1, 1))
    assert status.by_schema[f"{topic} v1"] == Outcomes(good=2)
    assert sorted(landed(spark, table)) == [1, 2, 3]
    (bad,) = quarantined(spark, table).collect()
    assert (bytes(bad.payload), bad.finding.rule) == (b"no order at all", "RECORD_SCHEMA_UNTOLD")
    with RegistryClient(str(cluster.registry)) as registry:
        told = registry.pipeline(topic).status
    assert (told.state, told.records, told.by_schema) == (status.state, status.records, status.by_schema)
    metrics = httpx.get(f"{cluster.registry}/metrics").text
    assert f'tallystick_pipeline_records_total{{outcome="good",pipeline="{topic}",schema="{topic} v1"}} 2.0' in metrics
    send(client, topic, SECOND, 4)
    assert run().wait(WAIT_S).records == Outcomes(good=1)
    assert sorted(landed(spark, table)) == [1, 2, 3, 4]


def test_a_topic_of_kafka_lands_as_one_of_pulsar(
    spark: SparkSession, served: Served, kafka: Kafka, tmp_path: Path
) -> None:
    cluster = Cluster(f"kafka://{kafka.servers}", served.confluent)
    topic = make_topic(kafka.servers, 2)
    with Client(cluster.url, registry=cluster.registry) as client:
        send(client, topic, FIRST, 1, 2, 3)
        send(client, topic, SECOND, 4)
        with client.producer(topic, AvroSchema(SECOND)) as deleting:
            deleting.send(None, key="k1")
    broken = Producer({"bootstrap.servers": kafka.servers})
    broken.produce(topic, b"no order at all")
    broken.flush(WAIT_S)
    table = Table("parquet", str(tmp_path / "orders"))
    run = land_stream(
        spark, cluster, topic, table, checkpoint=str(tmp_path / "c"), name=topic, reader=1, available_now=True
    )
    status = run.wait(WAIT_S)
    assert (status.state, status.records, status.lag) == (PipelineState.FINISHED, Outcomes(4, 1, 1), 0)
    assert status.by_schema[f"{topic} v2"] == Outcomes(good=1)
    rows = landed(spark, table)
    assert (sorted(rows), "note" in opened(spark, table).columns) == ([1, 2, 3, 4], False)
    assert {row.tally_schema_version for row in rows.values()} == {1, 2}


@pytest.mark.parametrize("evolve", ["never", "additive"])
def test_new_versions_come_while_the_query_runs(
    spark: SparkSession, cluster: Cluster, client: Client, topic: str, tmp_path: Path, evolve: str
) -> None:
    send(client, topic, FIRST, 1)
    table = Table("parquet", str(tmp_path / "orders"))
    run = land_stream(spark, cluster, topic, table, checkpoint=str(tmp_path / "c"), name=topic, evolve=evolve)
    with running(run):
        wait_until(lambda: run.status.records.good == 1, WAIT_S)
        send(client, topic, THIRD, 2)
        wait_until(lambda: run.status.records.good == 2, WAIT_S)
        assert run.query.isActive
    assert run.status.state is PipelineState.STOPPED
    rows = landed(spark, table)
    if evolve == "never":
        assert opened(spark, table).columns[:2] == ["id", "item"]
        assert not {"note", "price"} & set(opened(spark, table).columns)
    else:
        assert [(row.note, row.price) for row in (rows[1], rows[2])] == [(None, None), ("new", 2.5)]
    # What was taken first is what counts after a restart, too.
    again = land_stream(
        spark, cluster, topic, table, checkpoint=str(tmp_path / "c"), name=topic, evolve="never", available_now=True
    )
    send(client, topic, FIRST, 3)
    again.wait(WAIT_S)
    assert ("note" in opened(spark, table).columns) is (evolve == "additive")


def test_a_new_version_may_stop_the_pipeline(
    spark: SparkSession, cluster: Cluster, client: Client, topic: str, tmp_path: Path
) -> None:
    send(client, topic, FIRST, 1)
    table = Table("parquet", str(tmp_path / "orders"))

    def started(available_now: bool = False) -> Run:
        place = str(tmp_path / "c")
        return land_stream(
            spark, cluster, topic, table, checkpoint=place, name=topic, evolve="restart", available_now=available_now
        )

    with running(started()) as run:
        wait_until(lambda: run.status.records.good == 1, WAIT_S)
        send(client, topic, SECOND, 2)
        with pytest.raises(ReaderChanged, match="start the pipeline again"):
            run.wait(WAIT_S)
    assert run.status.state is PipelineState.BLOCKED
    assert sorted(landed(spark, table)) == [1]
    assert started(available_now=True).wait(WAIT_S).records == Outcomes(good=1)
    assert landed(spark, table)[2].note == "new"


def test_a_version_that_takes_something_away_is_passed_over(
    spark: SparkSession, cluster: Cluster, client: Client, served: Served, topic: str, tmp_path: Path
) -> None:
    path = f"{served.http}/admin/v2/namespaces/public/{topic}"
    httpx.put(path).raise_for_status()
    httpx.put(f"{path}/schemaCompatibilityStrategy", json="BACKWARD").raise_for_status()
    name = f"public/{topic}/t"
    seen: list[list[str]] = []

    def handle(rows: DataFrame, batch_id: int) -> None:
        seen.append(rows.schema["value"].dataType.fieldNames())  # type: ignore[attr-defined]
        rows.collect()

    send(client, name, SECOND, 1)
    stream = read_topic_stream(spark, cluster, name)
    run = for_each_decoded_batch(stream, cluster, handle, checkpoint=str(tmp_path / "c"), name=topic, evolve="additive")
    with running(run):
        wait_until(lambda: len(seen) == 1, WAIT_S)
        send(client, name, avro(ID, NOTE), 2)
        wait_until(lambda: len(seen) == 2, WAIT_S)
    assert seen == [["id", "item", "note"]] * 2


def test_a_registry_that_is_away_is_waited_for(spark: SparkSession, served: Served, topic: str, tmp_path: Path) -> None:
    ports = (free_port(), free_port())
    first = start(tmp_path / "data", "--no-broker", ports=ports)
    cluster = Cluster(served.pulsar, first.url, framing="payload")  # type: ignore[arg-type]
    with Client(served.pulsar, registry=first.url, framing="payload") as client:
        send(client, topic, FIRST, 1, 2)
    table = Table("parquet", str(tmp_path / "orders"))
    first.stop()
    first.close()
    run = land_stream(spark, cluster, topic, table, checkpoint=str(tmp_path / "c"), name=topic)
    with running(run):
        wait_until(lambda: run.status.state is PipelineState.WAITING, WAIT_S)
        assert "cannot be reached" in str(run.status.message)
        second = start(tmp_path / "data", "--no-broker", ports=ports)
        try:
            wait_until(lambda: run.status.records.good == 2, WAIT_S)
            with RegistryClient(second.url) as registry:
                wait_until(lambda: _told(registry, topic) == Outcomes(good=2), WAIT_S)
        finally:
            second.stop()
            second.close()
    assert sorted(landed(spark, table)) == [1, 2]


def test_a_broker_that_restarts_is_waited_for(spark: SparkSession, topic: str, tmp_path: Path) -> None:
    ports, broker = (free_port(), free_port()), f"127.0.0.1:{free_port()}"
    first = start(tmp_path / "data", f"--pulsar={broker}", ports=ports)
    cluster = Cluster(f"pulsar://{broker}", first.url)
    with Client(cluster.url) as client:
        send(client, topic, FIRST, 1, 2)
    table = Table("parquet", str(tmp_path / "orders"))
    run = land_stream(spark, cluster, topic, table, checkpoint=str(tmp_path / "c"), name=topic, timeoutSeconds=2)
    with running(run):
        wait_until(lambda: run.status.records.good == 2, WAIT_S)
        first.stop()
        first.close()
        wait_until(lambda: run.status.state is PipelineState.WAITING, WAIT_S)
        second = start(tmp_path / "data", f"--pulsar={broker}", ports=ports)
        try:
            with Client(cluster.url) as client:
                send(client, topic, FIRST, 3)
            wait_until(lambda: run.status.records.good == 3, WAIT_S)
            assert run.status.state is PipelineState.RUNNING
        finally:
            run.stop(30)
            second.stop()
            second.close()
    assert sorted(landed(spark, table)) == [1, 2, 3]


def _told(registry: RegistryClient, pipeline: str) -> Outcomes | None:
    return next((found.status.records for found in registry.pipelines() if found.name == pipeline), None)


def test_patience_ends(spark: SparkSession, served: Served, topic: str, tmp_path: Path) -> None:
    gone = f"http://127.0.0.1:{free_port()}"
    with (
        serving(tmp_path / "data", "--no-broker") as server,
        Client(served.pulsar, registry=server.url, framing="payload") as client,
    ):
        send(client, topic, FIRST, 1)
    cluster = Cluster(served.pulsar, gone, framing="payload")  # type: ignore[arg-type]
    stream = read_topic_stream(spark, cluster, topic)
    run = for_each_decoded_batch(
        stream, cluster, lambda rows, batch: None, checkpoint=str(tmp_path / "c"), name=topic, patience_s=0.1
    )
    with pytest.raises(Unavailable, match="has waited"):
        run.wait(WAIT_S)
    assert run.status.state is PipelineState.FAILED


def test_errors_reach_whoever_waits_and_stopping_lets_a_batch_end(
    spark: SparkSession, served: Served, client: Client, topic: str, tmp_path: Path
) -> None:
    # No registry at all answers here: nobody is told, and nothing is held up.
    cluster = Cluster(served.pulsar, f"http://127.0.0.1:{free_port()}")
    send(client, topic, FIRST, 1, 2)
    entered, leave = threading.Event(), threading.Event()
    ended: list[int] = []

    def handle(rows: DataFrame, batch_id: int) -> None:
        entered.set()
        assert leave.wait(WAIT_S)
        ended.append(rows.count())

    def started(handler: Callable[[DataFrame, int], None]) -> Run:
        stream = read_topic_stream(spark, cluster, topic)
        return for_each_decoded_batch(stream, cluster, handler, checkpoint=str(tmp_path / "c"), name=topic)

    def failing(rows: DataFrame, batch_id: int) -> None:
        raise IncompatibleSchema("does not fit", [])

    with pytest.raises(IncompatibleSchema, match="does not fit"):
        started(failing).wait(WAIT_S)
    run = started(handle)
    with pytest.raises(TimedOut, match="still runs"):
        run.wait(0.1)
    assert entered.wait(WAIT_S)
    stopping = threading.Thread(target=run.stop)
    stopping.start()
    leave.set()
    stopping.join(WAIT_S)
    assert (ended, run.is_active, run.wait(1).state) == ([2], False, PipelineState.STOPPED)
    with running(started(handle)):
        pass
    assert ended == [2]


def test_what_cannot_run_is_told(spark: SparkSession, cluster: Cluster, topic: str, tmp_path: Path) -> None:
    place = str(tmp_path / "c")
    with pytest.raises(InvalidArgument, match="this is no stream"):
        for_each_decoded_batch(spark.range(1), cluster, lambda rows, batch: None, checkpoint=place, name="p")
    with pytest.raises(InvalidArgument, match="'sometimes' is none"):
        land_stream(spark, cluster, topic, Table("parquet", "t"), checkpoint=place, evolve="sometimes")
    with pytest.raises(InvalidArgument, match="is no name"):
        land_stream(spark, cluster, topic, Table("parquet", "t"), checkpoint=place, name="a/b")
