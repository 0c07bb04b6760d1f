"""What our codecs and Spark's decoders make of the same payloads, whatever the formats of writer and reader."""

import datetime as dt
import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, Row, SparkSession
from pyspark.sql import functions as F

from tallystick.errors import IncompatibleSchema, InvalidRecord, Unsupported
from tallystick.formats import Schema, catalogue
from tallystick.formats.avro.types import AvroSchema
from tallystick.formats.json_schema import JsonSchema
from tallystick.formats.json_schema.validate import validate
from tallystick.formats.key_value import KeyValueSchema
from tallystick.formats.key_value.codec import Parts, decode_parts, joined, parted
from tallystick.formats.primitive import PrimitiveSchema
from tallystick.formats.protobuf import ProtobufSchema
from tallystick.model import schema_type as types
from tallystick.model.definition import NO_REFERENCES
from tallystick.model.key_value import KeyValue, KeyValueEncoding
from tallystick.model.schema_type import AVRO, PULSAR_JSON
from tallystick.model.temporal import Instant, LocalDateTime, LocalTime
from tallystick.spark.decoding import avro, formats
from tallystick.spark.decoding.decoder import ArrowDecoder, AvroDecoder, ColumnDecoder
from tallystick.spark.decoding.schemas import Known
from tests.properties.avro_values import values
from tests.properties.protobuf_records import Writer
from tests.spark.decoding.avro_agreement import CHUNK, REFUSED

Payload = tuple[bytes, bytes | None]
"""And the key of its record."""

_LONG = struct.Struct(">q").pack
_PRIMITIVES: dict[str, list[bytes]] = {
    types.STRING: [b"", b"tally", "ä€😀".encode()],
    types.BYTES: [b"", b"tally", b"\xff"],
    types.NONE: [b"", b"tally"],
    types.EXTERNAL: [b"", b"tally"],
    types.BOOLEAN: [b"\x00", b"\x01"],
    types.INT8: [b"\x00", b"\x80", b"\x7f"],
    types.INT16: [b"\x00\x05", b"\x80\x00"],
    types.INT32: [bytes(4), b"\xff" * 4, b"\x41\x42\x43\x44"],
    types.INT64: [bytes(8), b"\xff" * 8, _LONG(1_700_000_000_000)],
    types.FLOAT: [struct.pack(">f", number) for number in (0.0, -0.5)],
    types.DOUBLE: [struct.pack(">d", number) for number in (0.0, 1e300)],
    types.DATE: [_LONG(0), _LONG(1_700_000_000_000)],
    types.TIMESTAMP: [_LONG(0), _LONG(1_700_000_000_000)],
    types.TIME: [_LONG(0), _LONG(86_399_999)],
    types.INSTANT: [struct.pack(">qi", 1_700_000_000, 5000)],
    types.LOCAL_DATE: [_LONG(0), _LONG(19_000)],
    types.LOCAL_TIME: [_LONG(0), _LONG(86_399_999_999_999)],
    types.LOCAL_DATE_TIME: [struct.pack(">qq", 19_000, 5000)],
}
_JSON = (b"{}", b'{"id": 1}', b'"tally"')
_MOST = 5


@dataclass(frozen=True, slots=True)
class Pair:
    writer: Schema
    reader: Schema

    @property
    def is_of_one_type(self) -> bool:
        return self.writer.definition.type == self.reader.definition.type

    def expected(self, payload: Payload) -> Any:
        """What the codec reads: as the reader has it where both are of one type, else as it was written."""
        try:
            return plain(_decoded(self.writer, self.reader if self.is_of_one_type else None, payload))
        except InvalidRecord:
            return REFUSED


def payloads(schema: Schema) -> list[Payload]:
    """Some of the edges of a schema; none where its payloads are not described."""
    if isinstance(schema, KeyValueSchema):
        halves = [[None, *(payload for payload, _ in payloads(half))] for half in (schema.key, schema.value)]
        parts: list[Parts] = list(product(*halves))  # type: ignore[arg-type]  # of two
        if schema.encoding is KeyValueEncoding.INLINE:
            return [(joined(pair), None) for pair in parts]
        return [(value, key) for key, value in parts if value is not None]
    return [(payload, None) for payload in _single(schema)[:_MOST]]


