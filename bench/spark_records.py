"""Orders of 15 fields for Spark, in three versions of their schema: what is measured, as files of frames."""

import functools
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from bench import servers
from bench.benchmark import NotMeasured, shared
from tallystick.formats import encoder_of, parse
from tallystick.formats.protobuf.parse import MESSAGE_PROPERTY
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF
from tallystick.rest import RegistryClient
from tallystick.spark.cluster import Cluster
from tallystick.spark.columns import FRAMES
from tallystick.spark.decoding.schemas import Schemas
from tallystick.spark.sessions import session
from tests.maven import missing

DISTINCT = 5_000
"""Different records; they are repeated to the number that is wanted."""

_ADDRESS = {
    "type": "record",
    "name": "Address",
    "fields": [{"name": "city", "type": "string"}, {"name": "zip", "type": "string"}],
}
_FIELDS: list[dict[str, Any]] = [
    {"name": "id", "type": "long"},
    {"name": "customer", "type": "string"},
    {"name": "status", "type": {"type": "enum", "name": "Status", "symbols": ["NEW", "PAID", "SENT"]}},
    {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
    {"name": "currency", "type": "string"},
    {"name": "items", "type": "int"},
    {"name": "is_gift", "type": "boolean"},
    {"name": "note", "type": ["null", "string"], "default": None},
    {"name": "created", "type": {"type": "long", "logicalType": "timestamp-micros"}},
    {"name": "address", "type": _ADDRESS},
    {"name": "weight", "type": "double"},
    {"name": "tags", "type": {"type": "array", "items": "string"}},
    {"name": "attributes", "type": {"type": "map", "values": "string"}},
]
_LATER: list[dict[str, Any]] = [
    {"name": "coupon", "type": ["null", "string"], "default": None},
    {"name": "channel", "type": "string", "default": "web"},
]
VERSIONS: list[list[dict[str, Any]]] = [[*_FIELDS, *_LATER[:n]] for n in range(3)]


def schema(fields: Sequence[dict[str, Any]]) -> SchemaDefinition:
    return SchemaDefinition(AVRO, json.dumps({"type": "record", "name": "Order", "fields": list(fields)}))


def order(number: int) -> dict[str, Any]:
    return {
        "id": number,
        "customer": f"customer-{number:06}",
        "status": ("NEW", "PAID", "SENT")[number % 3],
        "amount": Decimal(number % 100_000) / 100,
        "currency": "EUR",
        "items": number % 7,
        "is_gift": number % 2 == 0,
        "note": "leave it with the neighbours" if number % 3 else None,
        "created": datetime.fromtimestamp(1_760_000_000 + number, UTC),
        "address": {"city": "Hamburg", "zip": "20095"},
        "weight": number / 8,
        "tags": ["new", "summer"],
        "attributes": {"channel": "web", "campaign": f"{number % 50}"},
        "coupon": "SUMMER" if number % 2 else None,
        "channel": "shop",
    }


@functools.cache
def spark() -> SparkSession:
    reason = missing()
    if reason is not None:
        raise NotMeasured(reason)
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "4g",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.showConsoleProgress": "false",
        # Many files are many tasks, so that both cores are busy to the end.
        "spark.sql.files.maxPartitionBytes": "16m",
    }
    opened = session("bench", master="local[2]", connectors=["avro", "kafka", "delta"], settings=settings)
    opened.sparkContext.setLogLevel("ERROR")
    shared.callback(opened.stop)
    return opened


@functools.cache
def folder() -> Path:
    return Path(shared.enter_context(TemporaryDirectory(prefix="tallystick-bench-spark-")))


@functools.cache
def cluster() -> Cluster:
    """Only its registry is asked: the frames lie in files."""
    return Cluster("kafka://127.0.0.1:1", registry=servers.ours().url)


@functools.cache
def schemas() -> Schemas:
    """What a pipeline keeps from batch to batch."""
    opened = Schemas(cluster())
    shared.callback(opened.close)
    return opened


def registered(topic: str, definitions: Sequence[SchemaDefinition]) -> list[int]:
    with RegistryClient(servers.ours().url) as registry:
        ids = [registry.register(f"{topic}-value", definition).id for definition in definitions]
    assert all(id_ is not None for id_ in ids)
    return [id_ for id_ in ids if id_ is not None]


Encode = Callable[[Any], bytes]


@dataclass(frozen=True, slots=True)
class Data:
    """Frames in a file, with what their values need to be read by hand."""

    frames: DataFrame
    ids: Sequence[int]
    texts: Sequence[str]


@functools.cache
def avro(topic: str, count: int, *, versions: int = 3) -> Data:
    """So many orders, of as many versions in turn."""
    return _avro(topic, count, VERSIONS[-versions:])


@functools.cache
def layouts(count: int, number: int) -> Data:
    """So many orders of `number` schemas, each with a field of its own."""
    own = [[*VERSIONS[-1], {"name": f"own_{n}", "type": ["null", "long"], "default": None}] for n in range(number)]
    return _avro(f"layouts-{number}", count, [*own, VERSIONS[-1]][-number:])


