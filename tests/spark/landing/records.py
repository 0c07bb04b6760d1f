"""Decoded rows by hand, as `decode` gives them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructField, StructType

from tallystick.spark.columns import FINDING, FINDING_TYPE, FRAMES, VALUE

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TOPIC = "persistent://public/default/orders"
REASON = ("RECORD_DOES_NOT_FIT", "it is cut off", "send it again", None)
ORDER = "id long, country string, tags map<string,int>, lines array<struct<sku:string,price:decimal(9,2)>>"


def decoded(
    spark: SparkSession, kind: DataType | str, rows: Sequence[tuple[Any, ...]], partitions: int = 2
) -> DataFrame:
    """`rows` are (value, version), with "bad" for a value that does not fit and None for a tombstone."""
    type_ = StructType.fromDDL(kind) if isinstance(kind, str) else kind
    schema = StructType([*FRAMES.fields, StructField(VALUE, type_), StructField(FINDING, FINDING_TYPE)])
    return spark.createDataFrame([_row(n, *row) for n, row in enumerate(rows)], schema).repartition(partitions)


def _row(number: int, value: Any, version: int | None) -> tuple[Any, ...]:
    is_bad = value == "bad"
    payload = None if value is None else f"payload {number}".encode()
    return (
        TOPIC,
        number % 2,
        (7, number, -1),
        f"key {number}".encode(),
        payload,
        None,
        version,
        b"\x00mark" if is_bad else None,
        {"number": str(number)},
        AT,
        AT,
        None,
        None,
        None if is_bad else value,
        REASON if is_bad else None,
    )


def order(number: int, country: str = "de") -> tuple[Any, ...]:
    return (number, country, {"a": number}, [("sku", None), (None, None)])
