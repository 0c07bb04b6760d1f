"""What our codec and the JVM make of the same Avro payloads, side by side."""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tallystick.errors import InvalidRecord, Unsupported
from tallystick.formats.avro.codec import decoder_of, encoder_of
from tallystick.formats.avro.types import Array, AvroSchema, AvroType, Enum, Fixed, Map, Primitive, Record, Union
from tallystick.spark.decoding import avro
from tallystick.spark.decoding.avro_checks import is_one_number
from tallystick.spark.decoding.decoder import ColumnDecoder

CHUNK = 20
"""Pairs that one job reads."""
REFUSED = object()


@dataclass(frozen=True, slots=True)
class Pair:
    writer: AvroSchema
    reader: AvroSchema
    payloads: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one payload: the values of both, or `REFUSED`."""

    pair: Pair
    payload: bytes
    codec: Any
    jvm: Any

    @property
    def is_same(self) -> bool:
        if self.codec is REFUSED or self.jvm is REFUSED:
            return self.codec is self.jvm
        return is_same(self.pair.reader.root, self.codec, self.jvm)


def planned(any_frame: DataFrame, pair: Pair) -> ColumnDecoder | None:
    """None where Spark cannot read the pair."""
    try:
        avro.type_of(any_frame, pair.reader)
        return avro.alone(avro.decoder(pair.writer, pair.reader))
    except Unsupported:
        return None


def outcomes(spark: SparkSession, pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """Of all payloads of the pairs that Spark can read."""
    readable = [(pair, decoder) for pair in pairs if (decoder := planned(spark.range(1), pair)) is not None]
    for start in range(0, len(readable), CHUNK):
        yield from _chunk(spark, readable[start : start + CHUNK])


def _chunk(spark: SparkSession, pairs: Sequence[tuple[Pair, ColumnDecoder]]) -> Iterator[Outcome]:
    rows = [(i, place, payload) for i, (pair, _) in enumerate(pairs) for place, payload in enumerate(pair.payloads)]
    frame = spark.createDataFrame(rows, "pair int, place int, payload binary").coalesce(1)
    read = frame.select("pair", "place", *(_read(i, decoder).alias(f"v{i}") for i, (_, decoder) in enumerate(pairs)))
    checked = read.select("pair", "place", *(_checked(f"v{i}", decoder) for i, (_, decoder) in enumerate(pairs)))
    for row in checked.collect():
        pair = pairs[row.pair][0]
        payload = pair.payloads[row.place]
        found = row[f"v{row.pair}"]
        yield Outcome(pair, payload, by_codec(pair, payload), REFUSED if found is None else found)


def _read(number: int, decoder: ColumnDecoder) -> Any:
    read = F.when(F.col("pair") == number, decoder.value(F.col("payload"), F.lit(None)))
    # Worked out once, as in `decode`.
    return F.when(F.spark_partition_id() >= 0, read)


def _checked(name: str, decoder: ColumnDecoder) -> Any:
    assert decoder.wrong is not None
    wrong = decoder.wrong(F.col(name))
    return F.col(name) if wrong is None else F.when(~wrong, F.col(name)).alias(name)


def by_codec(pair: Pair, payload: bytes) -> Any:
    try:
        return decoder_of(pair.writer, pair.reader)(payload)
    except InvalidRecord:
        return REFUSED


def is_written_by_nobody(writer: AvroSchema, payload: bytes) -> bool:
    """Whether our codec reads it, but writes the value in other bytes, or not at all."""
    try:
        return encoder_of(writer)(decoder_of(writer)(payload)) != payload
    except InvalidRecord:
        return True


def is_same(type_: AvroType, ours: Any, theirs: Any) -> bool:
    """Whether a value of Spark's is the one of our codec."""
    match type_:
        case Union(branches=branches):
            return _is_same_of_union([b for b in branches if b.kind != "null"], type_, ours, theirs)
        case Record(fields=fields):
            return theirs is not None and all(is_same(f.type, ours[f.name], theirs[f.name]) for f in fields)
        case Array(items=items):
            pairs = zip(ours, theirs, strict=False)
            return len(ours) == len(theirs) and all(is_same(items, *pair) for pair in pairs)
        case Map(values=values):
            return ours.keys() == theirs.keys() and all(is_same(values, ours[key], theirs[key]) for key in ours)
        case Enum():
            return bool(ours == theirs)
        case Fixed() | Primitive():
            return bool(plain(type_, ours) == plain(type_, theirs))


def _is_same_of_union(branches: list[AvroType], union: Union, ours: Any, theirs: Any) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    if len(branches) == 1:
        return is_same(branches[0], ours, theirs)
    if is_one_number(union):
        return bool(ours == theirs) or ours != ours
    filled = [(i, part) for i, part in enumerate(theirs) if part is not None]
    if len(filled) != 1:
        return False
    number, part = filled[0]
    try:
        return is_same(branches[number], ours, part)
    except (TypeError, AttributeError, KeyError, IndexError, ValueError, struct.error):
        return False  # a value of another branch


def plain(type_: Fixed | Primitive, value: Any) -> Any:
    """A value as both can be compared: what Spark has no type for is the number or the bytes underneath."""
    match value:
        case UUID():
            return str(value) if type_.kind == "string" else value.bytes
        case str() if type_.logical is not None:
            return value.lower()
        case time():
            micros = ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
            return micros // 1000 if type_.kind == "int" else micros
        case datetime():
            name = "" if type_.logical is None else type_.logical.name
            return value if name.startswith("local-") else value.astimezone(UTC)
        case bytes() | bytearray():
            return bytes(value)
        case date() | Decimal():
            return value
        case bool() | str() | None:
            return value
    if type_.kind == "float":
        return repr(struct.unpack("<f", struct.pack("<f", _fitting(value)))[0])
    return repr(float(value)) if type_.kind == "double" else value


def _fitting(value: Any) -> float:
    """As Java narrows a number: what is too large is infinite."""
    try:
        struct.pack("<f", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return float(value)
