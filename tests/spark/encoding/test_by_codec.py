"""What was read is written so that it is read again as the same; what does not fit is not written."""

import datetime as dt
import json
import pickle
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType, StructField, StructType

from tallystick.formats import catalogue
from tallystick.formats.format import Schema
from tallystick.formats.primitive import PrimitiveSchema
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.key_value import KeyValueEncoding
from tallystick.model.schema_type import SchemaType
from tallystick.spark.decoding import avro, json_schema, protobuf, pulsar_json
from tallystick.spark.decoding import by_codec as reading_by_codec
from tallystick.spark.decoding import key_value as reading_pairs
from tallystick.spark.decoding.decoder import ArrowDecoder
from tallystick.spark.encoding import by_codec, key_value
from tallystick.spark.types import json_schema as json_schema_types
from tallystick.spark.types import primitive as primitive_types
from tallystick.spark.types import protobuf as protobuf_types
from tests.spark.decoding import test_json_schema, test_protobuf, test_pulsar_json


def decoded(decoder: ArrowDecoder, rows: list[bytes]) -> pa.Array:
    return decoder.values(pa.array(rows, pa.binary()), pa.nulls(len(rows), pa.binary()))


def written(schema: Schema, target: DataType, values: pa.Array, **settings: Any) -> list[bytes | None]:
    encoder = pickle.loads(pickle.dumps(by_codec.encoder(schema, target, **settings)))
    payloads: list[bytes | None] = encoder.payloads(values).to_pylist()
    return payloads


def assert_comes_back(
    schema: Schema, target: DataType, decoder: ArrowDecoder, rows: list[bytes], **settings: Any
) -> None:
    good = decoded(decoder, rows).drop_null()
    assert len(good) > 100
    payloads = written(schema, target, good, **settings)
    again = decoded(decoder, [payload for payload in payloads if payload is not None])
    assert None not in payloads
    wrong = [(a, b) for a, b in zip(good.to_pylist(), again.to_pylist(), strict=True) if _sorted(a) != _sorted(b)]
    assert not wrong, wrong[:2]


def _sorted(value: Any) -> str:
    """Maps in order; NaN equal to itself."""
    return repr(test_protobuf._sorted_maps(value))


def test_json_comes_back() -> None:
    schema = test_json_schema.parsed(test_json_schema.ORDER)
    target = json_schema_types.type_of(schema)
    assert_comes_back(schema, target, json_schema.decoder(schema, target), test_json_schema.payloads(31, 200))


def test_pulsar_json_comes_back(spark: SparkSession) -> None:
    schema = test_pulsar_json.parsed(test_pulsar_json.PLAIN)
    target = avro.type_of(spark.range(1), schema)
    decoder = pulsar_json.decoder(schema, schema, target)
    assert_comes_back(schema, target, decoder, test_pulsar_json.payloads(32))
    rich = test_pulsar_json.parsed(test_pulsar_json.RICH)
    rich_type = avro.type_of(spark.range(1), rich)
    value = {
        "id": 1,
        "raw": "AP8=",
        "price": "AQ==",
        "key": "c0ffee00-0000-4000-8000-000000000000",
        "clock": 5,
        "rate": 0.5,
    }
    array = decoded(pulsar_json.decoder(rich, rich, rich_type), [json.dumps(value).encode()])
    (payload,) = written(rich, rich_type, array)
    assert payload is not None
    assert json.loads(payload) == value


@pytest.mark.parametrize("is_framed", [False, True])
def test_protobuf_comes_back(is_framed: bool) -> None:
    schema = test_protobuf.parsed(test_protobuf.PROTO3, "Order")
    target = protobuf_types.type_of(schema)
    prefix = b"\x00" if is_framed else b""
    rows = [prefix + row for row in test_protobuf.payloads(schema, 33, 200)]
    decoder = protobuf.decoder(schema, target, is_framed=is_framed)
    assert_comes_back(schema, target, decoder, rows, is_framed=is_framed)


UTC = dt.UTC
PRIMITIVES: dict[SchemaType, list[Any]] = {
    types.STRING: ["", "é"],
    types.BOOLEAN: [True, False],
    types.INT8: [-128, 127],
    types.INT64: [-(2**63), 2**63 - 1],
    types.FLOAT: [0.5, float("inf")],
    types.DOUBLE: [0.1],
    types.BYTES: [b"", b"\xff"],
    types.TIMESTAMP: [dt.datetime(1969, 12, 31, 23, 59, 59, 999000, UTC)],
    types.TIME: [0, 86_399_999],
    types.INSTANT: [dt.datetime(1969, 12, 31, 23, 59, 59, 999999, UTC)],
    types.LOCAL_DATE: [dt.date(1, 1, 1), dt.date(9999, 12, 31)],
    types.LOCAL_TIME: [0, 86_399_999_999_999],
    types.LOCAL_DATE_TIME: [dt.datetime(2026, 1, 2, 3, 4, 5, 6)],
}


