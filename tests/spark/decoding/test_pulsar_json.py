"""PULSAR_JSON and PULSAR_PROTOBUF are read as the codecs read them, by the reader's schema."""

import datetime as dt
import json
import pickle
import random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tallystick.errors import InvalidRecord, Unsupported
from tallystick.formats import catalogue
from tallystick.formats.avro.types import AvroSchema
from tallystick.formats.pulsar_protobuf.descriptor import PARSING_INFO
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import PULSAR_JSON, PULSAR_PROTOBUF, SchemaType
from tallystick.spark.decoding import avro, by_codec, pulsar_json
from tests.spark.decoding.test_json_schema import mutated

PLAIN: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "n", "type": "int", "default": 7},
        {"name": "name", "type": ["null", "string"], "default": None},
        {"name": "ratio", "type": "double"},
        {"name": "paid", "type": "boolean"},
        {"name": "color", "type": {"type": "enum", "name": "Color", "symbols": ["RED", "GREEN"]}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}]},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "scores", "type": {"type": "map", "values": "long"}, "default": {"a": 1}},
        {"name": "inner", "type": {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": "int"}]}},
    ],
}
RICH: dict[str, Any] = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "raw", "type": "bytes"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "key", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "clock", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "rate", "type": "float"},
    ],
}


def parsed(raw: Any, kind: SchemaType = PULSAR_JSON, **properties: str) -> AvroSchema:
    schema = catalogue.parse(SchemaDefinition(kind, json.dumps(raw), (), properties), is_lenient=True)
    assert isinstance(schema, AvroSchema)
    return schema


def order(chance: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": chance.choice([0, -(2**63), 2**63 - 1, 5]),
        "n": chance.choice([0, -(2**31), 2**31 - 1]),
        "name": chance.choice([None, "é", ":x"]),
        "ratio": chance.choice([0, 1.5, 7, "NaN", "Infinity", -0.0]),
        "paid": chance.random() < 0.5,
        "color": chance.choice(["RED", "GREEN"]),
        "at": chance.choice([0, -1, 1_700_000_000_123, 253_402_300_799_999]),
        "day": chance.choice([None, 0, 19_000, -719_162]),
        "tags": ["a"] * chance.randrange(3),
        "scores": {"a": 1, "b": -2},
        "inner": {"x": 1, "surplus": [1]},
        "surplus": None,
    }
    return {name: value for name, value in found.items() if chance.random() < 0.97}


ODD: tuple[dict[str, Any], ...] = (
    {"n": 1.0},
    {"n": 2**31},
    {"id": 2**63},
    {"id": "5"},
    {"id": True},
    {"at": 10**17},
    {"day": 10**9},
    {"color": "BLUE"},
    {"ratio": "x"},
    {"ratio": None},
    {"tags": "ab"},
    {"tags": [None]},
    {"scores": {"a": 1.5}},
    {"inner": []},
    {"inner": None},
    {"paid": 1},
)


def payloads(seed: int) -> list[bytes]:
    chance = random.Random(seed)
    whole = [order(chance) for _ in range(250)]
    base = {**order(random.Random(1)), "id": 1, "ratio": 1.5, "paid": True, "color": "RED", "at": 0, "day": None}
    base |= {"tags": [], "inner": {"x": 1}}
    odd = [{**base, **change} for change in ODD]
    texts = [json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode() for one in [*whole, base, *odd]]
    return [*texts, *(mutated(chance, text) for text in texts), b"null", b"[]", b""]


def read(schema: AvroSchema, reader: AvroSchema, rows: list[bytes], spark: SparkSession) -> list[Any]:
    target = avro.type_of(spark.range(1), reader)
    kind = schema.definition.type
    made = by_codec.decoder(schema, reader, target) if kind == PULSAR_PROTOBUF else None
    decoder = pickle.loads(pickle.dumps(made or pulsar_json.decoder(schema, reader, target)))
    found: list[Any] = decoder.values(pa.array(rows, pa.binary()), pa.nulls(len(rows), pa.binary())).to_pylist()
    return [_plain(value) for value in found]


def by_its_codec(schema: AvroSchema, reader: AvroSchema, payload: bytes) -> Any:
    try:
        return _plain(catalogue.format_of(schema.definition.type).decode(schema, payload, reader))
    except InvalidRecord:
        return None


