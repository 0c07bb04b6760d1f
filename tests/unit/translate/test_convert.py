"""Values follow a translation, and what has no counterpart is refused with its path."""

import json
from decimal import Decimal
from typing import Any

import pytest

from tallystick.errors import InvalidRecord
from tallystick.formats import decoder_of, encoder_of, parse
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF, SchemaType
from tallystick.translate import convert, translate


def json_schema(name: str, schema: dict[str, Any], *, required: bool = True) -> SchemaDefinition:
    whole = {"type": "object", "properties": {name: schema}, "required": [name] if required else []}
    return SchemaDefinition(JSON_SCHEMA, json.dumps({**whole, "additionalProperties": False}))


def avro(name: str, type_: Any) -> SchemaDefinition:
    record = {"type": "record", "name": "R", "fields": [{"name": name, "type": type_}]}
    return SchemaDefinition(AVRO, json.dumps(record))


def proto(body: str) -> SchemaDefinition:
    return SchemaDefinition(PROTOBUF, f'syntax = "proto3"; {body}')


def carried(definition: SchemaDefinition, to: SchemaType, value: Any) -> Any:
    """The value as a reader of the target sees it."""
    translation = translate(definition, to)
    assert translation.definition is not None
    target = parse(translation.definition)
    return decoder_of(target)(encoder_of(target)(convert(translation)(value)))


def refusal(definition: SchemaDefinition, to: SchemaType, value: Any) -> tuple[str, str]:
    with pytest.raises(InvalidRecord) as caught:
        convert(translate(definition, to))(value)
    (finding,) = caught.value.findings
    assert finding.new is not None
    return finding.new.path, finding.message


DATE_TIME = {"type": "string", "format": "date-time"}


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T02:00:00.5+02:00", 500_000),
        ("1970-01-01T00:00:00.123456789z", 123_456),
        ("1969-12-31T23:00:00-01:30", 1_800_000_000),
    ],
)
def test_a_date_time_is_a_point_in_time_whatever_its_spelling(text: str, micros: int) -> None:
    found = carried(json_schema("at", DATE_TIME), AVRO, {"at": text})["at"]
    assert round(found.timestamp() * 1_000_000) == micros


@pytest.mark.parametrize("text", ["yesterday", "2026-02-30T00:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01"])
def test_a_text_that_is_no_date_time_is_refused_with_its_path(text: str) -> None:
    path, message = refusal(json_schema("at", DATE_TIME), AVRO, {"at": text})
    assert path == "/at"
    assert "cannot be translated to AVRO" in message


def test_an_integer_beyond_64_bits_is_refused() -> None:
    assert refusal(json_schema("n", {"type": "integer"}), AVRO, {"n": 2**63})[0] == "/n"
    assert carried(json_schema("n", {"type": "integer"}), AVRO, {"n": 5.0}) == {"n": 5}


def test_a_number_with_more_digits_than_a_double_is_refused() -> None:
    assert refusal(json_schema("n", {"type": "number"}), PROTOBUF, {"n": 2**53 + 1})[0] == "/n"
    assert carried(json_schema("n", {"type": "number"}), PROTOBUF, {"n": 2**53}) == {"n": 2.0**53}


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_number_in_json_is_refused(number: float) -> None:
    path, message = refusal(avro("items", {"type": "array", "items": "double"}), JSON_SCHEMA, {"items": [1.0, number]})
    assert path == "/items/1"
    assert "no JSON number" in message


def test_a_text_that_is_not_base64_is_refused() -> None:
    schema = json_schema("blob", {"type": "string", "contentEncoding": "base64"})
    assert refusal(schema, AVRO, {"blob": "?"})[0] == "/blob"
    assert refusal(schema, AVRO, {"blob": "/x=="})[0] == "/blob"
    assert carried(schema, AVRO, {"blob": "/w=="}) == {"blob": b"\xff"}


def test_a_decimal_of_too_many_digits_is_refused() -> None:
    schema = json_schema("price", {"type": "string", "pattern": r"^-?(0|[1-9][0-9]{0,3})\.[0-9]{2}$"})
    assert carried(schema, AVRO, {"price": "12.50"}) == {"price": Decimal("12.50")}
    assert refusal(schema, AVRO, {"price": "12345.00"})[0] == "/price"
    assert refusal(schema, AVRO, {"price": "1.001"})[0] == "/price"


