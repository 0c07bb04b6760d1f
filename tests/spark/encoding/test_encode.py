"""Values become frames, by schemas that are registered, and come back as they were."""

import json
import secrets
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from tallystick import AvroSchema, JsonSchema, RegistryClient
from tallystick.errors import IncompatibleSchema, InvalidArgument
from tallystick.formats import decoder_of, parse
from tallystick.formats.avro import types as avro_types
from tallystick.messaging.settings import Framing
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO, INT64, JSON_SCHEMA, PROTOBUF
from tallystick.spark.cluster import Cluster
from tallystick.spark.columns import FRAMES
from tallystick.spark.decoding.decode import decode
from tallystick.spark.encoding.encode import DOES_NOT_FIT, encode
from tests.contracts.clusters import Served
from tests.spark.decoding.avro_agreement import is_same

ORDER = {
    "type": "record",
    "name": "shop.Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["OPEN", "PAID"]}},
        {"name": "total", "type": {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2}},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "lines", "type": {"type": "map", "values": {"type": "record", "name": "Line", "fields": [
            {"name": "count", "type": "int"},
            {"name": "at", "type": ["null", {"type": "int", "logicalType": "date"}]}]}}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "by", "type": ["null", "string", "long"]},
        {"name": "uuid", "type": {"type": "string", "logicalType": "uuid"}},
    ],
}  # fmt: skip
DEFINITION = SchemaDefinition(AVRO, json.dumps(ORDER))
TYPE = (
    "struct<id:bigint,state:string,total:decimal(8,2),note:string,tags:array<string>,"
    "lines:map<string,struct<count:int,at:date>>,hash:binary,at:timestamp,by:struct<member0:string,member1:bigint>,"
    "uuid:string>"
)
UUID = "12345678-1234-5678-1234-567812345678"
GOOD = {
    "id": 1,
    "state": "PAID",
    "total": Decimal("-12.34"),
    "note": "ä",
    "tags": ["a", ""],
    "lines": {"k": {"count": 3, "at": date(1, 1, 1)}, "l": {"count": -3, "at": None}},
    "hash": b"xy",
    "at": datetime(2024, 2, 29, 12, 30, 15, 250_001, UTC),
    "by": {"member0": None, "member1": 7},
    "uuid": UUID,
}
MISFITS: list[dict[str, Any]] = [
    {"id": None},
    {"state": "LOST"},
    {"state": None},
    {"total": None},
    {"tags": ["a", None]},
    {"tags": None},
    {"lines": {"k": {"count": None, "at": None}}},
    {"lines": {"k": None}},
    {"hash": b"xyz"},
    {"hash": b""},
    {"by": {"member0": "a", "member1": 7}},
    {"by": {"member0": None, "member1": None}},
    {"uuid": "none"},
    {"uuid": None},
    {"at": None},
]
PATHS = [
    *("/id", "/state", "/state", "/total", "/tags/1", "/tags", "/lines/k/count", "/lines/k", "/hash", "/hash"),
    *("/by", "/by", "/uuid", "/uuid", "/at"),
]
"""To the thing in each of them that does not fit."""


@pytest.fixture(params=["cluster", "registry"])
def cluster(request: pytest.FixtureRequest, served: Served) -> Cluster:
    if request.param == "cluster":
        return Cluster(served.pulsar, served.confluent)
    return Cluster(served.pulsar, served.confluent, framing=Framing.PAYLOAD)


def topic() -> str:
    return f"encoded-{secrets.token_hex(4)}"


def orders(spark: SparkSession, values: list[dict[str, Any] | None]) -> DataFrame:
    rows = [(str(n).encode(), value) for n, value in enumerate(values)]
    return spark.createDataFrame(rows, f"key binary, value {TYPE}").coalesce(1)


def test_values_come_back_and_misfits_have_a_finding(spark: SparkSession, cluster: Cluster) -> None:
    name = topic()
    others = [
        {**GOOD, "note": None, "by": None, "tags": [], "lines": {}},
        {**GOOD, "by": {"member0": "b", "member1": None}},
    ]
    values = [GOOD, *others, None, *({**GOOD, **wrong} for wrong in MISFITS)]
    frames = encode(orders(spark, values), cluster, name, DEFINITION).localCheckpoint()
    assert frames.columns == [*FRAMES.names, "finding"]
    rows = sorted(frames.collect(), key=lambda row: int(row.key))
    assert [row.finding and row.finding.rule for row in rows] == [None] * 4 + [DOES_NOT_FIT] * len(MISFITS)
    assert [row.finding.path for row in rows[4:]] == PATHS
    assert "`/lines/k/count` is null and must not be" in rows[4 + 6].finding.message
    assert [row.payload is None for row in rows] == [False] * 3 + [True] * (1 + len(MISFITS))
    assert {row.topic for row in rows} == {name}
    told = {(row.schema_id is None, row.schema_version, row.schema_mark) for row in rows[:3]}
    assert told == {(not cluster.is_framed, 1, None)}
    assert rows[3].schema_id is rows[3].schema_version is None
    read = decode(frames.where(F.col("finding").isNull()).select(*FRAMES.names), cluster)
    back = {int(row.key): row.value for row in read.collect()}
    given = {int(row.key): row.value for row in orders(spark, values[:4]).collect()}
    assert back == given
    _assert_codec_reads(rows[:3], given)


