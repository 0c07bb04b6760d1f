"""JSON payloads are read as the codec reads them: the same values, the same refusals, whatever the bytes."""

import json
import pickle
import random
import re
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyspark.sql import Row, SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

from tallystick.errors import IncompatibleSchema, InvalidRecord
from tallystick.formats import catalogue
from tallystick.formats.json_schema import JsonSchema
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import JSON_SCHEMA
from tallystick.spark.decoding import json_rows, json_schema
from tallystick.spark.types.json_schema import type_of

ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "customer": {"type": "string", "minLength": 1},
        "amount": {"type": "number", "minimum": 0},
        "paid": {"type": "boolean"},
        "status": {"enum": ["NEW", "PAID"]},
        "note": {"type": ["string", "null"]},
        "address": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "scores": {"type": "object", "additionalProperties": {"type": "number"}},
        "parent": {"anyOf": [{"$ref": "#/definitions/person"}, {"type": "null"}]},
        "anything": {},
        "either": {"type": ["integer", "string"]},
    },
    "required": ["id", "customer"],
    "definitions": {"person": {"type": "object", "properties": {"name": {"type": "string"}}}},
}
MUTANTS = (
    b"",
    b"null",
    b"[]",
    b"5",
    b'{"id":1,"customer":"a"} x',
    b'{"id":1,"customer":"a"}{"id":1,"customer":"a"}',
    b' {"id" : 1, "customer"\n: "a"}\n',
    b'{"id":1,"customer":":a"}',
    b'{"id":1,"customer":"a\\":b"}',
    b'{"id":1,"id":1,"customer":"a"}',
    b'{"id":1,"customer":"a","x":{"y":1,"y":1}}',
    b'{"id":1,"customer" :"a","x":{"y":1,"y":1}}',
    b'{"id":1,"cust\\u006fmer":"a"}',
    b'{"id":1,"customer":5}',
    b'{"id":"1","customer":"a"}',
    b'{"id":1.0,"customer":"a"}',
    b'{"id":1.5,"customer":"a"}',
    b'{"id":1e2,"customer":"a"}',
    b'{"id":true,"customer":"a"}',
    b'{"id":1,"customer":null}',
    b'{"id":01,"customer":"a"}',
    b'{"id":-0,"customer":"a"}',
    b'{"id":1,"customer":"a","amount":NaN}',
    b'{"id":1,"customer":"a","amount":1e400}',
    b'{"id":1,"customer":"a","x":[1e400]}',
    b'{"id":1,"customer":"a","amount":-1}',
    b'{"id":1,"customer":"a","amount":9007199254740993}',
    b'{"id":1,"customer":"\\ud800"}',
    b'{"id":1,"customer":"\\ud83d\\ude00"}',
    b'{"id":1,"customer":"\xff"}',
    b'\xef\xbb\xbf{"id":1,"customer":"a"}',
    b'{"id":1,"customer":"a","tags":"abc"}',
    b'{"id":1,"customer":"a","tags":[1]}',
    b'{"id":1,"customer":"a","tags":["a","b","c","d"]}',
    b'{"id":1,"customer":"a","address":{}}',
    b'{"id":1,"customer":"a","parent":null,"either":"x","anything":{"b":[1,2.5,null],"a":"\xc3\xa9"}}',
    b'{"id":1,"customer":"a","x":' + b"[" * 199 + b"]" * 199 + b"}",
    b'{"id":1,"customer":"a","x":' + b"[" * 201 + b"]" * 201 + b"}",
)
TOO_LARGE = (b'{"id":9223372036854775808,"customer":"a"}', b'{"id":1e30,"customer":"a"}')
"""The codec takes them, a bigint does not: refused."""


def parsed(raw: Any, **more: Any) -> JsonSchema:
    schema = catalogue.parse(SchemaDefinition(JSON_SCHEMA, json.dumps(raw), **more))
    assert isinstance(schema, JsonSchema)
    return schema


def orders(chance: random.Random, count: int) -> list[dict[str, Any]]:
    return [_order(chance) for _ in range(count)]


