"""KEY_VALUE text: its shape, its halves, and the places of faults."""

import json
from typing import Any

import pytest

from tallystick.errors import InvalidSchema
from tallystick.finding import Place
from tallystick.formats import parse
from tallystick.formats.key_value import KeyValueSchema
from tallystick.formats.key_value.source import MAX_NESTING
from tallystick.model import schema_type as types
from tallystick.model.definition import Reference, References, SchemaDefinition
from tallystick.model.key_value import KeyValueEncoding

STRUCTS = {
    "AVRO": '"string"',
    "PULSAR_JSON": '"string"',
    "PULSAR_PROTOBUF": '"string"',
    "JSON_SCHEMA": "{}",
    "PROTOBUF": 'syntax = "proto3"; message A {}',
}


KEY = '{"key": {"type": "STRING"},\n"value": '
PAIR = KEY + '{"type": "STRING"},\n'


def _parse(text: str, references: References | None = None) -> KeyValueSchema:
    known = references or {}
    schema = parse(SchemaDefinition(types.KEY_VALUE, text, tuple(known)), known)
    assert isinstance(schema, KeyValueSchema)
    return schema


def _pair(key: Any, value: Any, **rest: Any) -> str:
    return json.dumps({"key": key, "value": value, **rest})


def test_halves_are_schemas_of_their_own() -> None:
    schema = _parse(
        _pair({"type": "STRING"}, {"type": "AVRO", "schema": '"int"', "properties": {"a": "b"}}, encoding="SEPARATED")
    )
    assert schema.encoding is KeyValueEncoding.SEPARATED
    assert schema.key.definition == SchemaDefinition(types.STRING)
    assert schema.value.definition == SchemaDefinition(types.AVRO, '"int"')
    assert schema.value.definition.properties == {"a": "b"}


def test_pair_is_inline_where_it_does_not_say() -> None:
    assert _parse(_pair({"type": "STRING"}, {"type": "STRING"})).encoding is KeyValueEncoding.INLINE


@pytest.mark.parametrize(
    ("text", "reason", "path", "line"),
    [
        ("[]", "an object is expected", "", 1),
        ("5", "an object is expected, not 5", "", 1),
        ("{}", "the key is missing", "", 1),
        ('{"key": {"type": "STRING"}}', "the value is missing", "", 1),
        (KEY + "5}", "an object is expected", "/value", 2),
        (KEY + "{}}", "the value needs a type", "/value", 2),
        (KEY + '{"type": ["STRING"]}}', "the value needs a type", "/value", 2),
        (KEY + '{"type": "AVRO",\n"schema": {"type": "int"}}}', "must be a text", "/value/schema", 3),
        (KEY + '{"type": "STRING",\n"properties": {"a": 1}}}', "an object of texts", "/value/properties", 3),
        (KEY + '{"type": "STRING",\n"properties": []}}', "an object of texts", "/value/properties", 3),
        (KEY + '{"type": "STRING",\n"scheme": ""}}', "the key 'scheme' is not known", "/value/scheme", 3),
        (PAIR + '"encodings": ""}', "the key 'encodings' is not known", "/encodings", 3),
        (PAIR + '"encoding": "inline"}', "must be INLINE or SEPARATED, not 'inline'", "/encoding", 3),
        (PAIR + '"encoding": [1]}', "must be INLINE or SEPARATED, not a list", "/encoding", 3),
        (KEY + '{"type": "XML"}}', "in the value: schema type 'XML' is not known", "/value", 2),
        (KEY + '{"type": "AUTO_CONSUME"}}', "in the value: AUTO_CONSUME", "/value", 2),
        (KEY + '{"type": "STRING",\n"schema": "x"}}', "in the value .*has no text", "/value", 3),
    ],
)
def test_fault_has_its_place(text: str, reason: str, path: str, line: int | None) -> None:
    with pytest.raises(InvalidSchema, match=reason) as refused:
        _parse(text)
    assert refused.value.place is not None
    assert (refused.value.place.path, refused.value.place.line) == (path, line)


