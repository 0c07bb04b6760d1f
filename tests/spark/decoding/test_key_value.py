"""Pairs on the JVM and in batches are read as the codec reads them."""

import json
import pickle
import random
import struct
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from tallystick.errors import InvalidRecord
from tallystick.formats import catalogue
from tallystick.formats.json_schema import JsonSchema
from tallystick.formats.key_value.codec import decode_parts, parted
from tallystick.formats.key_value.parse import KeyValueSchema
from tallystick.formats.primitive import PrimitiveSchema
from tallystick.model.definition import NO_REFERENCES, SchemaDefinition
from tallystick.model.key_value import KeyValueEncoding
from tallystick.model.schema_type import KEY_VALUE
from tallystick.spark.decoding import by_codec, json_schema, key_value, primitive
from tallystick.spark.decoding.decode import DOES_NOT_FIT
from tallystick.spark.decoding.decoder import ArrowDecoder, ColumnDecoder
from tallystick.spark.decoding.explaining import Explanation
from tallystick.spark.decoding.schemas import Known, Told, Writer
from tallystick.spark.types import json_schema as json_schema_types
from tallystick.spark.types import primitive as primitive_types

INT64, STRING = {"type": "INT64"}, {"type": "STRING"}
ORDER = {
    "type": "JSON_SCHEMA",
    "schema": '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}',
}


def parsed(key: Any, value: Any, encoding: KeyValueEncoding) -> KeyValueSchema:
    text = json.dumps({"encoding": encoding, "key": key, "value": value})
    schema = catalogue.parse(SchemaDefinition(KEY_VALUE, text))
    assert isinstance(schema, KeyValueSchema)
    return schema


def on_jvm(schema: KeyValueSchema) -> ColumnDecoder:
    assert isinstance(schema.key, PrimitiveSchema)
    assert isinstance(schema.value, PrimitiveSchema)
    types = [primitive_types.type_of(half) for half in (schema.key, schema.value)]
    key, value = (primitive.decoder(half, type_) for half, type_ in zip((schema.key, schema.value), types, strict=True))
    decoder = key_value.decoder(schema.encoding, key, value, *types)
    assert isinstance(decoder, ColumnDecoder)
    return decoder


def in_batches(schema: KeyValueSchema) -> ArrowDecoder:
    assert isinstance(schema.key, PrimitiveSchema)
    assert isinstance(schema.value, JsonSchema)
    types = [primitive_types.type_of(schema.key), json_schema_types.type_of(schema.value)]
    key = by_codec.decoder(schema.key, schema.key, types[0])
    decoder = key_value.decoder(schema.encoding, key, json_schema.decoder(schema.value, types[1]), *types)
    assert isinstance(decoder, ArrowDecoder)
    return decoder


def by_codec_of(schema: KeyValueSchema, payload: bytes, key: bytes | None) -> Any:
    try:
        parts = parted(payload) if schema.encoding is KeyValueEncoding.INLINE else (key, payload)
        pair = decode_parts(schema, parts)
    except InvalidRecord:
        return None
    return pair.key, pair.value


def _framed(part: bytes | None) -> bytes:
    return struct.pack(">i", -1) if part is None else struct.pack(">i", len(part)) + part


def inline(values: list[bytes | None]) -> list[bytes]:
    chance = random.Random(23)
    keys = [None, bytes(8), b"\xff" * 8, b"short", b""]
    whole = [_framed(key) + _framed(value) for key in keys for value in values]
    cut = [pair[: chance.randrange(len(pair))] for pair in whole]
    flipped = [
        pair[:at] + bytes([pair[at] ^ 0x81]) + pair[at + 1 :] for pair in whole for at in range(min(4, len(pair)))
    ]
    lies = [struct.pack(">i", length) + bytes(12) for length in (-2, 2**31 - 1, -(2**31), 12, 13, 9, 8)]
    return [*whole, *cut, *flipped, *lies, *(pair + b"\x00" for pair in whole), b""]