def _assert_codec_reads(rows: list[Row], given: dict[int, Any]) -> None:
    schema = parse(DEFINITION)
    assert isinstance(schema, avro_types.AvroSchema)
    for row in rows:
        assert is_same(schema.root, decoder_of(schema)(bytes(row.payload)), given[int(row.key)])


def test_fields_are_taken_by_name_and_numbers_widened(spark: SparkSession, served: Served) -> None:
    cluster, name = Cluster(served.pulsar), topic()
    fields = [{"name": "id", "type": "long"}, {"name": "price", "type": "double"}]
    schema = AvroSchema(json.dumps({"type": "record", "name": "R", "fields": fields}))
    rows = spark.sql("select struct(cast(1.5 as float) as price, 7 as id) as value")
    read = decode(encode(rows, cluster, name, schema).drop("finding"), cluster)
    assert [row.value for row in read.collect()] == [Row(id=7, price=1.5)]


def test_fields_that_are_left_out_have_their_default(spark: SparkSession, served: Served) -> None:
    cluster, name = Cluster(served.pulsar), topic()
    fields = [{"name": "id", "type": "long"}, {"name": "state", "type": "string", "default": "OPEN"}]
    schema = AvroSchema(json.dumps({"type": "record", "name": "R", "fields": fields}))
    rows = spark.sql("select struct(7L as id) as value union all select struct(cast(null as long) as id)")
    frames = encode(rows, cluster, name, schema).localCheckpoint()
    assert [row.finding.rule for row in frames.where("finding is not null").collect()] == [DOES_NOT_FIT]
    read = decode(frames.where("finding is null").drop("finding"), cluster)
    assert [row.value for row in read.collect()] == [Row(id=7, state="OPEN")]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select struct(1L as id, 'a' as name) as value", "no field `/name`"),
        ("select struct('a' as name) as value", "no field"),
        ("select struct('a' as id) as value", "id"),
    ],
)
def test_values_of_another_type_are_refused_before_anything_is_registered(
    spark: SparkSession, served: Served, query: str, message: str
) -> None:
    cluster, name = Cluster(served.pulsar), topic()
    schema = AvroSchema(json.dumps({"type": "record", "name": "R", "fields": [{"name": "id", "type": "long"}]}))
    with pytest.raises(IncompatibleSchema, match=message):
        encode(spark.sql(query), cluster, name, schema)


def test_rows_without_a_value_are_refused(spark: SparkSession, served: Served) -> None:
    with pytest.raises(InvalidArgument, match="no column 'value'"):
        encode(spark.range(1), Cluster(served.pulsar), topic(), DEFINITION)


def test_other_formats_are_written_too(spark: SparkSession, served: Served) -> None:
    cluster = Cluster(served.pulsar, served.confluent, framing=Framing.PAYLOAD)
    text = 'syntax = "proto3"; message Other { int32 n = 1; } message Order { int64 id = 1; string name = 2; }'
    proto = SchemaDefinition(PROTOBUF, text, properties={"message": "Order"})
    schema = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
        "required": ["id"],
    }
    rows = spark.sql("select struct(7L as id, 'ä' as name) as value")
    for definition in (JsonSchema(json.dumps(schema)), proto):
        name = topic()
        frames = encode(rows, cluster, name, definition)
        row = frames.collect()[0]
        assert row.finding is None
        assert row.schema_id is not None
    number = encode(spark.sql("select 7L as value"), cluster, topic(), SchemaDefinition(INT64)).collect()[0]
    assert (number.schema_id, number.schema_mark) == (None, b"")


def test_the_subject_can_be_named(spark: SparkSession, served: Served) -> None:
    cluster, subject = Cluster(served.pulsar, served.confluent, framing=Framing.PAYLOAD), f"own-{secrets.token_hex(4)}"
    frames = encode(orders(spark, [GOOD]), cluster, topic(), DEFINITION, subject=subject)
    with RegistryClient(served.confluent) as registry:
        assert registry.by_version(subject).id == frames.collect()[0].schema_id


def test_the_finding_of_another_format_is_the_codecs(spark: SparkSession, served: Served) -> None:
    text = '{"type": "object", "properties": {"n": {"type": "integer", "maximum": 5}, "t": {"type": "string"}}}'
    schema = SchemaDefinition(JSON_SCHEMA, text)
    cluster = Cluster(served.pulsar, served.confluent, framing=Framing.PAYLOAD)
    rows = spark.createDataFrame([({"n": 5},), (None,), ({"n": 6},)], "value struct<n: bigint>").coalesce(1)
    good, tombstone, bad = encode(rows, cluster, topic(), schema).collect()
    assert good.finding is tombstone.finding is None
    assert (bad.finding.rule, bad.finding.path) == (DOES_NOT_FIT, "/n")
    assert "6 is greater than the maximum of 5" in bad.finding.message
