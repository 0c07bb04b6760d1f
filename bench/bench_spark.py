"""The Spark engine against what people write by hand: the same records, in the same session."""

import itertools
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.types import StructType

from bench import spark_records, spark_topics
from bench.benchmark import Benchmark, Contest, Work, once_ms, told
from bench.spark_records import Data
from tallystick.formats import parse
from tallystick.formats.json_schema import JsonSchema
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import JSON_SCHEMA
from tallystick.spark.cluster import Cluster
from tallystick.spark.decoding.decode import decode
from tallystick.spark.decoding.schemas import Schemas
from tallystick.spark.landing.land import land
from tallystick.spark.landing.table import Table
from tallystick.spark.types import json_schema

_COUNT, _QUICK = 1_000_000, 100_000
_GROWN = 20
"""Times as many records, where it is measured whether each costs the same."""


def consumed(rows: DataFrame) -> None:
    """All columns are made, and nothing is kept."""
    rows.write.format("noop").mode("overwrite").save()


def _decoded(data: Data) -> None:
    _read(data.frames, spark_records.schemas())


def _read(frames: DataFrame, cluster: Cluster | Schemas) -> None:
    consumed(decode(frames, cluster).select("value", "finding"))


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
    spark_records.stored(data.frames.select(F.concat(head, "payload").alias("value")), path, "value")
    return Contest(partial(_decoded, data), partial(_by_hand, spark_records.spark().read.parquet(path), data))


def _many_ids(count: int) -> Contest:
    few, many = spark_records.layouts(count, 3), spark_records.layouts(count, 100)
    return Contest(partial(_decoded, many), partial(_decoded, few))


def _landed(data: Data, table: Table) -> None:
    rows = decode(data.frames, spark_records.schemas())
    land(rows, table, query="bench", batch_id=next(_BATCHES))


def _landed_by_hand(data: Data, table: Table) -> None:
    value = from_avro("payload", data.texts[-1]).alias("value")
    origin = ["topic", "partition", "position", "schema_id", "schema_version", "key", "event_time", "publish_time"]
    rows = data.frames.select(value, *origin).select("value.*", *origin)
    rows.write.format(table.format).mode("append").save(table.place)


_BATCHES = itertools.count()


def _landing(count: int, *, format: str) -> Contest:
    three, one = spark_records.avro("orders", count), spark_records.avro("orders-static", count, versions=1)
    ours, by_hand = (Table(format, str(spark_records.folder() / f"{who}-{format}")) for who in ("landed", "by-hand"))
    return Contest(partial(_landed, three, ours), partial(_landed_by_hand, one, by_hand))


def _source(count: int) -> Contest:
    cluster, topic = spark_topics.cluster(), spark_topics.frames(count)
    path = str(spark_records.folder() / f"source-{count}")
    spark_records.stored(topic, path, "payload")
    files = spark_records.spark().read.parquet(path)
    return Contest(partial(_read, topic, cluster), partial(_read, files, cluster))


def _growth(count: int) -> Contest:
    data = spark_records.avro("orders", count)
    many = spark_records.repeated(data, _GROWN)

    def mean_us(work: Work, times: int, records: int) -> float:
        return sum(once_ms(work) for _ in range(times)) * 1000 / times / records

    # The few records as often as they are few: one round of each side takes the same time.
    return Contest(
        partial(mean_us, partial(_decoded, many), 1, _GROWN * count),
        partial(mean_us, partial(_decoded, data), _GROWN // 4, count),
    )


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


def _benchmark(row: str, prepare: object, peer: str, goal: float | None, note: str = "") -> Benchmark:
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
        warm_rounds=3,
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
        partial(_landing, format="parquet"),
        "from_avro, one static schema, Spark's writer",
        1.0,
        "to Parquet, with where each record came from; ours counts, and keeps what does not fit",
    ),
    _benchmark(
        "spark_landing_delta",
        partial(_landing, format="delta"),
        "from_avro, one static schema, Delta's writer",
        None,
        "the same to Delta",
    ),
    _benchmark(
        "spark_source",
        _source,
        "decoding the same records from Parquet files",
        0.25,
        "the embedded broker, on the same machine, into decoded rows",
    ),
    _benchmark("spark_protobuf", partial(_protobuf, corrupt=False), "the payloads, unread", 0.10),
    _benchmark(
        "spark_protobuf_corrupt", partial(_protobuf, corrupt=True), "the payloads, unread", 0.10, "1 % of them cut off"
    ),
    _benchmark("spark_json", partial(_json, with_keywords=False), "from_json", 1.0),
    _benchmark("spark_json_keywords", partial(_json, with_keywords=True), "from_json", 0.45, "keywords enforced"),
    Benchmark(
        row="spark_growth",
        prepare=partial(_growth, _COUNT),
        prepare_quick=partial(_growth, _QUICK),
        peer_name=f"the same with {_GROWN} times less",
        goal=0.9,
        note=f"decoding, for each record: {_GROWN}M against 1M, in a quick run 2M against 100k; 1 is flat",
        unit="µs",
        measure=told,
    ),
    Benchmark(
        row="spark_batch_overhead",
        prepare=partial(_overhead, 0),
        note="of the driver for a micro-batch whose schemas it knows: ids looked for, and planned; goal under 150 ms",
        least_rounds=5,
    ),
    _benchmark("spark_avro_many_ids", _many_ids, "three schemas", 1 / 1.3, "a hundred schemas, each of its own layout"),
]