def _order(chance: random.Random) -> dict[str, Any]:
    text = chance.choice(["a", "é\n", 'say "hi":', "😀", "\\", "x" * 30])
    order: dict[str, Any] = {
        "id": chance.choice([0, -1, 2**53 + 1, 2**63 - 1, chance.randrange(10**6)]),
        "customer": text,
        "amount": chance.choice([0, 1.5, 1e-7, 12345678901234567890, chance.random()]),
        "paid": chance.random() < 0.5,
        "status": chance.choice(["NEW", "PAID"]),
        "note": chance.choice([None, text]),
        "address": {"city": text, "unknown": [1, {"deep": None}]},
        "tags": [text] * chance.randrange(4),
        "scores": {text: chance.random(), "b": 2},
        "parent": chance.choice([None, {"name": text}, {}]),
        "anything": chance.choice([None, 1, "x", [1, {"a": text}]]),
        "either": chance.choice([1, "one"]),
        "surplus": {"x": [text, 1.25]},
    }
    return {name: value for name, value in order.items() if name in ("id", "customer") or chance.random() < 0.8}


def mutated(chance: random.Random, payload: bytes) -> bytes:
    at = chance.randrange(len(payload))
    return chance.choice(
        [
            payload[:at],
            payload + chance.randbytes(1),
            payload[:at] + bytes([payload[at] ^ 1 << chance.randrange(8)]) + payload[at + 1 :],
            payload[:at] + payload[at + 1 :],
        ]
    )


def payloads(seed: int, count: int) -> list[bytes]:
    chance = random.Random(seed)
    whole = [json.dumps(order, ensure_ascii=chance.random() < 0.5).encode() for order in orders(chance, count)]
    compact = [json.dumps(order, separators=(",", ":")).encode() for order in orders(chance, count)]
    return [*whole, *compact, *(mutated(chance, payload) for payload in (whole + compact)), *MUTANTS]


def as_spark(order: Any) -> Any:
    """A value of the codec as the columns hold it."""
    if not isinstance(order, dict):
        return None
    found: dict[str, Any] = {name: order.get(name) for name in ORDER["properties"]}
    for name in ("anything", "either"):
        if found[name] is not None:
            found[name] = json.dumps(found[name], ensure_ascii=False, separators=(",", ":"))
    for name, inner in (("address", "city"), ("parent", "name")):
        if found[name] is not None:
            found[name] = {inner: found[name].get(inner)}
    if found["amount"] is not None:
        found["amount"] = float(found["amount"])
    if found["scores"] is not None:
        found["scores"] = sorted(found["scores"].items())
    return found


def by_codec(schema: JsonSchema, payload: bytes) -> Any:
    try:
        value = catalogue.format_of(JSON_SCHEMA).decode(schema, payload)
    except InvalidRecord:
        return None
    if isinstance(value, dict) and not -(2**63) <= value["id"] < 2**63:
        return None
    return as_spark(value)


def read(schema: JsonSchema, rows: list[bytes], **settings: Any) -> list[Any]:
    decoder = pickle.loads(pickle.dumps(json_schema.decoder(schema, type_of(schema), **settings)))
    found: list[Any] = decoder.values(pa.array(rows, pa.binary()), pa.nulls(len(rows), pa.binary())).to_pylist()
    for value in found:
        if value is not None and value.get("scores") is not None:
            value["scores"] = sorted(value["scores"])
    return found


def test_every_payload_is_read_or_refused_as_the_codec_does() -> None:
    schema, rows = parsed(ORDER), [*payloads(3, 400), *TOO_LARGE]
    expected = [by_codec(schema, row) for row in rows]
    assert 800 < sum(value is not None for value in expected) < len(rows) - 300
    wrong = [(row, e, v) for row, e, v in zip(rows, expected, read(schema, rows), strict=True) if e != v]
    assert not wrong, wrong[:3]


@given(st.lists(st.sampled_from([b'"', b":", b" ", b"\n", b"\t", b"\r", b"a", b'":', b'" :'])).map(b"".join))
@example(b'{"a": "12:30"}')
@example(b'{"a": "12:30", "b" : 1}')
def test_a_colon_behind_white_space_is_found(payload: bytes) -> None:
    assert json_rows.has_loose_colon(payload) == (re.search(rb"[ \n\t\r]:", payload) is not None)


