"""The Spark engine against what people write by hand: the same records, in the same session."""

from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

from bench import spark_records
from bench.benchmark import Benchmark, Contest, once_ms
from bench.spark_records import Data
from tallystick.spark.decoding.decode import decode

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
    _benchmark("spark_avro_many_ids", _many_ids, "three schemas", 1 / 1.3, "a hundred schemas, each of its own layout"),
]
