"""decode, decode_each and explained on frames made by hand, with a real registry."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from tallystick import AvroSchema, RegistryClient
from tallystick.errors import InvalidArgument, Unsupported
from tallystick.formats import encoder_of, parse
from tallystick.messaging.settings import Framing
from tallystick.model.definition import SchemaDefinition
from tallystick.model.naming import KafkaNaming
from tallystick.model.schema_type import AVRO
from tallystick.spark.cluster import Cluster
from tallystick.spark.columns import FRAMES
from tallystick.spark.decoding.decode import DOES_NOT_FIT, decode
from tallystick.spark.decoding.each import UNKNOWN, decode_each
from tallystick.spark.decoding.explaining import REFUSED_BY_SPARK, explained
from tallystick.spark.decoding.schemas import UNKNOWN as SCHEMA_UNKNOWN
from tests.contracts.clusters import Served

ID, NAME = {"name": "id", "type": "long"}, {"name": "name", "type": "string"}
NOTE = {"name": "note", "type": ["null", "string"], "default": None}


def record(*fields: Any, name: str = "shop.Order") -> str:
    return json.dumps({"type": "record", "name": name, "fields": fields})


V1, V2 = record(ID, NAME), record(ID, NAME, NOTE)


def payload(text: str, value: Any) -> bytes:
    return encoder_of(parse(SchemaDefinition(AVRO, text)))(value)


@dataclass
class Topic:
    """A topic whose schemas are in a real registry, and whose records are made here."""

    spark: SparkSession
    cluster: Cluster
    name: str

    def register(self, *texts: str, subject: str | None = None) -> list[int]:
        assert self.cluster.registry is not None
        with RegistryClient(self.cluster.registry) as registry:
            found = [registry.register(subject or f"{self.name}-value", SchemaDefinition(AVRO, text)) for text in texts]
        return [one.id for one in found if one.id is not None]

    def frames(self, *records: tuple[int | None, bytes | None], topic: str | None = None) -> DataFrame:
        """Of schema ids and payloads; no id: no frame, unless it is a tombstone."""
        rows: list[tuple[Any, ...]] = [
            (topic or self.name, 0, (0, n, -1), str(n).encode(), data, id_, None,
             b"" if id_ is None and data is not None else None, {}, None, None, None, None)
            for n, (id_, data) in enumerate(records)
        ]  # fmt: skip
        return self.spark.createDataFrame(rows, FRAMES).coalesce(1)


@pytest.fixture
def topic(spark: SparkSession, served: Served) -> Topic:
    cluster = Cluster(served.pulsar, served.confluent, framing=Framing.PAYLOAD)
    return Topic(spark, cluster, f"t-{secrets.token_hex(4)}")


def in_order(rows: DataFrame) -> list[Row]:
    return sorted(rows.collect(), key=lambda row: row.position.entry)


def rules(rows: Sequence[Row]) -> list[str | None]:
    return [row.finding and row.finding.rule for row in rows]


def test_every_record_is_read_by_its_own_schema_or_has_a_finding(topic: Topic) -> None:
    first, second = topic.register(V1, V2)
    good = payload(V1, {"id": 1, "name": "a"})
    frames = topic.frames(
        (first, good),
        (second, payload(V2, {"id": 2, "name": "b", "note": "ä"})),
        (999_999, good),
        (None, b"no frame"),
        (first, None),
        (first, b"\x02\x02\xff"),
        (first, good + b"\x00"),
        (first, good[:-1]),
        (first, b""),
    )
    rows = in_order(decode(frames, topic.cluster))
    assert [row.value for row in rows[:2]] == [Row(id=1, name="a", note=None), Row(id=2, name="b", note="ä")]
    assert [row.schema_version for row in rows[:2]] == [1, 2]
    assert {row.value for row in rows[2:]} == {None}
    expected = [None, None, SCHEMA_UNKNOWN, "SCHEMA_FRAME_UNREADABLE", None, *[DOES_NOT_FIT] * 4]
    assert rules(rows) == expected
    assert topic.name in rows[5].finding.message
    for reader in (1, AvroSchema(V1), SchemaDefinition(AVRO, V1)):
        rows = in_order(decode(frames, topic.cluster, reader=reader))
        assert [row.value for row in rows[:2]] == [Row(id=1, name="a"), Row(id=2, name="b")]
        assert rules(rows) == expected


def test_several_topics_need_a_reader(topic: Topic) -> None:
    other = Topic(topic.spark, topic.cluster, f"{topic.name}-other")
    (first,), (second,) = topic.register(V1), other.register(V2)
    both = topic.frames((first, payload(V1, {"id": 1, "name": "a"}))).unionByName(
        other.frames((second, payload(V2, {"id": 2, "name": "b", "note": None})))
    )
    with pytest.raises(InvalidArgument, match="decode_each"):
        decode(both, topic.cluster)
    assert sorted(row.value.id for row in decode(both, topic.cluster, reader=AvroSchema(V2)).collect()) == [1, 2]


def test_a_stream_is_sent_to_the_runner(topic: Topic) -> None:
    stream = topic.spark.readStream.format("rate").load()
    with pytest.raises(Unsupported, match="for_each_decoded_batch"):
        decode(stream, topic.cluster)


def test_nothing_is_read_twice(topic: Topic) -> None:
    first, second = topic.register(V1, V2)
    frames = topic.frames((first, payload(V1, {"id": 1, "name": "a"})), (second, payload(V2, {"id": 2, "name": "b"})))
    rows = decode(frames, topic.cluster).where("finding is null and value.id > 0").select("value.id", "value.name")
    plan = rows._jdf.queryExecution().executedPlan().toString()
    assert plan.lower().count("from_avro(") == 1, plan


def test_many_schemas_in_one_batch(topic: Topic) -> None:
    """More than one byte tells apart; and records that tell what nobody has, however far off it is."""
    texts = [record(ID, *({"name": f"f{i}", "type": "int", "default": i} for i in range(n))) for n in range(70)]
    ids = topic.register(*texts)
    values = [{"id": n, **{f"f{i}": -1 for i in range(n)}} for n in range(70)]
    given = [(id_, payload(text, value)) for id_, text, value in zip(ids, texts, values, strict=True)]
    strange = [-(2**31), -1, 0, 2**31 - 1]
    frames = topic.frames(*given, *((id_, b"\x02") for id_ in strange))
    rows = in_order(decode(frames, topic.cluster))
    assert rules(rows) == [None] * 70 + [SCHEMA_UNKNOWN] * 4
    for n, row in enumerate(rows[:70]):
        assert row.value.asDict() == {"id": n, **{f"f{i}": -1 if i < n else i for i in range(69)}}
        assert row.schema_version == n + 1


def nested(*fields: Any, symbols: Sequence[str] = ("A", "B"), **other: Any) -> str:
    kind = {"type": "enum", "name": "Kind", "symbols": list(symbols), "default": "A"}
    where = {"type": "record", "name": "Where", "fields": [{"name": "city", "type": "string"}, *fields]}
    extra = [{"name": name, "type": type_} for name, type_ in other.items()]
    return record(ID, *extra, {"name": "kind", "type": kind}, {"name": "where", "type": where})


def test_types_of_one_name_may_differ_between_the_schemas_of_a_batch(topic: Topic) -> None:
    zip_code = {"name": "zip", "type": "string", "default": "?"}
    passed_over = ({"type": "enum", "name": "Own", "symbols": ["X"]}, {"type": "enum", "name": "Own", "symbols": ["Y"]})
    texts = [
        nested(gone=passed_over[0]),
        nested(gone=passed_over[1]),
        nested(symbols=["B", "A"]),
        nested(zip_code),
        nested(zip_code, symbols=["C", "A", "B"]),
    ]
    city, place = {"city": "Ulm"}, {"city": "Ulm", "zip": "89073"}
    values = [
        {"id": 0, "gone": "X", "kind": "B", "where": city},
        {"id": 1, "gone": "Y", "kind": "B", "where": city},
        {"id": 2, "kind": "B", "where": city},
        {"id": 3, "kind": "B", "where": place},
        {"id": 4, "kind": "B", "where": place},
    ]
    # Each in a subject of its own: what is tested is reading, not what may follow what.
    ids = [topic.register(text, subject=f"{topic.name}-{n}")[0] for n, text in enumerate(texts)]
    given = [(id_, payload(text, value)) for id_, text, value in zip(ids, texts, values, strict=True)]
    reader = SchemaDefinition(AVRO, nested(zip_code))
    rows = in_order(decode(topic.frames(*given, (ids[0], given[0][1] + b"\x00")), topic.cluster, reader=reader))
    assert rules(rows) == [None] * 5 + [DOES_NOT_FIT]
    shown = [(row.value.id, row.value.kind, row.value.where.city, row.value.where.zip) for row in rows[:5]]
    assert shown == [(n, "B", "Ulm", "?" if n < 3 else "89073") for n in range(5)]


ROOTS = {
    "all fields may be null": (record(NOTE), {"note": None}, Row(note=None)),
    "no record": (json.dumps({"type": "array", "items": "int"}), [1, 2], [1, 2]),
    "a field called seal": (record({"name": "seal", "type": "int"}), {"seal": 3}, Row(seal=3)),
    "a union": (json.dumps([json.loads(record(ID)), "string"]), "text", Row(member0=None, member1="text")),
}


@pytest.mark.parametrize("root", ROOTS)
def test_values_of_every_shape_are_told_from_none(topic: Topic, root: str) -> None:
    text, value, expected = ROOTS[root]
    (id_,) = topic.register(text)
    data = payload(text, value)
    frames = topic.frames((id_, data), (id_, data + b"\x00"), (id_, data[:-1]), (id_, None))
    rows = in_order(decode(frames, topic.cluster))
    assert [row.value for row in rows] == [expected, None, None, None]
    assert rules(rows) == [None, DOES_NOT_FIT, DOES_NOT_FIT, None]


def test_writers_of_one_layout_share_a_branch(topic: Topic) -> None:
    texts = [
        V1,
        record(ID, {**NAME, "doc": "who"}),
        record(ID, NAME, name="shop.Order").replace('"fields"', '"doc": "an order", "fields"'),
    ]
    ids = topic.register(*texts)
    assert len(set(ids)) == 3
    rows = decode(topic.frames(*((id_, payload(V1, {"id": 1, "name": "a"})) for id_ in ids)), topic.cluster)
    assert rules(rows.collect()) == [None] * 3
    assert rows._jdf.queryExecution().executedPlan().toString().lower().count("from_avro(") == 1


def test_records_of_several_types_come_apart(spark: SparkSession, served: Served) -> None:
    mark = f"x{secrets.token_hex(4)}"
    cluster = Cluster(served.pulsar, served.confluent, framing=Framing.PAYLOAD, naming=KafkaNaming.RECORD_NAME)
    topic = Topic(spark, cluster, f"mixed-{mark}")
    order, later = record(ID, NAME, name=f"{mark}.Order"), record(ID, NAME, NOTE, name=f"{mark}.Order")
    refund, tree = (
        record(ID, name=f"{mark}.Refund"),
        record({"name": "n", "type": ["null", "Tree"]}, name=f"{mark}.Tree"),
    )
    ids = topic.register(order, later, subject=f"{mark}.Order")
    (refunds,), (trees,) = (topic.register(text, subject=f"other-{mark}-{n}") for n, text in enumerate((refund, tree)))
    frames = topic.frames(
        (ids[0], payload(order, {"id": 1, "name": "a"})),
        (refunds, payload(refund, {"id": 2})),
        (trees, b"\x00"),
        (999_999, b"x"),
        (None, None),
        (refunds, b""),
        (ids[0], None),
    )
    found = decode_each(frames, cluster)
    assert set(found) == {f"{mark}.Order", f"{mark}.Refund", f"{mark}.Tree", UNKNOWN}
    rows = {name: in_order(one) for name, one in found.items()}
    places = {name: [row.position.entry for row in one] for name, one in rows.items()}
    assert places == {f"{mark}.Order": [0, 6], f"{mark}.Refund": [1, 5], f"{mark}.Tree": [2], UNKNOWN: [3, 4]}
    # By the latest of its subject, which no record of the batch was written with; no subject: by the newest writer.
    assert rows[f"{mark}.Order"][0].value == Row(id=1, name="a", note=None)
    assert rules(rows[f"{mark}.Refund"]) == [None, DOES_NOT_FIT]
    assert rows[f"{mark}.Refund"][0].value == Row(id=2)
    assert "holds itself" in rows[f"{mark}.Tree"][0].finding.message
    assert rules(rows[UNKNOWN]) == [SCHEMA_UNKNOWN, None]


def test_the_codec_tells_why_records_do_not_fit(topic: Topic) -> None:
    uuid = {"name": "uuid", "type": {"type": "string", "logicalType": "uuid"}}
    (first,) = topic.register(record(ID, uuid))
    odd = b"\x02\x4c" + b"{12345678-1234-5678-1234-567812345678}"
    good = b"\x02\x48" + b"12345678-1234-5678-1234-567812345678"
    frames = topic.frames(
        (first, good), (first, good + b"\x00"), (first, good[:9]), (first, odd), (999_999, good), (first, None)
    )
    rows = decode(frames, topic.cluster).localCheckpoint()
    told = in_order(explained(rows, topic.cluster))
    assert rules(told) == [None, *["AVRO_PAYLOAD_UNREADABLE"] * 2, REFUSED_BY_SPARK, SCHEMA_UNKNOWN, None]
    assert "1 bytes are left over" in told[1].finding.message
    assert told[0].value == Row(id=1, uuid="12345678-1234-5678-1234-567812345678")
    assert [row.asDict() for row in told if row.finding is None] == [
        row.asDict() for row in in_order(rows) if row.finding is None
    ]
    assert explained(rows.where("finding is null"), topic.cluster).count() == 2