def test_fault_within_a_half_says_where_in_its_text() -> None:
    inner = '{"type": "record", "name": "A",\n "fields": [{"name": "b", "type": "strin"}]}'
    with pytest.raises(InvalidSchema) as refused:
        _parse(_pair({"type": "STRING"}, {"type": "AVRO", "schema": inner}))
    assert refused.value.reason.startswith("in the value (line 2, column ")
    assert refused.value.place is not None
    assert refused.value.place.path.startswith("/value/fields/0")


@pytest.mark.parametrize("struct", STRUCTS)
@pytest.mark.parametrize("is_key", [True, False])
def test_outside_schema_and_a_struct_do_not_mix(struct: str, is_key: bool) -> None:
    halves = [{"type": "EXTERNAL"}, {"type": struct, "schema": STRUCTS[struct]}]
    with pytest.raises(InvalidSchema, match=f"EXTERNAL and {struct} cannot stand in one KEY_VALUE schema") as refused:
        _parse(_pair(*(halves if is_key else halves[::-1])))
    assert refused.value.place == Place("")


@pytest.mark.parametrize("other", ["EXTERNAL", "STRING", "INT64", "BYTES"])
def test_outside_schema_goes_with_itself_and_with_primitives(other: str) -> None:
    schema = _parse(_pair({"type": other}, {"type": "EXTERNAL"}))
    assert schema.value.definition.type == types.EXTERNAL


def test_mix_is_found_in_a_pair_within_a_pair() -> None:
    inner = _pair({"type": "STRING"}, {"type": "AVRO", "schema": '"int"'})
    with pytest.raises(InvalidSchema, match="EXTERNAL and AVRO"):
        _parse(_pair({"type": "EXTERNAL"}, {"type": "KEY_VALUE", "schema": inner}))


def _nested(levels: int) -> str:
    text = _pair({"type": "STRING"}, {"type": "STRING"})
    for _ in range(levels - 1):
        text = _pair({"type": "STRING"}, {"type": "KEY_VALUE", "schema": text})
    return text


def test_pairs_nest_to_a_limit() -> None:
    assert _parse(_nested(MAX_NESTING))
    with pytest.raises(InvalidSchema, match=f"nested deeper than {MAX_NESTING} levels"):
        _parse(_nested(MAX_NESTING + 1))


def test_references_go_to_the_halves_that_can_use_them() -> None:
    money = Reference("shop.Money", "money", 1)
    note = Reference("note.json", "note", 1)
    known = {
        money: SchemaDefinition(types.AVRO, '{"type": "record", "name": "shop.Money", "fields": []}'),
        note: SchemaDefinition(types.JSON_SCHEMA, '{"type": "string"}'),
    }
    schema = _parse(
        _pair(
            {"type": "PULSAR_JSON", "schema": '"shop.Money"'},
            {"type": "JSON_SCHEMA", "schema": '{"$ref": "note.json"}'},
        ),
        known,
    )
    assert schema.key.definition.references == (money,)
    assert schema.value.definition.references == (note,)


def test_references_reach_a_pair_within_a_pair() -> None:
    money = Reference("shop.Money", "money", 1)
    known = {money: SchemaDefinition(types.AVRO, '{"type": "record", "name": "shop.Money", "fields": []}')}
    inner = _pair({"type": "STRING"}, {"type": "AVRO", "schema": '["null", "shop.Money"]'})
    schema = _parse(_pair({"type": "STRING"}, {"type": "KEY_VALUE", "schema": inner}), known)
    assert schema.value.definition.references == (money,)


def test_missing_reference_is_reported_by_its_half() -> None:
    definition = SchemaDefinition(
        types.KEY_VALUE, _pair({"type": "STRING"}, {"type": "AVRO", "schema": '"a.B"'}), (Reference("a.B", "b", 1),)
    )
    with pytest.raises(InvalidSchema, match=r"in the value: reference 'a\.B' to subject 'b' version 1 is not there"):
        parse(definition)