def _single(schema: Schema) -> list[bytes]:
    match schema:
        case AvroSchema() if schema.definition.type in (AVRO, PULSAR_JSON):
            return [catalogue.encoder_of(schema)(value) for value in values(schema.root)]
        case JsonSchema():
            return [text for text in _JSON if not validate(schema, json.loads(text))]
        case ProtobufSchema(root=str(root)):
            return [record.SerializeToString() for record in Writer(schema.types).records(root)]
        case PrimitiveSchema():
            return _PRIMITIVES[schema.definition.type]
    return []


def plan(spark: SparkSession, pair: Pair) -> ColumnDecoder | ArrowDecoder | None:
    """None where `decode` gives all records of the writer a finding."""
    writer, reader = (Known(one.definition, NO_REFERENCES, one) for one in (pair.writer, pair.reader))
    try:
        target = formats.type_of(spark.range(1), reader)
        found = formats.decoder(spark.range(1), writer, reader, target, is_framed=False)
    except (Unsupported, IncompatibleSchema):
        return None
    return avro.alone(found) if isinstance(found, AvroDecoder) else found


def read(
    spark: SparkSession, decoders: Sequence[tuple[ColumnDecoder | ArrowDecoder, list[Payload]]]
) -> Iterator[list[Any]]:
    """What each decoder makes of its payloads; some of the JVM's in one job."""
    on_jvm = [(decoder, rows) for decoder, rows in decoders if isinstance(decoder, ColumnDecoder) and rows]
    parts = (on_jvm[start : start + CHUNK] for start in range(0, len(on_jvm), CHUNK))
    found = (values for part in parts for values in _on_jvm(spark, part))
    for decoder, rows in decoders:
        if isinstance(decoder, ArrowDecoder):
            own, keys = (pa.array(list(half), pa.binary()) for half in zip(*rows, strict=True)) if rows else ([], [])
            yield [_seen(value) for value in decoder.values(own, keys).to_pylist()] if rows else []
        else:
            yield next(found) if rows else []


def _on_jvm(spark: SparkSession, decoders: Sequence[tuple[ColumnDecoder, list[Payload]]]) -> list[list[Any]]:
    rows = [(i, place, *row) for i, (_, own) in enumerate(decoders) for place, row in enumerate(own)]
    frame = spark.createDataFrame(rows, "pair int, place int, payload binary, key binary").coalesce(1)
    values = [
        F.when(F.col("pair") == i, decoder.value(F.col("payload"), F.col("key"))).alias(f"v{i}")
        for i, (decoder, _) in enumerate(decoders)
    ]
    checked = [_checked(f"v{i}", decoder) for i, (decoder, _) in enumerate(decoders)]
    found: list[list[Any]] = [[] for _ in decoders]
    read = frame.select("pair", "place", *values).select("pair", "place", *checked)
    for row in read.orderBy("pair", "place").collect():
        found[row.pair].append(_seen(row[f"v{row.pair}"]))
    return found


def _checked(name: str, decoder: ColumnDecoder) -> Column:
    wrong = None if decoder.wrong is None else decoder.wrong(F.col(name))
    return F.col(name) if wrong is None else F.when(~wrong, F.col(name)).alias(name)


def _seen(value: Any) -> Any:
    return REFUSED if value is None else plain(value)


def plain(value: Any) -> Any:
    """Values of codecs, of Spark's rows and of Arrow's arrays, made alike: what is null is left out."""
    match value:
        case KeyValue():
            return plain({"key": value.key, "value": value.value})
        case Row():
            return plain(value.asDict())
        case dict() if value and all(name.startswith("member") for name in value):
            return next((plain(inner) for inner in value.values() if inner is not None), None)
        case dict():
            return {name: plain(inner) for name, inner in value.items() if inner is not None}
        case bytearray():
            return bytes(value)
        case Instant():
            return dt.datetime.fromtimestamp(value.epoch_second, dt.UTC) + dt.timedelta(microseconds=value.nano // 1000)
        case LocalDateTime():
            return value.as_datetime().isoformat()
        case LocalTime():
            return value.nano_of_day
        case dt.time():
            return LocalTime.of(value).nano_of_day // 10**6
        case dt.datetime():
            return value.astimezone(dt.UTC)
    return value


def _decoded(writer: Schema, reader: Schema | None, payload: Payload) -> Any:
    own, key = payload
    if isinstance(writer, KeyValueSchema):
        parts = parted(own) if writer.encoding is KeyValueEncoding.INLINE else (key, own)
        return decode_parts(writer, parts, reader if isinstance(reader, KeyValueSchema) else None)
    return catalogue.decoder_of(writer, reader)(own)
