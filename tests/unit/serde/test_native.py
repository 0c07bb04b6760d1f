"""Schemas that the cluster's registry keeps: values to payloads, and payloads of other writers."""

import json
from typing import Any, assert_type

import pytest

from tallystick.errors import InvalidArgument, InvalidRecord, InvalidSchema
from tallystick.model import schema_type as types
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.serde import BYTES, INT64, STRING, AvroSchema, JsonSchema, NativeSchema, PulsarJsonSchema
from tests.unit.serde.classes import Line, Point

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
GROWN = {**ORDER, "fields": [*ORDER["fields"], {"name": "note", "type": "string", "default": "none"}]}
OTHER = {"type": "record", "name": "Order", "fields": [{"name": "key", "type": "string"}]}
JSON_ORDER = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}


def test_what_is_read_is_what_the_source_says() -> None:
    assert_type(AvroSchema(json.dumps(ORDER)), AvroSchema[dict[str, Any]])
    assert_type(AvroSchema(ORDER), AvroSchema[dict[str, Any]])
    assert_type(AvroSchema(Line), AvroSchema[Line])
    assert_type(JsonSchema(Line).decode("t", b'{"sku": "a"}', None), Line)
    assert_type(PulsarJsonSchema(Line), PulsarJsonSchema[Line])


@pytest.mark.parametrize("schema", [AvroSchema(ORDER), PulsarJsonSchema(ORDER), JsonSchema(JSON_ORDER)])
def test_dicts_are_values_of_texts(schema: NativeSchema[Any]) -> None:
    payload = schema.to_payload({"id": 7})
    assert schema.encode("t", {"id": 7}).data == payload
    assert schema.decode("t", payload, None) == {"id": 7}


@pytest.mark.parametrize(
    ("schema", "schema_type"),
    [
        (AvroSchema(ORDER), types.AVRO),
        (PulsarJsonSchema(ORDER), types.PULSAR_JSON),
        (JsonSchema(JSON_ORDER), types.JSON_SCHEMA),
    ],
)
def test_a_dict_and_its_text_are_one_definition(schema: NativeSchema[Any], schema_type: str) -> None:
    assert schema.definition.type == schema_type
    made: Any = type(schema)
    assert made(schema.definition.text).definition == schema.definition


@pytest.mark.parametrize("schema", [AvroSchema(ORDER), PulsarJsonSchema(ORDER), JsonSchema(JSON_ORDER)])
def test_values_that_do_not_fit_have_findings(schema: NativeSchema[Any]) -> None:
    with pytest.raises(InvalidRecord) as refused:
        schema.encode("t", {"id": "seven"})
    assert [str(finding.new) for finding in refused.value.findings] == ["/id"]


def test_a_wrong_text_is_told_when_it_is_used() -> None:
    schema = AvroSchema('{"type": "record", "name": "Order"}')
    with pytest.raises(InvalidSchema, match="needs a list of fields"):
        schema.to_payload({})


@pytest.mark.parametrize("make", [AvroSchema, PulsarJsonSchema, JsonSchema])
def test_other_sources_are_refused(make: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"class int is not .* a dataclass or a pydantic model"):
        make(int)
    with pytest.raises(InvalidArgument, match="a float is not"):
        make(1.5)


def test_a_writer_that_told_nothing_is_read_as_the_own_schema() -> None:
    schema = AvroSchema(GROWN)
    for writer in (None, SchemaDefinition(types.BYTES), SchemaDefinition(types.NONE), schema.definition):
        assert schema.reader_of("t", writer, None) is schema.from_payload


def test_white_space_makes_no_other_writer() -> None:
    schema = AvroSchema(GROWN)
    writer = SchemaDefinition(types.AVRO, json.dumps(GROWN, indent=4))
    assert schema.reader_of("t", writer, None) is schema.from_payload


@pytest.mark.parametrize("make", [AvroSchema, PulsarJsonSchema])
def test_the_writers_schema_is_resolved_to_the_readers(make: Any) -> None:
    writer, reader = make(ORDER), make(GROWN)
    read = reader.reader_of("t", writer.definition, None)
    assert read(writer.to_payload({"id": 1}), None) == {"id": 1, "note": "none"}
    assert reader.reader_of("t", writer.definition, None) is read


def test_instances_are_made_of_other_writers_payloads() -> None:
    writer = AvroSchema({"type": "record", "name": "Line", "fields": [{"name": "sku", "type": "string"}]})
    read = AvroSchema(Line).reader_of("t", writer.definition, None)
    assert read(writer.to_payload({"sku": "a"}), None) == Line("a")


def test_what_a_reader_changes_is_its_own() -> None:
    text = {"type": "record", "name": "Bag", "fields": [{"name": "id", "type": "long"}]}
    lists = {"name": "parts", "type": {"type": "array", "items": "string"}, "default": ["a"]}
    writer, reader = AvroSchema(text), AvroSchema({**text, "fields": [*text["fields"], lists]})
    read = reader.reader_of("t", writer.definition, None)
    first = read(writer.to_payload({"id": 1}), None)
    first["parts"].append("b")
    assert read(writer.to_payload({"id": 1}), None) == {"id": 1, "parts": ["a"]}


