"""What `write` writes is what `read` has read, byte for byte, in every framing."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tallystick.errors import InvalidArgument, TallystickError, Unsupported
from tallystick.model.subject import SchemaId
from tallystick.spark.kafka import Delivery, read, read_stream, write
from tallystick.wire import confluent_frame
from tallystick.wire.confluent_frame import KEY_HEADER, VALUE_HEADER, SchemaMark
from tests.kafka.driving import new_name
from tests.kafka.server import Kafka
from tests.spark.kafka.topics import Put, cluster_of, held, new_topic, put

GUID, PROTO_GUID = UUID(int=0x12345678123456781234567812345678), UUID(int=1 << 127)
PROTO = 9
ID, BY_GUID = confluent_frame.write(SchemaMark(SchemaId(7))), confluent_frame.write(SchemaMark(GUID))
PLAIN = [Put(None, b"gone"), Put(b"", b""), Put(b"\x00\x00\x07"), Put(b"text", b"k", (("a", b"1"), ("b", b"")))]
FRAMED = [
    Put(ID + b"abc", b"\x00\x00\x00\x00\x03key", (("replicated_from", b"west"), ("z", b"\xc3\xa9"))),
    Put(ID, partition=1),
    Put(BY_GUID + b"abc", b"k", partition=1),
    Put(b"\x00\xfe\xdc\xba\x98x", time_ms=1_600_000_000_000),
]
PATHS = [(0,), (1, 0), (130, 2), (3,) * 70]
HEADED = [
    Put(b"abc", b"k", ((VALUE_HEADER, ID), ("a", b"1"))),
    Put(b"", b"k", ((KEY_HEADER, ID), (VALUE_HEADER, BY_GUID))),
    Put(b"\x00\x00\x00\x00\x07no frame", None, (("replicated_from", b"west"),), 1),
    Put(b"abc", b"k", ((KEY_HEADER, confluent_frame.write(SchemaMark(SchemaId(PROTO), (2, 1)))), (VALUE_HEADER, ID))),
    *(
        Put(b"abc", headers=((VALUE_HEADER, confluent_frame.write(SchemaMark(schema, path))),))
        for path in PATHS
        for schema in (SchemaId(PROTO), PROTO_GUID)
    ),
]
CASES = {
    "transport": PLAIN + FRAMED,
    "header": PLAIN + HEADED,
    "mesh": PLAIN
    + [
        replace(record, value=status + record.value)
        for record in FRAMED
        for status in (b"\x00", b"\x01")
        if record.value
    ],
}


@pytest.mark.parametrize("framing", CASES)
def test_all_of_a_record_comes_back(spark: SparkSession, kafka: Kafka, framing: str) -> None:
    source, targets = new_topic(kafka, 2), {delivery: new_topic(kafka, 2) for delivery in Delivery}
    put(kafka, source, CASES[framing])
    cluster = cluster_of(kafka)
    frames = read(spark, cluster, source, framing=framing)
    for delivery, target in targets.items():
        once: dict[str, Any] = {"query": new_name("query"), "batch_id": 0} if delivery is Delivery.EXACTLY_ONCE else {}
        write(
            frames, cluster, target, delivery=delivery, framing=framing, keep_partition=True, framed_keys=True,
            protobuf={PROTO, PROTO_GUID.bytes}, **once,
        )  # fmt: skip
    wanted = held(kafka, source)
    assert [_sorted(record) for record in held(kafka, targets[Delivery.EXACTLY_ONCE])] == [_sorted(r) for r in wanted]
    found = held(kafka, targets[Delivery.AT_LEAST_ONCE])
    assert [_sorted(replace(record, time_ms=0)) for record in found] == [
        _sorted(replace(record, time_ms=0)) for record in wanted
    ]


def _sorted(record: Put) -> Put:
    """Properties have no order."""
    return replace(record, headers=tuple(sorted(record.headers)))


def test_what_cannot_be_written(spark: SparkSession, kafka: Kafka) -> None:
    source, target, cluster = new_topic(kafka), new_topic(kafka), cluster_of(kafka)
    put(kafka, source, [Put(b"x")])
    frames = read(spark, cluster, source)
    for column, value, reason in [
        ("schema_id", F.lit(2**32), "four bytes, this one is 4294967296"),
        ("schema_mark", F.lit(b"abc"), "the mark 616263"),
        ("schema_version", F.lit(3).cast("long"), "a version and no schema id"),
    ]:
        bad = frames.withColumn("schema_mark", F.lit(None).cast("binary")).withColumn(column, value)
        with pytest.raises(TallystickError, match=reason):
            write(bad, cluster, target)
    with pytest.raises(Unsupported, match="foreachBatch"):
        write(read_stream(spark, cluster, source), cluster, target)
    for settings, reason in [
        ({"delivery": "twice"}, "at-least-once, exactly-once"),
        ({"delivery": "exactly-once", "batch_id": 1}, "query: "),
        ({"delivery": "exactly-once", "query": "q"}, "batch_id: "),
        ({"delivery": "exactly-once", "query": "q", "batch_id": 0, "lanes": 2}, "has 1 partitions"),
        ({"delivery": "exactly-once", "query": "q", "batch_id": 0, "lanes": 0}, "one at least"),
    ]:
        with pytest.raises(InvalidArgument, match=reason):
            write(frames, cluster, target, **settings)  # type: ignore[arg-type]
    assert held(kafka, target) == []