def test_an_unsigned_number_of_64_bits_is_kept_whole() -> None:
    assert carried(proto("message R { uint64 n = 1; }"), AVRO, {"n": 2**64 - 1}) == {"n": Decimal(2**64 - 1)}


def test_a_number_that_an_enum_does_not_name_is_refused() -> None:
    schema = proto("message R { repeated E e = 1; } enum E { A = 0; B = 1; }")
    assert carried(schema, AVRO, {"e": ["B"]}) == {"e": ["B"]}
    assert refusal(schema, AVRO, {"e": ["A", 7]})[0] == "/e/1"


def test_keys_of_maps_become_texts() -> None:
    schema = proto("message R { map<bool, int32> a = 1; map<int32, int32> b = 2; }")
    assert carried(schema, AVRO, {"a": {True: 1}, "b": {-5: 2}}) == {"a": {"true": 1}, "b": {"-5": 2}}


def test_null_and_absence_follow_the_schema() -> None:
    text = {"type": ["string", "null"]}
    assert carried(json_schema("a", {"type": "string"}, required=False), AVRO, {}) == {"a": None}
    assert carried(json_schema("a", text), AVRO, {"a": None}) == {"a": None}
    assert carried(json_schema("a", text), PROTOBUF, {"a": None}) == {}
    assert carried(avro("a", ["null", "string"]), JSON_SCHEMA, {"a": None}) == {"a": None}
    assert carried(proto("message R { optional string a = 1; }"), JSON_SCHEMA, {}) == {}
    assert carried(proto("message R { string a = 1; }"), JSON_SCHEMA, {"a": ""}) == {"a": ""}


def test_properties_that_a_schema_does_not_name_are_left_out() -> None:
    schema = SchemaDefinition(JSON_SCHEMA, '{"type": "object", "properties": {"a": {"type": "string"}}}')
    assert carried(schema, AVRO, {"a": "x", "b": 1}) == {"a": "x"}


def test_a_value_goes_into_the_field_of_its_branch() -> None:
    card = {"type": "record", "name": "Card", "fields": [{"name": "number", "type": "string"}]}
    schema = avro("paid", ["null", "boolean", card, {"type": "array", "items": "int"}])
    assert carried(schema, PROTOBUF, {"paid": True}) == {"paid_boolean": True}
    assert carried(schema, PROTOBUF, {"paid": {"number": "4"}}) == {"paid_card": {"number": "4"}}
    assert carried(schema, PROTOBUF, {"paid": [1]}) == {"paid_list": {"value": [1]}}
    assert carried(schema, PROTOBUF, {"paid": None}) == {}


def test_a_union_of_json_is_told_apart_by_what_json_tells_apart() -> None:
    schema = json_schema("a", {"type": ["integer", "string", "null"]})
    for value in (1, "1", None):
        assert carried(schema, AVRO, {"a": value}) == {"a": value}
    assert refusal(schema, AVRO, {"a": [1]})[0] == "/a"


def test_a_value_that_protobuf_cannot_hold_is_held_by_a_message() -> None:
    rows = {"type": "array", "items": {"type": "array", "items": ["null", "int"]}}
    found = carried(avro("rows", rows), PROTOBUF, {"rows": [[1, None], []]})
    assert found == {"rows": [{"value": [{"value": 1}, {}]}, {"value": []}]}


def test_symbols_that_were_renamed_are_renamed_in_values() -> None:
    one = {"type": "enum", "name": "One", "symbols": ["OPEN", "DONE"]}
    other = {"type": "enum", "name": "Other", "symbols": ["OPEN", "LOST"]}
    fields = [{"name": "one", "type": one}, {"name": "other", "type": other}]
    schema = SchemaDefinition(AVRO, json.dumps({"type": "record", "name": "R", "fields": fields}))
    assert carried(schema, PROTOBUF, {"one": "OPEN", "other": "OPEN"}) == {"one": "OPEN", "other": "OTHER_OPEN"}


def test_a_value_that_is_no_record_is_refused() -> None:
    assert refusal(avro("a", "int"), PROTOBUF, 5)[0] == ""
    assert refusal(avro("a", "int"), PROTOBUF, {})[0] == "/a"
