"""The Spark engine against what people write by hand: the same records, in the same session."""

import itertools
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.types import StructType

from bench import spark_records
from bench.benchmark import Benchmark, Contest, once_ms
from bench.spark_records import Data
from tallystick.formats import parse
from tallystick.formats.json_schema import JsonSchema
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import JSON_SCHEMA
from tallystick.spark.decoding.decode import decode
from tallystick.spark.decoding.schemas import Schemas
from tallystick.spark.landing.land import land
from tallystick.spark.landing.table import Table
from tallystick.spark.types import json_schema

_COUNT, _QUICK = 1_000_000, 100_000


def consumed(rows: DataFrame) -> None:
    """All columns are made, and nothing is kept."""
    rows.write.format("noop").mode("overwrite").save()


def _decoded(data: Data) -> None:
    rows = decode(data.frames, spark_records.cluster())
    consumed(rows.select("value", "finding"))


def _static(data: Data) -> None:
    consumed(data.frames.select(from_avro("payload", data.texts[-1]).alias("value")))


def _by_hand(values: DataFrame, data: Data) -> None:
    """A filter for each id, and the union of what comes out: the frame's five bytes are taken off first."""
    framed = values.withColumn("id", F.conv(F.hex(F.substring("value", 2, 4)), 16, 10).cast("int"))
    parts = [
        framed.where(F.col("id") == id_).select(
            from_avro(F.expr("substring(value, 6)"), text, {"avroSchema": data.texts[-1]}).alias("value")
        )
        for id_, text in zip(data.ids, data.texts, strict=True)
    ]
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.unionByName(part)
    consumed(whole)


def _against_static(count: int) -> Contest:
    three, one = spark_records.avro("orders", count), spark_records.avro("orders-static", count, versions=1)
    return Contest(partial(_decoded, three), partial(_static, one))


def _against_hand(count: int) -> Contest:
    data = spark_records.avro("orders", count)
    path = str(spark_records.folder() / f"values-{count}")
    head = F.concat(F.lit(b"\x00"), F.unhex(F.lpad(F.hex("schema_id"), 8, "0")))
    data.frames.select(F.concat(head, "payload").alias("value")).write.option("compression", "none").parquet(path)
    return Contest(partial(_decoded, data), partial(_by_hand, spark_records.spark().read.parquet(path), data))


def _many_ids(count: int) -> Contest:
    few, many = spark_records.layouts(count, 3), spark_records.layouts(count, 100)
    return Contest(partial(_decoded, many), partial(_decoded, few))


def _landed(data: Data, place: Path) -> None:
    rows = decode(data.frames, spark_records.cluster())
    land(rows, Table("parquet", str(place)), query="bench", batch_id=next(_BATCHES))


def _landed_by_hand(data: Data, place: Path) -> None:
    value = from_avro("payload", data.texts[-1]).alias("value")
    origin = ["topic", "partition", "position", "schema_id", "schema_version", "key", "event_time", "publish_time"]
    data.frames.select(value, *origin).select("value.*", *origin).write.mode("append").parquet(str(place))


_BATCHES = itertools.count()


def _landing(count: int) -> Contest:
    three, one = spark_records.avro("orders", count), spark_records.avro("orders-static", count, versions=1)
    folder = spark_records.folder()
    return Contest(partial(_landed, three, folder / "landed"), partial(_landed_by_hand, one, folder / "by-hand"))


def _raw(data: Data) -> None:
    consumed(data.frames.select("payload"))


def _protobuf(count: int, *, corrupt: bool) -> Contest:
    data = spark_records.protobuf_orders(count, corrupt=corrupt)
    return Contest(partial(_decoded, data), partial(_raw, data))


def _from_json(data: Data) -> None:
    schema = parse(SchemaDefinition(JSON_SCHEMA, data.texts[-1]))
    assert isinstance(schema, JsonSchema)
    type_ = json_schema.type_of(schema)
    assert isinstance(type_, StructType)
    consumed(data.frames.select(F.from_json(F.col("payload").cast("string"), type_).alias("value")))


def _json(count: int, *, with_keywords: bool) -> Contest:
    data = spark_records.json_orders(count, with_keywords=with_keywords)
    return Contest(partial(_decoded, data), partial(_from_json, data))


def _overhead(_: int) -> Contest:
    """What the driver does for a batch of some records before Spark begins with it."""
    data, schemas = spark_records.avro("orders", spark_records.DISTINCT), Schemas(spark_records.cluster())
    return Contest(lambda: decode(data.frames, schemas))


def _benchmark(row: str, prepare: object, peer: str, goal: float, note: str = "") -> Benchmark:
    assert callable(prepare)
    return Benchmark(
        row=row,
        prepare=partial(prepare, _COUNT),
        prepare_quick=partial(prepare, _QUICK),
        peer_name=peer,
        goal=goal,
        note=note,
        measure=once_ms,
        least_rounds=3,
    )


BENCHMARKS = [
    _benchmark(
        "spark_avro_decode",
        _against_static,
        "from_avro, one static schema",
        0.9,
        "three versions mixed; ids found, every byte and text proven",
    ),
    _benchmark("spark_avro_decode_by_hand", _against_hand, "a filter for each id, and their union", 1.6),
    _benchmark(
        "spark_landing",
        _landing,
        "from_avro, one static schema, Spark's writer",
        1.0,
        "to Parquet, with where each record came from; ours counts, and keeps what does not fit",
    ),
    _benchmark("spark_protobuf", partial(_protobuf, corrupt=False), "the payloads, unread", 0.10),
    _benchmark(
        "spark_protobuf_corrupt", partial(_protobuf, corrupt=True), "the payloads, unread", 0.10, "1 % of them cut off"
    ),
    _benchmark("spark_json", partial(_json, with_keywords=False), "from_json", 1.0),
    _benchmark("spark_json_keywords", partial(_json, with_keywords=True), "from_json", 0.45, "keywords enforced"),
    Benchmark(
        row="spark_batch_overhead",
        prepare=partial(_overhead, 0),
        note="of the driver for a micro-batch whose schemas it knows: ids looked for, and planned; goal under 150 ms",
        least_rounds=5,
    ),
    _benchmark("spark_avro_many_ids", _many_ids, "three schemas", 1 / 1.3, "a hundred schemas, each of its own layout"),
]
