"""Topics as batches: all columns, several topics, patterns, partitions, places to begin and to end."""

import re
import secrets
import time
from datetime import UTC, datetime

import httpx
import pytest
from pyspark.sql import DataFrame, SparkSession

from tallystick.messaging.ports import Mark, Outgoing
from tallystick.model.subject import Version
from tallystick.spark.cluster import Cluster
from tallystick.spark.columns import FRAMES
from tallystick.spark.source import planning
from tallystick.spark.source.following import Following
from tallystick.spark.source.options import read_options
from tallystick.spark.source.places import from_offset
from tallystick.spark.topics import ends, read_topic
from tests.contracts.clusters import Cluster as Backend
from tests.pulsar.servers import Both
from tests.spark.source.conftest import numbered, send


def payloads(frames: DataFrame) -> list[bytes | None]:
    return [row.payload for row in frames.select("payload").collect()]


def test_all_columns_of_single_messages_and_batches(spark: SparkSession, backend: Backend, cluster: Cluster) -> None:
    topic = backend.topic("columns")
    messages = [
        Outgoing(
            b"one",
            Mark(Version(3), b"\x00\x00\x00\x07"),
            key=b"k1",
            properties={"a": "1", "b": ""},
            event_time_ms=1_700_000_000_123,
            replicated_from="elsewhere",
        ),
        Outgoing(b"", Mark(Version(1))),
        Outgoing(None, key=b"\xff\x00", is_key_text=False),
        Outgoing(b"two", Mark(None, b"some-registry's")),
    ]
    began = datetime.now(UTC).timestamp()
    singles = send(backend.url, topic, messages, batch_messages=1)
    batched = send(backend.url, topic, messages, compression="zstd")
    frames = read_topic(spark, cluster, topic)
    assert frames.schema == FRAMES
    rows = frames.collect()
    assert [tuple(row.position) for row in rows] == [
        (at.ledger, at.entry, at.batch_index)  # type: ignore[union-attr]
        for at in singles + batched
    ]
    assert {row.position.batch_index for row in rows[:4]} == {-1}
    for row in rows:
        assert (row.topic, row.partition, row.status) == (topic, -1, None)
        assert abs(row.publish_time.astimezone(UTC).timestamp() - began) < 60
    for first, blank, tombstone, other in (rows[:4], rows[4:]):
        assert (first.payload, first.key, first.properties) == (b"one", b"k1", {"a": "1", "b": ""})
        assert (first.schema_id, first.schema_version, first.schema_mark) == (7, 3, b"\x00\x00\x00\x07")
        assert first.event_time.astimezone(UTC) == datetime.fromtimestamp(1_700_000_000.123, UTC)
        assert first.replicated_from == "elsewhere"
        assert (blank.payload, blank.key, blank.properties, blank.event_time) == (b"", None, {}, None)
        assert (blank.schema_id, blank.schema_version, blank.schema_mark) == (None, 1, None)
        assert (tombstone.payload, tombstone.key, tombstone.schema_version) == (None, b"\xff\x00", None)
        assert (other.payload, other.schema_id, other.schema_mark) == (b"two", None, b"some-registry's")


def test_several_topics_and_partitions(spark: SparkSession, backend: Backend, cluster: Cluster) -> None:
    one, many = backend.topic("one"), backend.topic("many", partitions=3)
    send(backend.url, one, numbered(5))
    for number in range(3):
        send(backend.url, f"{many}-partition-{number}", numbered(4, 10 * number))
    frames = read_topic(spark, cluster, [one, f"persistent://public/default/{many}"])
    assert frames.rdd.getNumPartitions() == 4
    counts = {
        (row.topic, row.partition): row["count"] for row in frames.groupBy("topic", "partition").count().collect()
    }
    assert counts == {(one, -1): 5, (many, 0): 4, (many, 1): 4, (many, 2): 4}
    only = read_topic(spark, cluster, f"{many}-partition-2")
    assert {(row.topic, row.partition, row.payload) for row in only.collect()} == {
        (many, 2, str(number).encode()) for number in range(20, 24)
    }


def test_a_pattern_is_of_the_whole_name(spark: SparkSession, backend: Backend, cluster: Cluster) -> None:
    name = backend.topic("pattern")
    backend.divide(f"{name}-b", 2)
    for topic in (f"{name}-a", f"{name}-b", f"{name}-c", f"x{name}-a"):
        send(backend.url, topic, numbered(3))
    frames = read_topic(spark, cluster, re.compile(f"{name}-[ab]"))
    assert {row.topic for row in frames.collect()} == {f"{name}-a", f"{name}-b"}
    assert frames.count() == 6


