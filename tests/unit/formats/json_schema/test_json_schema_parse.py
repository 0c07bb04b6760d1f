"""What is a JSON Schema and what is not."""

import json
from typing import Any

import pytest

from tallystick.errors import InvalidSchema
from tallystick.formats.json_schema import FORMAT, JsonSchema
from tallystick.formats.json_schema.draft import DRAFT_7, DRAFT_2020_12
from tallystick.model.definition import NO_REFERENCES, Reference, References, SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA

ADDRESS = Reference("address.json", "address", 1)


def parse(text: Any, references: References = NO_REFERENCES) -> JsonSchema:
    written = text if isinstance(text, str) else json.dumps(text)
    schema = FORMAT.parse(SchemaDefinition(JSON_SCHEMA, written, tuple(references)), references)
    assert isinstance(schema, JsonSchema)
    return schema


def test_without_schema_keyword_it_is_draft_7() -> None:
    assert parse("{}").draft is DRAFT_7
    assert parse({"$schema": "https://json-schema.org/draft/2020-12/schema"}).draft is DRAFT_2020_12


@pytest.mark.parametrize(
    ("text", "reason", "path"),
    [
        ('{"$ref": "#"}', "leads back to itself", "/$ref"),
        ('{"allOf": [{"$ref": "#"}]}', "leads back to itself", "/allOf/0/$ref"),
        (
            '{"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"}}}',
            "leads back to itself",
            "/definitions/a/$ref",
        ),
        ('{"$ref": "https://example.com/a.json"}', "neither in the text nor one of its references", "/$ref"),
        ('{"items": {"$ref": "#/definitions/none"}}', "neither in the text", "/items/$ref"),
        ('{"type": "objekt"}', "objekt", "/type"),
        ('{"properties": {"a": {"pattern": "("}}}', "regex", "/properties/a/pattern"),
        (
            '{"$schema": "https://json-schema.org/draft/2020-12/schema", "patternProperties": {"(": {}}}',
            "regex",
            "/patternProperties/(",
        ),
        ('{"$schema": "https://example.com/mine"}', "no draft from 4 to 2020-12", "/$schema"),
        ('{"a": 1, "a": 2}', "stands twice", ""),
        ("[1]", "an object, true or false", ""),
        ("[" * 10_000, "nested deeper", ""),
        ('{"type": ', "not JSON", ""),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(text: str, reason: str, path: str) -> None:
    with pytest.raises(InvalidSchema, match=reason) as refused:
        parse(text)
    assert refused.value.place is not None
    assert refused.value.place.path == path
    assert refused.value.place.line == 1


def test_the_line_of_a_fault_is_named() -> None:
    with pytest.raises(InvalidSchema) as refused:
        parse('{\n  "properties": {\n    "a": {"minimum": "x"}}}')
    assert refused.value.place is not None
    assert (refused.value.place.path, refused.value.place.line) == ("/properties/a/minimum", 3)


@pytest.mark.parametrize("text", ['{"minimum": 1e400}', '{"const": "\\ud800"}'])
def test_what_no_validator_can_hold_is_refused(text: str) -> None:
    with pytest.raises(InvalidSchema):
        parse(text)


def test_a_circle_through_a_property_is_a_recursive_schema() -> None:
    tree = parse({"properties": {"next": {"$ref": "#"}}, "required": ["v"]})
    assert FORMAT.validate(tree, {"v": 1, "next": {"v": 2}}) == []
    assert [finding.rule for finding in FORMAT.validate(tree, {"v": 1, "next": {}})] == ["JSON_SCHEMA_VALUE_REQUIRED"]


def test_thousands_of_definitions_in_a_chain_through_properties() -> None:
    chain: dict[str, Any] = {f"a{i}": {"properties": {"x": {"$ref": f"#/definitions/a{i + 1}"}}} for i in range(3000)}
    chain["a3000"] = {"type": "string"}
    assert parse({"definitions": chain, "$ref": "#/definitions/a0"}).steps == 2


def test_a_chain_of_refs_without_a_step_into_the_value_is_too_long() -> None:
    chain: dict[str, Any] = {f"a{i}": {"$ref": f"#/definitions/a{i + 1}"} for i in range(3000)}
    chain["a3000"] = {"type": "string"}
    with pytest.raises(InvalidSchema, match="more than 200 references"):
        parse({"definitions": chain, "$ref": "#/definitions/a0"})


@pytest.mark.parametrize("base", [{}, {"$id": "https://example.com/order.json"}])
@pytest.mark.parametrize("ref", ["address.json", "address.json#/definitions/a", "address.json#anchor"])
def test_a_reference_is_found_by_its_name(base: dict[str, str], ref: str) -> None:
    text = '{"type": "string", "definitions": {"a": {"type": "string"}, "b": {"$id": "#anchor", "type": "string"}}}'
    schema = parse({**base, "properties": {"a": {"$ref": ref}}}, {ADDRESS: SchemaDefinition(JSON_SCHEMA, text)})
    assert FORMAT.validate(schema, {"a": "x"}) == []
    assert [finding.rule for finding in FORMAT.validate(schema, {"a": 1})] == ["JSON_SCHEMA_VALUE_TYPE"]


def test_a_reference_of_a_reference() -> None:
    city = Reference("city.json", "city", 1)
    known = {
        ADDRESS: SchemaDefinition(JSON_SCHEMA, '{"properties": {"city": {"$ref": "city.json"}}}', (city,)),
        city: SchemaDefinition(JSON_SCHEMA, '{"type": "string"}'),
    }
    schema = FORMAT.parse(SchemaDefinition(JSON_SCHEMA, '{"$ref": "address.json"}', (ADDRESS,)), known)
    assert [finding.rule for finding in FORMAT.validate(schema, {"city": 1})] == ["JSON_SCHEMA_VALUE_TYPE"]


def test_a_fault_in_a_reference_names_the_reference() -> None:
    with pytest.raises(InvalidSchema, match=r"in reference 'address.json'"):
        parse("{}", {ADDRESS: SchemaDefinition(JSON_SCHEMA, '{"type": 5}')})


def test_a_reference_of_another_type_is_refused() -> None:
    with pytest.raises(InvalidSchema, match="AVRO"):
        parse("{}", {ADDRESS: SchemaDefinition(AVRO, '"string"')})


def test_a_pointer_may_lead_to_a_place_that_no_keyword_names() -> None:
    schema = parse({"components": {"a": {"type": "string"}}, "items": {"$ref": "#/components/a"}})
    assert FORMAT.validate(schema, ["x"]) == []
    assert [finding.rule for finding in FORMAT.validate(schema, [1])] == ["JSON_SCHEMA_VALUE_TYPE"]


def test_a_definition_of_a_megabyte() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "string", "maxLength": 10}, "b": {"enum": [1, 2, 3]}}}
    schema = parse({"type": "object", "properties": {f"p{i}": inner for i in range(9000)}})
    assert FORMAT.validate(schema, {"p8999": {"b": 4}})[0].rule == "JSON_SCHEMA_VALUE_ENUM"