def _avro(topic: str, count: int, versions: Sequence[Sequence[dict[str, Any]]]) -> Data:
    definitions = [schema(fields) for fields in versions]
    ids = registered(topic, definitions)
    encoders = [encoder_of(parse(definition)) for definition in definitions]
    frames = written(topic, count, lambda n: encoders[n % len(ids)](_with_own(order(n), versions[n % len(ids)])), ids)
    return Data(frames, ids, [definition.text for definition in definitions])


def _with_own(value: dict[str, Any], fields: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {f["name"]: value.get(f["name"]) for f in fields}


def written(topic: str, count: int, payload: Callable[[int], bytes], ids: Sequence[int]) -> DataFrame:
    """Frames of a topic, in a file that is read by two tasks."""
    path = str(folder() / f"{topic}-{count}")
    rows = [
        (topic, 0, (0, n, -1), None, payload(n), ids[n % len(ids)], None, None, None, None, None, None, None)
        for n in range(DISTINCT)
    ]
    some = spark().createDataFrame(rows, FRAMES)
    times = spark().range(count // DISTINCT).withColumnRenamed("id", "_turn")
    turned = some.crossJoin(times).withColumn(
        "position",
        F.struct(
            F.lit(0).cast("long").alias("ledger"),
            (F.col("position.entry") + F.col("_turn") * DISTINCT).alias("entry"),
            F.lit(-1).alias("batch_index"),
        ),
    )
    stored(turned.drop("_turn").repartition(2), path, "payload")
    return spark().read.parquet(path)


def repeated(data: Data, times: int) -> Data:
    """The same files so many times, by links to them."""
    files = [Path(urlsplit(uri).path) for uri in data.frames.inputFiles()]
    many = files[0].parent.with_name(f"{files[0].parent.name}-times-{times}")
    many.mkdir(exist_ok=True)
    for number, file in itertools.product(range(times), files):
        link = many / f"{number}-{file.name}"
        if not link.exists():
            link.hardlink_to(file)
    return replace(data, frames=spark().read.parquet(str(many)))


def stored(rows: DataFrame, path: str, messages: str) -> None:
    """By Spark's own settings, but for the column of the messages, which do not repeat where they are real: here they
    do, and a dictionary of them would make reading the file a matter of looking up numbers."""
    rows.write.mode("overwrite").option(f"parquet.enable.dictionary#{messages}", "false").parquet(path)


JSON_SCHEMA_TEXT = {
    "type": "object",
    "title": "Order",
    "properties": {
        "id": {"type": "integer"},
        "customer": {"type": "string"},
        "status": {"type": "string"},
        "amount": {"type": "number"},
        "currency": {"type": "string"},
        "items": {"type": "integer"},
        "is_gift": {"type": "boolean"},
        "note": {"type": ["string", "null"]},
        "created": {"type": "integer"},
        "address": {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}},
        "weight": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "attributes": {"type": "object", "additionalProperties": {"type": "string"}},
        "coupon": {"type": ["string", "null"]},
        "channel": {"type": "string"},
    },
    "required": ["id", "customer"],
}
_KEYWORDS = {
    "id": {"minimum": 0},
    "customer": {"minLength": 1, "maxLength": 100},
    "status": {"enum": ["NEW", "PAID", "SENT"]},
    "currency": {"pattern": "^[A-Z]{3}$"},
    "items": {"minimum": 0, "maximum": 1000},
}


@functools.cache
def json_orders(count: int, *, with_keywords: bool) -> Data:
    text: dict[str, Any] = json.loads(json.dumps(JSON_SCHEMA_TEXT))
    for name, keywords in (_KEYWORDS if with_keywords else {}).items():
        text["properties"][name] |= keywords
    topic = f"json-{'keywords' if with_keywords else 'plain'}"
    definition = SchemaDefinition(JSON_SCHEMA, json.dumps(text))
    ids = registered(topic, [definition])
    frames = written(topic, count, lambda n: json.dumps(_as_json(order(n))).encode(), ids)
    return Data(frames, ids, [definition.text])


def _as_json(value: dict[str, Any]) -> dict[str, Any]:
    return {**value, "amount": float(value["amount"]), "created": int(value["created"].timestamp() * 1_000_000)}


PROTO = """syntax = "proto3";
message Address { string city = 1; string zip = 2; }
message Order {
  int64 id = 1;
  string customer = 2;
  int32 status = 3;
  double amount = 4;
  string currency = 5;
  int32 items = 6;
  bool is_gift = 7;
  string note = 8;
  int64 created = 9;
  Address address = 10;
  double weight = 11;
  repeated string tags = 12;
  map<string, string> attributes = 13;
  string coupon = 14;
  string channel = 15;
}
"""


@functools.cache
def protobuf_orders(count: int, *, corrupt: bool) -> Data:
    """A hundredth of them is cut off, if so wanted."""
    topic = f"protobuf-{'corrupt' if corrupt else 'clean'}"
    definition = SchemaDefinition(PROTOBUF, PROTO, properties={MESSAGE_PROPERTY: "Order"})
    ids = registered(topic, [definition])
    encode = encoder_of(parse(definition))

    def payload(n: int) -> bytes:
        value = _as_json(order(n)) | {"status": n % 3, "note": order(n)["note"] or "", "coupon": "SUMMER"}
        whole = b"\x02\x02" + encode(value)
        return whole[:-3] if corrupt and n % 100 == 0 else whole

    return Data(written(topic, count, payload, ids), ids, [PROTO])