def test_a_writer_that_cannot_be_resolved_has_findings_for_each_message() -> None:
    writer, reader = AvroSchema(OTHER), AvroSchema(ORDER)
    read = reader.reader_of("t", writer.definition, None)
    with pytest.raises(InvalidRecord) as refused:
        read(writer.to_payload({"key": "a"}), None)
    assert refused.value.findings


def test_a_writer_of_another_type_is_told_with_both_types() -> None:
    read = AvroSchema(ORDER).reader_of("t", PulsarJsonSchema(ORDER).definition, None)
    with pytest.raises(InvalidRecord, match="type PULSAR_JSON, and is read with one of type AVRO") as refused:
        read(b"{}", None)
    (finding,) = refused.value.findings
    assert finding.rule == "READER_TYPE_DIFFERS"
    assert finding.fix == "read it with AutoConsume(), or with a schema of type PULSAR_JSON"


def test_a_third_partys_messages_are_told() -> None:
    read = AvroSchema(ORDER).reader_of("t", SchemaDefinition(types.EXTERNAL), None)
    with pytest.raises(InvalidRecord, match="type EXTERNAL") as refused:
        read(b"", None)
    assert refused.value.findings[0].fix.endswith("the schema of the registry that keeps it")


def test_a_writers_schema_that_makes_no_sense_is_told() -> None:
    read = AvroSchema(ORDER).reader_of("t", SchemaDefinition(types.AVRO, "{"), None)
    with pytest.raises(InvalidRecord, match="cannot be read: invalid schema") as refused:
        read(b"", None)
    assert [finding.rule for finding in refused.value.findings] == ["WRITER_SCHEMA_UNREADABLE"]


def test_texts_that_pulsars_brokers_take_are_read() -> None:
    odd = {**ORDER, "fields": [{"name": "id", "type": "long", "default": "not a number"}]}
    writer = SchemaDefinition(types.AVRO, json.dumps(odd))
    assert AvroSchema(GROWN).reader_of("t", writer, None)(b"\x02", None) == {"id": 1, "note": "none"}


def test_references_are_part_of_the_text() -> None:
    money = SchemaDefinition(types.AVRO, '{"type": "record", "name": "Money", "fields": []}')
    price = SchemaDefinition(
        types.AVRO,
        '{"type": "record", "name": "Price", "fields": [{"name": "money", "type": "Money"}]}',
        (Reference("Money", "money", 2),),
    )
    references = {Reference("Price", "prices", 1): price, Reference("Money", "money", 2): money}
    schema = AvroSchema("Price", references=references)
    assert schema.definition.references == (Reference("Price", "prices", 1),)
    assert schema.decode("t", schema.to_payload({"money": {}}), None) == {"money": {}}


def test_references_of_the_writer_come_with_it() -> None:
    reference = Reference("Money", "money", 1)
    money = SchemaDefinition(
        types.AVRO, '{"type": "record", "name": "Money", "fields": [{"name": "c", "type": "int"}]}'
    )
    writer = SchemaDefinition(
        types.AVRO,
        '{"type": "record", "name": "Price", "fields": [{"name": "m", "type": "Money"}]}',
        (reference,),
    )
    whole = {"type": "record", "name": "Price", "fields": [{"name": "m", "type": json.loads(money.text)}]}
    read = AvroSchema(whole).reader_of("t", writer, None, {reference: money})
    assert read(b"\x04", None) == {"m": {"c": 2}}
    lost = AvroSchema(ORDER).reader_of("t", writer, None)
    with pytest.raises(InvalidRecord, match="'Money' to subject 'money' version 1 is not there"):
        lost(b"\x04", None)


def test_readers_of_many_writers_do_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallystick.serde.native.MOST_READERS", 3)
    reader = AvroSchema(ORDER)
    for number in range(10):
        field = {"name": f"f{number}", "type": "long", "default": 0}
        writer = AvroSchema({**ORDER, "fields": [*ORDER["fields"], field]})
        payload = writer.to_payload({"id": number, f"f{number}": 1})
        assert reader.reader_of("t", writer.definition, None)(payload, None) == {"id": number}
    assert len(reader._readers) <= 3


def test_equal_payloads_of_a_class_and_its_text() -> None:
    typed = AvroSchema(Point, namespace="shop")
    text = AvroSchema(typed.definition.text)
    assert typed.to_payload(Point(1, 2)) == typed.to_payload({"x": 1, "y": 2}) == text.to_payload({"x": 1, "y": 2})  # type: ignore[arg-type]


def test_primitives_read_their_own_type_alone() -> None:
    with pytest.raises(InvalidRecord, match="type STRING, and is read with one of type INT64"):
        INT64.reader_of("t", STRING.definition, None)(b"12345678", None)
    assert BYTES.reader_of("t", AvroSchema(ORDER).definition, None)(b"any", None) == b"any"