def test_inline_pairs_on_the_jvm_agree_with_the_codec(spark: SparkSession) -> None:
    schema = parsed(INT64, STRING, KeyValueEncoding.INLINE)
    rows = inline([None, b"", b"caf\xc3\xa9", b"\xff", b"a" * 300])
    frame = spark.createDataFrame([Row(payload=row) for row in rows], "payload binary")
    found = frame.select(on_jvm(schema).value(F.col("payload"), F.lit(None)).alias("v")).collect()
    seen = [None if row.v is None else (row.v.key, row.v.value) for row in found]
    expected = [by_codec_of(schema, row, None) for row in rows]
    assert sum(pair is not None for pair in expected) >= 12
    wrong = [(row.hex(), e, v) for row, e, v in zip(rows, expected, seen, strict=True) if e != v]
    assert not wrong, wrong[:3]


def test_separated_pairs_take_the_key_of_the_record(spark: SparkSession) -> None:
    schema = parsed(INT64, STRING, KeyValueEncoding.SEPARATED)
    rows = [(b"v", bytes(7) + b"\x05"), (b"v", None), (b"v", b"short"), (b"\xff", bytes(8)), (b"", b"\xff" * 8)]
    frame = spark.createDataFrame(rows, "payload binary, key binary")
    found = frame.select(on_jvm(schema).value(F.col("payload"), F.col("key")).alias("v")).collect()
    seen = [None if row.v is None else (row.v.key, row.v.value) for row in found]
    assert seen == [(5, "v"), (None, "v"), None, None, (-1, "")]
    assert seen == [by_codec_of(schema, payload, key) for payload, key in rows]


def test_pairs_in_batches_agree_with_the_codec() -> None:
    schema = parsed(INT64, ORDER, KeyValueEncoding.INLINE)
    rows = inline([None, b'{"n":1}', b'{"n":"1"}', b"{}", b""])
    found = in_batches(schema).values(pa.array(rows, pa.binary()), pa.nulls(len(rows), pa.binary())).to_pylist()
    seen = [None if pair is None else (pair["key"], pair["value"]) for pair in found]
    assert seen == [by_codec_of(schema, row, None) for row in rows]
    apart = parsed(INT64, ORDER, KeyValueEncoding.SEPARATED)
    values = in_batches(apart).values(pa.array([b'{"n":1}'] * 3), pa.array([bytes(8), None, b"short"]))
    assert values.to_pylist() == [{"key": 0, "value": {"n": 1}}, {"key": None, "value": {"n": 1}}, None]


def test_halves_that_work_in_different_places_are_refused() -> None:
    schema = parsed(INT64, ORDER, KeyValueEncoding.INLINE)
    assert isinstance(schema.key, PrimitiveSchema)
    assert isinstance(schema.value, JsonSchema)
    types = [primitive_types.type_of(schema.key), json_schema_types.type_of(schema.value)]
    key, value = primitive.decoder(schema.key, types[0]), json_schema.decoder(schema.value, types[1])
    with pytest.raises(TypeError, match="by_codec"):
        key_value.decoder(schema.encoding, key, value, *types)


@pytest.mark.parametrize("encoding", list(KeyValueEncoding))
def test_the_reason_is_in_one_of_the_halves(encoding: KeyValueEncoding) -> None:
    schema = parsed(INT64, ORDER, encoding)
    known = Known(schema.definition, NO_REFERENCES, schema)
    told = Told("pairs", None, 1, None)
    explanation = pickle.loads(pickle.dumps(Explanation.of([Writer(told, known, 1)], known)))
    halves = [(b"short", b'{"n":1}'), (bytes(8), b'{"n":"x"}')]
    is_inline = encoding is KeyValueEncoding.INLINE
    payloads = [_framed(key) + _framed(value) if is_inline else value for key, value in halves]
    columns = {
        "topic": pa.array(["pairs"] * 2),
        "schema_id": pa.nulls(2, pa.int64()),
        "schema_version": pa.array([1, 1]),
        "schema_mark": pa.nulls(2, pa.binary()),
        "payload": pa.array(payloads),
        "key": pa.array([None if is_inline else key for key, _ in halves], pa.binary()),
        "finding": pa.array([{"rule": DOES_NOT_FIT, "message": "", "fix": "", "path": ""}] * 2),
    }
    found = explanation.findings(columns).to_pylist()
    assert [finding["path"] for finding in found] == ["/key", "/value/n"]
    assert all(finding["message"].startswith("in the ") for finding in found)