def _plain(value: Any) -> Any:
    """In a form in which both sides can be compared."""
    match value:
        case dict():
            return {name: _plain(inner) for name, inner in value.items()}
        case list() if value and all(isinstance(item, tuple) for item in value):
            return {key: _plain(item) for key, item in value}
        case list():
            return [_plain(item) for item in value]
        case dt.datetime():
            return value.astimezone(dt.UTC)
        case dt.time():
            return (value.hour * 3600 + value.minute * 60 + value.second) * 1000 + value.microsecond // 1000
        case float():
            return repr(value)
    return str(value) if type(value).__name__ == "UUID" else value


def assert_agree(schema: AvroSchema, reader: AvroSchema, rows: list[bytes], spark: SparkSession) -> None:
    expected = [by_its_codec(schema, reader, row) for row in rows]
    assert any(value is not None for value in expected)
    found = read(schema, reader, rows, spark)
    # An empty map and an empty list look alike in Arrow's Python values.
    wrong = [
        (row, e, v)
        for row, e, v in zip(rows, expected, found, strict=True)
        if repr(e).replace("{}", "[]") != repr(v).replace("{}", "[]")
    ]
    assert not wrong, (len(wrong), wrong[:2])


def test_every_payload_is_read_or_refused_as_the_codec_does(spark: SparkSession) -> None:
    schema = parsed(PLAIN)
    assert_agree(schema, schema, payloads(11), spark)


def test_another_reader_gets_its_defaults_and_its_names(spark: SparkSession) -> None:
    changed = [field for field in PLAIN["fields"] if field["name"] not in ("tags", "paid")]
    changed = [{**f, "name": "number", "aliases": ["n"]} if f["name"] == "n" else f for f in changed]
    changed.append({"name": "added", "type": "string", "default": "none"})
    changed.append({"name": "maybe", "type": ["null", "long"], "default": None})
    assert_agree(parsed(PLAIN), parsed({**PLAIN, "fields": changed}), payloads(12), spark)
    wider = [{**f, "type": "double"} if f["name"] == "id" else f for f in PLAIN["fields"]]
    assert_agree(parsed(PLAIN), parsed({**PLAIN, "fields": wider}), payloads(13)[:100], spark)


def test_what_native_code_cannot_prove_the_codec_reads(spark: SparkSession) -> None:
    schema = parsed(RICH)
    good = {
        "id": 1,
        "raw": "AP8=",
        "price": "AQ==",
        "key": "c0ffee00-0000-4000-8000-000000000000",
        "clock": 5,
        "rate": 0.5,
    }
    odd: tuple[dict[str, Any], ...] = (
        {},
        {"raw": "!"},
        {"price": 1.25},
        {"price": 1.255},
        {"key": "x"},
        {"clock": 86_400_000},
        {"rate": 1e39},
    )
    rows = [json.dumps({**good, **change}).encode() for change in odd]
    assert_agree(schema, schema, rows, spark)


def test_unions_of_several_types_are_no_column() -> None:
    union = {"type": "record", "name": "R", "fields": [{"name": "u", "type": ["int", "string"]}]}
    with pytest.raises(Unsupported, match="has no type of its own in Spark"):
        pulsar_json.decoder(parsed(union), parsed(union), None)  # type: ignore[arg-type]


FLAT: dict[str, Any] = {
    "type": "record",
    "name": "Flat",
    "fields": [
        {"name": "id", "type": "long", "default": 0},
        {"name": "name", "type": "string"},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
    ],
}
NUMBERS = json.dumps(
    [
        {"number": 1, "name": "id", "type": "INT64", "label": "LABEL_OPTIONAL"},
        {"number": 2, "name": "name", "type": "STRING", "label": "LABEL_OPTIONAL"},
        {"number": 3, "name": "tags", "type": "STRING", "label": "LABEL_REPEATED"},
    ]
)


def test_pulsar_protobuf_is_read_by_the_numbers_in_its_property(spark: SparkSession) -> None:
    schema = parsed(FLAT, PULSAR_PROTOBUF, **{PARSING_INFO: NUMBERS})
    rows = [b"", b"\x08\x05\x12\x01x\x1a\x01a\x1a\x01b", b"\x08", b"\x12\x02\xff\xfe", b"\x20\x01", b"\x12\x05x"]
    assert_agree(schema, schema, rows, spark)
    target = avro.type_of(spark.range(1), schema)
    bare = parsed(FLAT, PULSAR_PROTOBUF)
    with pytest.raises(Unsupported, match="the numbers of the fields are not known"):
        by_codec.decoder(bare, bare, target)