def test_places_to_begin_and_to_end(spark: SparkSession, backend: Backend, cluster: Cluster) -> None:
    topic = backend.topic("places")
    at = send(backend.url, topic, numbered(10))
    time.sleep(0.05)
    middle = datetime.now(UTC)
    time.sleep(0.05)
    before = ends(cluster, topic)
    later = send(backend.url, topic, numbered(10, 10), batch_messages=1)

    def read(**places: object) -> list[int]:
        return [int(payload or b"") for payload in payloads(read_topic(spark, cluster, topic, **places))]  # type: ignore[arg-type]

    def place(position: object) -> dict[str, dict[str, str]]:
        return {topic: {"-1": f"{position.ledger}:{position.entry}:{position.batch_index}"}}  # type: ignore[attr-defined]

    assert read() == list(range(20))
    assert read(starting="latest") == []
    assert read(starting=middle) == list(range(10, 20))
    assert read(ending=middle) == list(range(10))
    assert read(ending=before) == list(range(10))
    assert read(starting=before) == list(range(10, 20))
    assert read(starting=place(at[3])) == list(range(4, 20))
    assert read(starting=place(at[3]), ending=place(at[6])) == [4, 5, 6]
    assert read(starting=place(later[0]), ending=place(later[2])) == [11, 12]
    assert read(starting=place(later[2]), ending=place(later[2])) == []


def test_a_range_is_split_only_where_asked(spark: SparkSession, backend: Backend, cluster: Cluster) -> None:
    topic = backend.topic("split")
    send(backend.url, topic, numbered(100), batch_messages=7)
    assert read_topic(spark, cluster, topic).rdd.getNumPartitions() == 1
    frames = read_topic(spark, cluster, topic, minPartitions=4)
    assert frames.rdd.getNumPartitions() == 4
    assert payloads(frames) == [str(number).encode() for number in range(100)]


@pytest.mark.parametrize("framing", ["payload", "mesh"])
def test_frames_before_payloads_are_taken_off(spark: SparkSession, embedded: Backend, framing: str) -> None:
    topic, status = embedded.topic("framed"), b"" if framing == "payload" else b"\x01"
    bodies = [
        status + b"\x00\xf0\x00\x00\x01body",
        status + b"\x00\x00\x00\x00\x02",
        b"\x09no frame",
        b"\x00",
        b"",
        None,
    ]
    send(embedded.url, topic, [Outgoing(body) for body in bodies])
    rows = read_topic(spark, Cluster(embedded.url), topic, framing=framing).collect()
    assert [(row.payload, row.schema_id, row.schema_mark) for row in rows] == [
        (b"body", 0xF0000001, None),
        (b"", 2, None),
        (b"\x09no frame", None, b""),
        (b"\x00", None, b""),
        (b"", None, b""),
        (None, None, None),
    ]
    assert [row.status for row in rows] == [1 if framing == "mesh" else None] * 2 + [None] * 4


def test_ranges_go_over_ledgers(spark: SparkSession, both: Both) -> None:
    """A real Pulsar begins a new ledger when a topic was unloaded; an embedded broker has one for each topic."""
    url, topic = both.pulsar.service_url, f"ledgers-{secrets.token_hex(4)}"
    cluster = Cluster(url)
    first = send(url, topic, numbered(5), batch_messages=2)
    admin = f"{both.pulsar.admin_url}/admin/v2/persistent/public/default/{topic}"
    httpx.put(f"{admin}/unload", timeout=30).raise_for_status()
    between = ends(cluster, topic)
    second = send(url, topic, numbered(5, 5), batch_messages=1)
    assert first[0].ledger != second[0].ledger  # type: ignore[union-attr]
    assert payloads(read_topic(spark, cluster, topic)) == [str(number).encode() for number in range(10)]
    assert payloads(read_topic(spark, cluster, topic, starting=between)) == [
        str(number).encode() for number in range(5, 10)
    ]
    middle = {topic: {"-1": f"{first[1].ledger}:{first[1].entry}"}}  # type: ignore[union-attr]
    assert read_topic(spark, cluster, topic, starting=middle, ending=ends(cluster, topic), minPartitions=3).count() == 8
    (start,) = planning.ranges(from_offset(middle), from_offset(ends(cluster, topic)))
    options = read_options({"url": url, "topics": topic, "maxRecordsPerBatch": "3"})
    following = Following(options, None)
    try:
        following.came_to({start.partition: start.start})
        sizes = []
        while (end := following.next_end()) != {start.partition: start.end}:
            sizes.append(end)
            following.came_to(end)
        assert len(sizes) == 2
    finally:
        following.close()