def test_a_job_gives_the_same(spark: SparkSession) -> None:
    schema, rows = parsed(ORDER), payloads(4, 50)
    decoder = json_schema.decoder(schema, type_of(schema))

    def work(batches: Any) -> Any:
        for batch in batches:
            values = decoder.values(batch.column(0), batch.column(0))
            yield pa.RecordBatch.from_arrays([values], ["v"])

    frame = spark.createDataFrame([Row(payload=row) for row in rows], "payload binary").coalesce(1)
    found = frame.mapInArrow(work, StructType([StructField("v", type_of(schema))])).collect()
    for row, got in zip(rows, found, strict=True):
        expected = by_codec(schema, row)
        seen = None if got.v is None else got.v.asDict(recursive=True)
        if seen is not None and seen["scores"] is not None:
            seen["scores"] = sorted(seen["scores"].items())
        assert seen == expected, row


def test_without_enforcement_only_the_types_count() -> None:
    schema = parsed(ORDER)
    rows = [
        b'{"id":1,"customer":""}',
        b'{"customer":null}',
        b'{"id":1,"amount":-5,"status":"OLD"}',
        b'{"id":"1"}',
        b'{"id":1.5}',
        b'{"id":1,"id":2}',
        b'{"id":1',
    ]
    assert [value is not None for value in read(schema, rows, enforce=False)] == [
        True,
        True,
        True,
        False,
        False,
        False,
        False,
    ]
    assert [value is not None for value in read(schema, rows)] == [False] * len(rows)


def test_types_follow_the_schema_and_what_has_none_is_text() -> None:
    assert type_of(parsed(ORDER)).simpleString() == (
        "struct<id:bigint,customer:string,amount:double,paid:boolean,status:string,note:string,"
        "address:struct<city:string>,tags:array<string>,scores:map<string,double>,parent:struct<name:string>,"
        "anything:string,either:string>"
    )
    itself = {"type": "object", "properties": {"name": {"type": "string"}, "child": {"$ref": "#"}}}
    assert type_of(parsed(itself)).simpleString() == "struct<name:string,child:string>"
    assert read(parsed(itself), [b'{"name":"a","child":{"name":"b"}}']) == [{"name": "a", "child": '{"name":"b"}'}]
    assert type_of(parsed({"properties": {"a": {"type": "integer"}}})).simpleString() == "struct<a:bigint>"
    merged = {"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}, {"properties": {"b": {}}}]}
    assert type_of(parsed(merged)).simpleString() == "struct<a:bigint,b:string>"


def test_what_is_no_object_does_not_fit_a_struct_even_where_the_schema_takes_it() -> None:
    schema = parsed({"properties": {"a": {"type": "integer"}}})
    assert read(schema, [b'{"a":1}', b"[]", b'[["a",1]]', b"7"]) == [{"a": 1}, None, None, None]


def test_references_travel_to_the_workers() -> None:
    reference = Reference("city.json", "city", 1)
    text = {"type": "object", "properties": {"city": {"$ref": "city.json"}}}
    referenced = {reference: SchemaDefinition(JSON_SCHEMA, '{"type": "string", "maxLength": 3}')}
    schema = catalogue.parse(SchemaDefinition(JSON_SCHEMA, json.dumps(text), (reference,)), referenced)
    assert isinstance(schema, JsonSchema)
    assert read(schema, [b'{"city":"Ulm"}', b'{"city":"Bonn"}'], references=referenced) == [{"city": "Ulm"}, None]


def test_fields_are_taken_by_name_and_never_as_another_type() -> None:
    schema = parsed({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}})
    other = StructType([StructField("c", StringType()), StructField("a", LongType())])
    values = json_schema.decoder(schema, other).values(pa.array([b'{"a":1,"b":"x"}']), pa.nulls(1, pa.binary()))
    assert values.to_pylist() == [{"c": None, "a": 1}]
    with pytest.raises(IncompatibleSchema, match="`/b` was written as string, which cannot be read as bigint"):
        json_schema.decoder(schema, StructType([StructField("b", LongType())]))
    with pytest.raises(IncompatibleSchema, match="the reader needs `/c`"):
        json_schema.decoder(schema, StructType([StructField("c", LongType(), nullable=False)]))
