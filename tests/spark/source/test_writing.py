"""Frames back into topics: whole, in order, by schema, and once."""

from pathlib import Path

import httpx
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Row, SparkSession

from tallystick.errors import InvalidArgument
from tallystick.messaging.ports import Mark, Outgoing
from tallystick.model.subject import Version
from tallystick.spark.cluster import Cluster
from tallystick.spark.columns import FRAMES
from tallystick.spark.topics import read_topic, read_topic_stream, write_topic, write_topic_stream
from tests.contracts.clusters import Cluster as Backend
from tests.pulsar.servers import Both
from tests.spark.source.conftest import numbered, send

KEPT = ["key", "payload", "schema_id", "schema_version", "schema_mark", "properties", "event_time", "replicated_from"]


@pytest.fixture
def namespace(request: pytest.FixtureRequest, backend: Backend) -> str:
    """One whose topics deduplicate."""
    both: Both = request.getfixturevalue("both")
    admin = both.pulsar.admin_url if backend.url == both.pulsar.service_url else backend.openschema
    name = f"public/{backend.topic('once')}"
    for method, path, body in (("PUT", "", None), ("POST", "/deduplication", True)):
        httpx.request(method, f"{admin}/admin/v2/namespaces/{name}{path}", json=body, timeout=30).raise_for_status()
    return name


def kept(rows: list[Row]) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in KEPT) for row in rows]


def test_all_that_a_record_has_goes_along(spark: SparkSession, backend: Backend, cluster: Cluster) -> None:
    source, target = backend.topic("from"), backend.topic("to", partitions=2)
    marks = [Mark(Version(3), b"\x00\x00\x00\x07"), Mark(Version(1)), Mark(None, b"other's"), Mark()]
    messages = [
        Outgoing(b"a", marks[0], key=b"k", properties={"p": "q"}, event_time_ms=1_700_000_000_123),
        Outgoing(b"b", marks[0], key=b"k", replicated_from="elsewhere"),
        Outgoing(b"", marks[1], key=b"k"),
        Outgoing(None, marks[2], key=b"\xff", is_key_text=False),
        Outgoing(b"c", marks[3]),
    ]
    send(backend.url, source, messages)
    frames = read_topic(spark, cluster, source)
    write_topic(frames, cluster, target, compression="lz4")
    written = read_topic(spark, cluster, target).orderBy("partition", "position").collect()
    assert sorted(kept(written), key=str) == sorted(kept(frames.collect()), key=str)
    assert [row.payload for row in written if row.key == b"k"] == [b"a", b"b", b""]
    entries: dict[object, set[object]] = {}
    for row in written:
        entry = (row.partition, row.position.ledger, row.position.entry)
        entries.setdefault(entry, set()).add((row.schema_version, row.schema_mark))
    assert {len(schemas) for schemas in entries.values()} == {1}


def test_what_is_written_twice_is_there_once(
    spark: SparkSession, backend: Backend, cluster: Cluster, namespace: str
) -> None:
    source, target = backend.topic("from", partitions=2), f"{namespace}/target"
    for number in range(2):
        send(backend.url, f"{source}-partition-{number}", numbered(1500, 10_000 * number))
    frames = read_topic(spark, cluster, source)
    # The first try of a micro-batch came to its first full batches.
    write_topic(
        frames.where("position.batch_index < 1000 and position.entry = 0"), cluster, target, producer="p", batch_id=7
    )
    assert 0 < read_topic(spark, cluster, target).count() < 3000
    for _ in range(2):
        write_topic(frames, cluster, target, producer="p", batch_id=7)
    found = [int(row.payload) for row in read_topic(spark, cluster, target).collect()]
    expected = [*range(1500), *range(10_000, 11_500)]
    assert sorted(found) == expected
    for first in (0, 10_000):
        part = [number for number in found if first <= number < first + 1500]
        assert part == sorted(part)
    write_topic(frames, cluster, target, producer="p", batch_id=8)
    assert read_topic(spark, cluster, target).count() == 2 * len(expected)


def test_a_stream_that_is_done_again_is_there_once(
    spark: SparkSession, backend: Backend, cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    source, target = backend.topic("from"), f"{namespace}/target"
    send(backend.url, source, numbered(100))
    frames = read_topic_stream(spark, cluster, source, max_records=40)

    def run() -> None:
        query = write_topic_stream(frames, cluster, target, checkpoint=str(tmp_path))
        try:
            query.processAllAvailable()
        finally:
            query.stop()

    run()
    # As if the driver had died before it knew that the last micro-batch was complete.
    for name in ("2", ".2.crc"):
        (tmp_path / "commits" / name).unlink()
    send(backend.url, source, numbered(10, 100))
    run()
    found = [int(row.payload) for row in read_topic(spark, cluster, target).collect()]
    assert found == list(range(110))


def test_micro_batches_are_written_in_foreach_batch(spark: SparkSession, embedded: Backend, tmp_path: Path) -> None:
    cluster, source, target = Cluster(embedded.url), embedded.topic("from"), embedded.topic("to")
    send(embedded.url, source, numbered(10))
    query = (
        read_topic_stream(spark, cluster, source)
        .writeStream.foreachBatch(lambda rows, id_: write_topic(rows, cluster, target, producer="q", batch_id=id_))
        .option("checkpointLocation", str(tmp_path))
        .start()
    )
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    assert [int(row.payload) for row in read_topic(spark, cluster, target).collect()] == list(range(10))


def test_frames_are_put_before_payloads(spark: SparkSession, embedded: Backend) -> None:
    cluster, source, target = Cluster(embedded.url), embedded.topic("from"), embedded.topic("to")
    bodies = [b"\x01\x00\x00\x00\x00\x07body", b"\x00\x00\x00\x00\x00\x08", b"no frame", None]
    send(embedded.url, source, [Outgoing(body) for body in bodies])
    write_topic(read_topic(spark, cluster, source, framing="mesh"), cluster, target, framing="mesh")
    assert [row.payload for row in read_topic(spark, cluster, target).collect()] == bodies


def test_what_cannot_be_written_says_why(spark: SparkSession, embedded: Backend) -> None:
    cluster, topic = Cluster(embedded.url), embedded.topic("wrong")
    none = spark.createDataFrame([], FRAMES)
    with pytest.raises(AnalysisException, match=r"payload, .*are missing"):
        write_topic(none.select("topic", "key", "partition"), cluster, topic)
    with pytest.raises(AnalysisException, match="batch ids"):
        write_topic(none, cluster, topic, producer="p")
    with pytest.raises(AnalysisException, match="compression: 'best' is none"):
        write_topic(none, cluster, topic, compression="best")
    with pytest.raises(InvalidArgument, match=r"finding is null"):
        write_topic(none.selectExpr("*", "null as finding"), cluster, topic)
