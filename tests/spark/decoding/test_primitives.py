"""Primitives on the JVM give what the codec gives, or refuse what it refuses."""

import datetime as dt
import math
import random
import struct
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from tallystick.errors import IncompatibleSchema, InvalidRecord
from tallystick.formats import catalogue
from tallystick.formats.primitive.parse import CHARSET_PROPERTY
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.model.temporal import EPOCH, Instant, LocalDateTime, LocalTime
from tallystick.spark.decoding import primitive
from tallystick.spark.decoding.decoder import ArrowDecoder, ColumnDecoder
from tallystick.spark.types.primitive import type_of

KINDS = (
    types.STRING,
    types.BOOLEAN,
    types.INT8,
    types.INT16,
    types.INT32,
    types.INT64,
    types.FLOAT,
    types.DOUBLE,
    types.DATE,
    types.TIMESTAMP,
    types.TIME,
    types.INSTANT,
    types.LOCAL_DATE,
    types.LOCAL_TIME,
    types.LOCAL_DATE_TIME,
    types.BYTES,
)
_SPARK_LAST_SECOND = 9_223_372_036_854


def payloads() -> list[bytes]:
    """Bytes of all lengths that some type has, most of them random, some at the edges."""
    chance = random.Random(17)
    found = [b"", b"caf\xc3\xa9", b"\xff\xfe", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xc0\x80", b"\x00", b"\x80"]
    for size in (1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17):
        found += [bytes(size), b"\xff" * size, b"\x7f" + b"\xff" * (size - 1), b"\x80" + bytes(size - 1)]
        found += [chance.randbytes(size) for _ in range(25)]
    for _ in range(60):
        millis = chance.randrange(-(10**14), 10**14)
        day, nano = chance.randrange(-800_000, 3_000_000), chance.randrange(-(10**12), 10**14)
        found += [struct.pack(">q", number) for number in (millis, day, nano)]
        found.append(struct.pack(">qi", millis, nano % 1_100_000_000))
        found.append(struct.pack(">qq", day, nano))
    return found


def by_codec(kind: SchemaType, payload: bytes) -> Any:
    """What the codec gives, as Spark holds it; None where it refuses."""
    schema = catalogue.parse(SchemaDefinition(kind))
    try:
        return _as_spark(kind, catalogue.format_of(kind).decode(schema, payload))
    except InvalidRecord:
        return None


def _as_spark(kind: SchemaType, value: Any) -> Any:
    match value:
        case float() if math.isnan(value):
            return "NaN"
        case Instant():
            return (
                None
                if abs(value.epoch_second) >= _SPARK_LAST_SECOND
                else value.epoch_second * 10**6 + value.nano // 1000
            )
        case dt.datetime():
            return (value - EPOCH) // dt.timedelta(microseconds=1)
        case dt.time():
            return LocalTime.of(value).nano_of_day // 10**6
        case LocalTime():
            return value.nano_of_day
        case LocalDateTime():
            return value.as_datetime()
    return value


def _seen(value: Any) -> Any:
    return (
        "NaN"
        if isinstance(value, float) and math.isnan(value)
        else bytes(value)
        if isinstance(value, bytearray)
        else value
    )


def test_every_kind_agrees_with_the_codec_on_good_and_bad_bytes(spark: SparkSession) -> None:
    rows = payloads()
    columns = []
    for kind in KINDS:
        schema = catalogue.parse(SchemaDefinition(kind))
        decoder = primitive.decoder(schema, type_of(schema))  # type: ignore[arg-type]
        assert isinstance(decoder, ColumnDecoder)
        column = decoder.value(F.col("payload"), F.lit(None))
        if type_of(schema).typeName() == "timestamp":  # type: ignore[arg-type]
            column = F.unix_micros(column)
        columns.append(column.alias(kind))
    frame = spark.createDataFrame([Row(payload=row) for row in rows], "payload binary")
    found = frame.select(*columns).collect()
    for kind in KINDS:
        wrong = [
            (row.hex(), expected, seen)
            for row, got in zip(rows, found, strict=True)
            if (expected := by_codec(kind, row)) != (seen := _seen(got[kind]))
        ]
        assert not wrong, (kind, wrong[:5])


def test_other_character_sets_are_read_in_batches() -> None:
    import pyarrow as pa

    schema = catalogue.parse(SchemaDefinition(types.STRING, properties={CHARSET_PROPERTY: "UTF-16BE"}))
    decoder = primitive.decoder(schema, type_of(schema))  # type: ignore[arg-type]
    assert isinstance(decoder, ArrowDecoder)
    read = decoder.values(pa.array(["é".encode("utf-16-be"), b"\xd8", b""]), pa.nulls(3, pa.binary()))
    assert read.to_pylist() == ["é", None, ""]


def test_a_number_is_read_as_a_wider_one_and_never_as_a_smaller_one(spark: SparkSession) -> None:
    small, large = (catalogue.parse(SchemaDefinition(kind)) for kind in (types.INT16, types.INT64))
    decoder = primitive.decoder(small, type_of(large))  # type: ignore[arg-type]
    assert isinstance(decoder, ColumnDecoder)
    frame = spark.createDataFrame([Row(payload=b"\xff\xfe")], "payload binary")
    read = frame.select(decoder.value(F.col("payload"), F.lit(None)).alias("v"))
    assert (read.schema["v"].dataType, read.collect()[0].v) == (type_of(large), -2)  # type: ignore[arg-type]
    with pytest.raises(IncompatibleSchema, match="bigint, which cannot be read as smallint"):
        primitive.decoder(large, type_of(small))  # type: ignore[arg-type]


def test_a_time_of_day_is_not_read_as_another_number() -> None:
    time, nanos, number = (
        catalogue.parse(SchemaDefinition(kind)) for kind in (types.TIME, types.LOCAL_TIME, types.INT64)
    )
    for writer, reader in ((time, nanos), (nanos, number), (number, nanos)):
        with pytest.raises(IncompatibleSchema, match="a time of day is a number on Spark"):
            primitive.decoder(writer, type_of(reader), reader=reader)  # type: ignore[arg-type]
