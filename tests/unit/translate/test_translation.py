"""What a translation offers: findings that are allowed by name, names, the places of values."""

import json
from typing import Any

import pytest

from tallystick.errors import InvalidArgument, InvalidRecord, InvalidSchema, Unsupported
from tallystick.formats import parse
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF, PULSAR_JSON, STRING
from tallystick.translate import CATALOGUE, Severity, convert, translate


def avro(*fields: dict[str, Any], name: str = "shop.Order") -> SchemaDefinition:
    return SchemaDefinition(AVRO, json.dumps({"type": "record", "name": name, "fields": list(fields)}))


ID = {"name": "id", "type": "long"}
PRICE = {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}}


def test_a_loss_stands_against_it_until_it_is_allowed_by_name() -> None:
    translation = translate(avro(ID, PRICE), PROTOBUF)
    assert [finding.rule for finding in translation.refused()] == ["TRANSLATE_DECIMAL_TO_STRING"]
    assert translation.refused(["decimal-to-string"]) == []


def test_what_is_impossible_cannot_be_allowed() -> None:
    translation = translate(avro({"name": "nothing", "type": "null"}), PROTOBUF)
    assert translation.definition is None
    with pytest.raises(InvalidArgument, match="'null-type' is no loss"):
        translation.refused(["null-type"])
    with pytest.raises(InvalidRecord, match="no translation"):
        convert(translation)


def test_a_finding_says_where_what_and_how_to_allow_it() -> None:
    (finding,) = translate(avro(PRICE), PROTOBUF).findings
    assert finding.old is not None
    assert finding.old.path == "/price"
    assert (finding.was, finding.now) == ("decimal(6, 2)", "string")
    assert "`decimal-to-string`" in finding.fix


def test_every_rule_explains_itself_and_has_a_name_of_its_own() -> None:
    assert all(rule.sentence.endswith(".") and rule.instead for rule in CATALOGUE.values())
    assert len({rule.name for rule in CATALOGUE.values()}) == len(CATALOGUE)
    assert CATALOGUE["TRANSLATE_TUPLE"].severity is Severity.IMPOSSIBLE


def test_the_same_type_is_the_same_definition() -> None:
    definition = avro(ID)
    translation = translate(definition, AVRO)
    assert translation.definition is definition
    assert translation.findings == ()
    assert convert(translation)({"id": 1}) == {"id": 1}


def test_pulsar_json_is_avro_already() -> None:
    definition = SchemaDefinition(PULSAR_JSON, avro(ID).text)
    assert translate(definition, AVRO).definition == SchemaDefinition(AVRO, definition.text)
    assert translate(definition, PROTOBUF).findings == ()


@pytest.mark.parametrize("to", [AVRO, JSON_SCHEMA, PROTOBUF])
def test_the_record_can_be_given_another_name(to: Any) -> None:
    schema = SchemaDefinition(JSON_SCHEMA, '{"type": "object", "properties": {"in": {"type": "object"}}}')
    closed = schema.text.replace('"object"}', '"object", "additionalProperties": false}')
    made = translate(SchemaDefinition(JSON_SCHEMA, closed), to, name="shop.Purchase").definition
    assert made is not None
    assert "Purchase" in made.text
    assert "Record" not in made.text.replace("record", "")
    parse(made)


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="is no name"):
        translate(avro(ID), PROTOBUF, name="a-b")


def test_the_name_of_another_type_is_refused() -> None:
    line = {"type": "record", "name": "Line", "fields": [{"name": "order", "type": ["null", "Order"]}]}
    with pytest.raises(InvalidArgument, match="another type"):
        translate(avro({"name": "line", "type": line}), PROTOBUF, name="shop.Line")


def test_types_without_fields_cannot_be_translated() -> None:
    with pytest.raises(Unsupported, match="STRING cannot be translated to AVRO"):
        translate(SchemaDefinition(STRING), AVRO)
    with pytest.raises(Unsupported, match="to STRING"):
        translate(avro(ID), STRING)


def test_a_definition_that_does_not_parse_is_refused_as_such() -> None:
    with pytest.raises(InvalidSchema):
        translate(SchemaDefinition(AVRO, "{"), PROTOBUF)


def test_references_become_part_of_the_text() -> None:
    reference = Reference("shop.Line", "line", 1)
    line = avro({"name": "sku", "type": "string"}, name="shop.Line")
    field = {"name": "lines", "type": {"type": "array", "items": "shop.Line"}}
    order = SchemaDefinition(AVRO, avro(field).text, (reference,))
    made = translate(order, PROTOBUF, references={reference: line}).definition
    assert made is not None
    assert "message Line" in made.text
    parse(made)


def test_every_place_says_what_it_was_and_becomes() -> None:
    union = {"name": "paid", "type": ["null", "boolean", "string"]}
    lists = {"name": "matrix", "type": {"type": "array", "items": {"type": "array", "items": "double"}}}
    rows = [
        (f.source_path, f.target_path, f.source, f.target) for f in translate(avro(union, lists), PROTOBUF).fields()
    ]
    assert rows[0] == ("", "", "record shop.Order", "record shop.Order")
    assert ("/paid", "/paid_boolean", "boolean", "boolean") in rows
    assert ("/matrix/*/*", "/matrix/*/value/*", "double", "double") in rows


def test_a_record_in_itself_is_told_once() -> None:
    schema = avro({"name": "inside", "type": ["null", "shop.Order"], "default": None})
    assert [f.source_path for f in translate(schema, JSON_SCHEMA).fields()] == ["", "/inside"]