def test_primitives_come_back() -> None:
    for kind, values in PRIMITIVES.items():
        schema = catalogue.parse(SchemaDefinition(kind))
        assert isinstance(schema, PrimitiveSchema)
        target = primitive_types.type_of(schema)
        array = pa.array(values, to_arrow_type(target))
        payloads = written(schema, target, array)
        read = decoded(reading_by_codec.decoder(schema, schema, target), [p for p in payloads if p is not None])
        assert read.equals(array), kind


def test_what_does_not_fit_is_not_written() -> None:
    moment = catalogue.parse(SchemaDefinition(types.TIMESTAMP))
    assert isinstance(moment, PrimitiveSchema)
    target = primitive_types.type_of(moment)
    too_fine = pa.array([dt.datetime(2026, 1, 1, 0, 0, 0, 1, UTC)], to_arrow_type(target))
    assert written(moment, target, too_fine) == [None]
    short = test_json_schema.parsed(
        {"type": "object", "properties": {"a": {"type": "string", "maxLength": 1}, "b": {}}, "required": ["a"]}
    )
    type_ = json_schema_types.type_of(short)
    rows = [{"a": "x", "b": "[1]"}, {"a": "xx"}, {"a": None}, {"a": "x", "b": "no JSON"}]
    assert written(short, type_, pa.array(rows, to_arrow_type(type_))) == [b'{"a":"x","b":[1]}', None, None, None]
    order = test_protobuf.parsed(test_protobuf.PROTO3, "Order")
    one = StructType([StructField("color", json_schema_types.Text().type)])
    colors = pa.array([{"color": "GREEN"}, {"color": "9"}, {"color": "NONE"}], to_arrow_type(one))
    assert written(order, one, colors) == [b"\x80\x01\x01", b"\x80\x01\x09", None]


def test_null_is_written_only_where_the_schema_asks_for_it() -> None:
    raw = {"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "string"}}}
    for required, expected in (([], b"{}"), (["a"], None)):
        schema = test_json_schema.parsed({**raw, "required": required})
        type_ = json_schema_types.type_of(schema)
        assert written(schema, type_, pa.array([{"a": None, "b": None}], to_arrow_type(type_))) == [expected]
    needs = test_json_schema.parsed({"type": "object", "properties": {"a": raw["properties"]["a"]}, "required": ["a"]})  # type: ignore[index]
    type_ = json_schema_types.type_of(needs)
    assert written(needs, type_, pa.array([{"a": None}], to_arrow_type(type_))) == [b'{"a":null}']


@pytest.mark.parametrize("encoding", list(KeyValueEncoding))
def test_pairs_come_back(encoding: KeyValueEncoding) -> None:
    key = catalogue.parse(SchemaDefinition(types.INT64))
    value = test_json_schema.parsed({"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}})
    assert isinstance(key, PrimitiveSchema)
    halves = [primitive_types.type_of(key), json_schema_types.type_of(value)]
    encoders = [by_codec.encoder(schema, type_) for schema, type_ in zip((key, value), halves, strict=True)]
    rows = [
        {"key": 5, "value": {"n": 1}},
        {"key": None, "value": {"n": 1}},
        {"key": 5, "value": {"n": -1}},
        {"key": 5, "value": None},
    ]
    pairs = pa.array(
        rows, to_arrow_type(StructType([StructField(n, t) for n, t in zip(("key", "value"), halves, strict=True)]))
    )
    encoder = key_value.encoder(encoding, *encoders)
    payloads = encoder.payloads(pairs)
    assert [misfit.path for misfit in encoder.misfits(pairs.slice(2, 1))] == ["/value/n"]
    keys = key_value.keys(encoders[0]).payloads(pairs)
    decoders = reading_by_codec.decoder(key, key, halves[0]), json_schema.decoder(value, halves[1])
    decoder = reading_pairs.decoder(encoding, *decoders, *halves)
    assert isinstance(decoder, ArrowDecoder)
    there = payloads.is_valid()
    read = decoder.values(payloads.filter(there), keys.filter(there)).to_pylist()
    is_apart = encoding is KeyValueEncoding.SEPARATED
    assert read == [rows[0], rows[1], *([] if is_apart else [rows[3]])]


def test_a_job_writes_the_same(spark: SparkSession) -> None:
    schema = test_json_schema.parsed({"type": "object", "properties": {"n": {"type": "integer"}}})
    encoder = by_codec.encoder(schema, json_schema_types.type_of(schema))

    def work(batches: Any) -> Any:
        for batch in batches:
            yield pa.RecordBatch.from_arrays([encoder.payloads(batch.column(0))], ["payload"])

    frame = spark.createDataFrame([Row(v=Row(n=1)), Row(v=Row(n=None))], "v struct<n: bigint>").coalesce(1)
    assert [bytes(row.payload) for row in frame.mapInArrow(work, "payload binary").collect()] == [b'{"n":1}', b"{}"]
