"""Records of a real Kafka as the columns of FRAMES."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from pyspark.sql import Row, SparkSession

from tallystick.errors import InvalidArgument, TopicNotFound
from tallystick.model.subject import SchemaId
from tallystick.rest import Credentials
from tallystick.spark.cluster import Cluster
from tallystick.spark.columns import FRAMES
from tallystick.spark.kafka import ends, read, read_stream
from tallystick.wire import confluent_frame
from tallystick.wire.confluent_frame import KEY_HEADER, VALUE_HEADER, SchemaMark
from tests.kafka.driving import new_name
from tests.kafka.server import PASSWORD, USER, Kafka
from tests.spark.kafka.topics import Put, cluster_of, new_topic, put, rows

GUID = UUID("12345678-1234-5678-1234-567812345678")
LARGE = 0xFEDCBA98
"""An id that has its highest bit set."""
ID, BY_GUID = confluent_frame.write(SchemaMark(SchemaId(7))), confluent_frame.write(SchemaMark(GUID))
PRIVATE = "-----BEGIN PRIVATE KEY-----\nZm9v\n-----END PRIVATE KEY-----\n"
Told = tuple[int | None, bytes | None, bytes | None, int | None]


def told(row: Row) -> Told:
    payload, mark = row["payload"], row["schema_mark"]
    return (
        row["schema_id"],
        None if mark is None else bytes(mark),
        None if payload is None else bytes(payload),
        row["status"],
    )


def test_a_frame_becomes_id_or_guid_and_what_has_none_stays_as_it_is(spark: SparkSession, kafka: Kafka) -> None:
    topic = new_topic(kafka, 1)
    cases: list[tuple[bytes | None, Told]] = [
        (ID + b"abc", (7, None, b"abc", None)),
        (ID, (7, None, b"", None)),
        (b"\x00\xfe\xdc\xba\x98x", (LARGE, None, b"x", None)),
        (BY_GUID + b"abc", (None, GUID.bytes, b"abc", None)),
        (None, (None, None, None, None)),
        (b"", (None, b"", b"", None)),
        (b"\x00\x00\x00\x07", (None, b"", b"\x00\x00\x00\x07", None)),
        (b"\x01" + b"g" * 15, (None, b"", b"\x01" + b"g" * 15, None)),
        (b"plain text", (None, b"", b"plain text", None)),
    ]
    put(kafka, topic, [Put(value) for value, _ in cases])
    frames = read(spark, cluster_of(kafka), topic)
    assert frames.schema == FRAMES
    assert [told(row) for row in rows(frames)] == [wanted for _, wanted in cases]


def test_a_mesh_frame_has_a_status_before_it(spark: SparkSession, kafka: Kafka) -> None:
    topic = new_topic(kafka, 1)
    cases: list[tuple[bytes | None, Told]] = [
        (b"\x01" + ID + b"abc", (7, None, b"abc", 1)),
        (b"\x00" + ID + b"abc", (7, None, b"abc", 0)),
        (b"\x00" + BY_GUID + b"abc", (None, GUID.bytes, b"abc", 0)),
        (b"\x02" + ID + b"abc", (None, b"", b"\x02" + ID + b"abc", None)),
        (b"\x01\x00\x00", (None, b"", b"\x01\x00\x00", None)),
        (None, (None, None, None, None)),
    ]
    put(kafka, topic, [Put(value) for value, _ in cases])
    frames = read(spark, cluster_of(kafka), topic, framing="mesh")
    assert frames.schema == FRAMES
    assert [told(row) for row in rows(frames)] == [wanted for _, wanted in cases]


def test_ids_in_headers(spark: SparkSession, kafka: Kafka) -> None:
    topic = new_topic(kafka, 1)
    path = confluent_frame.path_bytes((1, 0))
    cases: list[tuple[bytes | None, bytes | None, Told]] = [
        (ID, b"abc", (7, None, b"abc", None)),
        (BY_GUID, b"abc", (None, GUID.bytes, b"abc", None)),
        (ID + path, b"abc", (7, None, path + b"abc", None)),
        (BY_GUID + path, b"", (None, GUID.bytes, path, None)),
        (None, b"\x00\x00\x00\x00\x07not a frame here", (None, b"", b"\x00\x00\x00\x00\x07not a frame here", None)),
        (ID, None, (7, None, None, None)),
    ]
    put(kafka, topic, [Put(value, b"k", ((VALUE_HEADER, header),) if header else ()) for header, value, _ in cases])
    put(kafka, topic, [Put(b"v", b"k", ((KEY_HEADER, ID), ("a", b"b")))])
    frames = read(spark, cluster_of(kafka, framing="header"), topic)
    assert frames.schema == FRAMES
    *found, keyed = rows(frames)
    assert [told(row) for row in found] == [wanted for *_, wanted in cases]
    assert {bytes(row["key"]) for row in found} == {b"k"}
    assert bytes(keyed["key"]) == ID + b"k"
    assert keyed["properties"] == {"a": "b"}


def test_what_else_a_record_has(spark: SparkSession, kafka: Kafka) -> None:
    topic = new_topic(kafka, 2)
    many = (
        ("a", b"first"), ("b", "é".encode()), ("a", b"last"), ("bytes", b"\xff\xfe"), ("nothing", None), ("c", b"text"),
        ("c", b"\xff"), ("replicated_from", b"west"), (VALUE_HEADER, ID), (KEY_HEADER, ID),
    )  # fmt: skip
    put(kafka, topic, [Put(b"x", ID + b"key", many), Put(b"y", partition=1, headers=(("replicated_from", b"\xffa"),))])
    appended = new_topic(kafka, 1, **{"message.timestamp.type": "LogAppendTime"})
    put(kafka, appended, [Put(b"z")])
    one, other = rows(read(spark, cluster_of(kafka), topic))
    assert (one["topic"], one["partition"], tuple(one["position"])) == (topic, 0, (0, 0, -1))
    assert (other["topic"], other["partition"], tuple(other["position"])) == (topic, 1, (0, 0, -1))
    assert bytes(one["key"]) == ID + b"key"
    assert other["key"] is None
    assert one["properties"] == {"a": "last", "b": "é", "nothing": "", "c": "text"}
    assert other["properties"] == {}
    assert (one["replicated_from"], other["replicated_from"]) == ("west", "\ufffda")
    time = datetime(2023, 11, 14, 22, 13, 20, 123000)
    assert one["event_time"] == one["publish_time"]
    assert one["publish_time"].astimezone(UTC).replace(tzinfo=None) == time
    [late] = rows(read(spark, cluster_of(kafka), appended))
    assert late["event_time"] is None
    assert late["publish_time"].astimezone(UTC).replace(tzinfo=None) > time + timedelta(days=1)


def test_topics_by_list_and_pattern(spark: SparkSession, kafka: Kafka) -> None:
    one, other = new_topic(kafka, 1), new_topic(kafka, 1)
    for topic in (one, other):
        put(kafka, topic, [Put(topic.encode())])
    cluster = cluster_of(kafka)
    assert [row["topic"] for row in rows(read(spark, cluster, [one, other]))] == sorted([one, other])
    pattern = re.compile(f"(?P<name>{one.upper()})", re.IGNORECASE)
    assert [row["topic"] for row in rows(read(spark, cluster, pattern))] == [one]
    assert ends(cluster, pattern) == {one: {0: 1}}
    assert ends(cluster, [one, other]) == {one: {0: 1}, other: {0: 1}}
    assert not any(name.startswith("__") for name in ends(cluster, re.compile(".*")))


def test_where_reading_begins_and_ends(spark: SparkSession, kafka: Kafka) -> None:
    topic, cluster = new_topic(kafka, 2), cluster_of(kafka)
    start = datetime(2024, 1, 1, tzinfo=UTC)
    times = [round((start + timedelta(minutes=i)).timestamp() * 1000) for i in range(6)]
    put(kafka, topic, [Put(b"%d" % i, partition=i % 2, time_ms=time) for i, time in enumerate(times)])

    def values(**where: Any) -> set[str]:
        return {bytes(row["payload"]).decode() for row in rows(read(spark, cluster, topic, **where))}

    assert ends(cluster, topic) == {topic: {0: 3, 1: 3}}
    assert values() == set("012345")
    assert values(starting=start + timedelta(minutes=4), ending=ends(cluster, topic)) == set("45")
    assert values(starting=start + timedelta(days=4)) == set()
    assert values(ending=start + timedelta(minutes=2)) == set("01")
    assert values(starting=start + timedelta(minutes=1), ending=start + timedelta(minutes=3)) == set("12")
    assert values(starting={topic: {0: 1}}) == set("24")
    assert values(starting={topic: {0: 1, 1: 2}}, ending={topic: {0: 2}}) == set("25")
    assert values(ending={topic: {0: 1, 1: 1}}) == set("01")


def test_places_that_are_none(spark: SparkSession, kafka: Kafka) -> None:
    cluster, name = cluster_of(kafka), new_name()
    for where, reason in [
        ({"starting": "latest"}, "nothing is there to read"),
        ({"ending": "earliest"}, "nothing is there to read"),
        ({"starting": "yesterday"}, "'yesterday' is no place"),
        ({"starting": {"other": {0: 1}}}, "not among those to read"),
        ({"starting": {}}, "no offsets at all"),
        ({"framing": "mash"}, "transport, payload, header, mesh"),
        ({"includeHeaders": False}, "leave it out"),
    ]:
        with pytest.raises(InvalidArgument, match=reason):
            read(spark, cluster, name, **where)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="for a pattern give"):
        read(spark, cluster, "orders.*")
    with pytest.raises(TopicNotFound):
        ends(cluster, name)


def test_secrets_do_not_show_in_plans(spark: SparkSession, kafka: Kafka, capsys: pytest.CaptureFixture[str]) -> None:
    topic = new_topic(kafka)
    put(kafka, topic, [Put(b"x")])
    credentials = Credentials(username=USER, password=PASSWORD)
    options = {"ssl.key.password": "a-secret, too", "ssl.key.pem": PRIVATE, "ssl.certificate.pem": "none"}
    cluster = Cluster(f"kafka://{kafka.sasl_servers}", credentials=credentials, options=options)
    frames, stream = read(spark, cluster, topic), read_stream(spark, cluster, topic)
    assert frames.count() == 1
    for mode in ("extended", "formatted", "cost"):
        frames.explain(mode=mode)
        stream.explain(mode=mode)
    shown = capsys.readouterr().out
    assert "kafka.sasl.mechanism -> PLAIN" in shown
    for secret in (PASSWORD, "a-secret", "too", "Zm9v"):
        assert secret not in shown, secret


def test_a_stream_in_bounded_batches(spark: SparkSession, kafka: Kafka, tmp_path: Any) -> None:
    topic, cluster = new_topic(kafka, 2), cluster_of(kafka)
    put(kafka, topic, [Put(b"%d" % i, partition=i % 2) for i in range(12)])
    frames = read_stream(spark, cluster, topic, starting={topic: {1: 4}}, max_records=3)
    assert frames.schema == FRAMES
    batches: list[list[str]] = []

    def keep(batch: Any, number: int) -> None:
        batches.append([bytes(row["payload"]).decode() for row in rows(batch)])

    query = frames.writeStream.foreachBatch(keep).option("checkpointLocation", str(tmp_path)).trigger(availableNow=True)
    query.start().awaitTermination()
    assert sorted(value for batch in batches for value in batch) == sorted(["0", "2", "4", "6", "8", "10", "9", "11"])
    assert len(batches) >= 3
    with pytest.raises(InvalidArgument, match="no partition 7"):
        read_stream(spark, cluster, topic, starting={topic: {7: 0}})
