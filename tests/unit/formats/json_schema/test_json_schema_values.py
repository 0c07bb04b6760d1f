"""Which values fit, and their bytes."""

import json
import time
from typing import Any

import pytest

from tallystick.errors import InvalidRecord
from tallystick.formats.json_schema import FORMAT, JsonSchema
from tallystick.model.definition import NO_REFERENCES, SchemaDefinition
from tallystick.model.schema_type import JSON_SCHEMA


def schema_of(value: Any) -> JsonSchema:
    schema = FORMAT.parse(SchemaDefinition(JSON_SCHEMA, json.dumps(value, indent=1)), NO_REFERENCES)
    assert isinstance(schema, JsonSchema)
    return schema


def test_a_finding_names_both_places_what_was_asked_and_what_came() -> None:
    schema = schema_of({"properties": {"age": {"type": "integer", "minimum": 18}}})
    [finding] = FORMAT.validate(schema, {"age": 5})
    assert finding.rule == "JSON_SCHEMA_VALUE_MINIMUM"
    assert finding.old is not None
    assert (finding.old.path, finding.old.line) == ("/properties/age/minimum", 5)
    assert finding.new is not None
    assert finding.new.path == "/age"
    assert (finding.was, finding.now) == ("18", "5")
    assert "`/age` is too small" in finding.message


@pytest.mark.parametrize(
    ("schema", "value", "rule"),
    [
        ({"type": "string"}, 1, "TYPE"),
        ({"required": ["a"]}, {}, "REQUIRED"),
        ({"additionalProperties": False}, {"a": 1}, "ADDITIONAL_PROPERTIES"),
        ({"maxLength": 1}, "ab", "MAX_LENGTH"),
        ({"enum": [1]}, 2, "ENUM"),
        ({"const": 1}, 2, "CONST"),
        ({"properties": {"a": False}}, {"a": 1}, "FALSE_SCHEMA"),
        ({"anyOf": [{"type": "string"}]}, 1, "ANY_OF"),
        ({"oneOf": [{}, {}]}, 1, "ONE_OF"),
        ({"not": {}}, 1, "NOT"),
        ({"uniqueItems": True}, [1, 1.0], "UNIQUE_ITEMS"),
        ({"pattern": "^a"}, "b", "PATTERN"),
    ],
)
def test_the_rule_is_the_keyword(schema: Any, value: Any, rule: str) -> None:
    assert [finding.rule for finding in FORMAT.validate(schema_of(schema), value)] == [f"JSON_SCHEMA_VALUE_{rule}"]


def test_format_is_an_annotation() -> None:
    assert FORMAT.validate(schema_of({"type": "string", "format": "date"}), "no date") == []


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(?:(?=a)a+)+$", r"^(a|aa)+(?!b)$"])
def test_a_catastrophic_pattern_ends_soon(pattern: str) -> None:
    schema = schema_of({"properties": {"a": {"pattern": pattern}}})
    started = time.monotonic()
    findings = FORMAT.validate(schema, {"a": "a" * 50_000 + "!"})
    assert [finding.rule for finding in findings] == ["JSON_SCHEMA_VALUE_PATTERN"]
    assert time.monotonic() - started < 5


def _deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


def _circular() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    "value",
    [b"x", {1: 2}, float("nan"), float("inf"), "\ud800", {"\ud800": 1}, {"a": {1, 2}}, _deep(10_000), _circular()],
)
def test_what_is_no_json_value_is_a_finding(value: Any) -> None:
    [finding] = FORMAT.validate(schema_of({"items": {"$ref": "#"}}), value)
    assert finding.rule == "JSON_SCHEMA_VALUE_NOT_JSON"


def test_the_longest_chain_at_every_level_does_not_exhaust_the_stack() -> None:
    chain: dict[str, Any] = {f"a{i}": {"allOf": [{"$ref": f"#/definitions/a{i + 1}"}]} for i in range(90)}
    chain["a90"] = {"items": {"$ref": "#/definitions/a0"}}
    schema = schema_of({"definitions": chain, "$ref": "#/definitions/a0"})
    assert FORMAT.validate(schema, _deep(18)) == []
    assert FORMAT.validate(schema, _deep(100))[0].rule == "JSON_SCHEMA_VALUE_NOT_JSON"


def test_encode_is_compact_utf_8() -> None:
    assert FORMAT.encode(schema_of({}), {"näme": [1, None]}) == '{"näme":[1,null]}'.encode()


def test_encode_refuses_before_a_byte_leaves() -> None:
    with pytest.raises(InvalidRecord) as refused:
        FORMAT.encode(schema_of({"type": "string"}), 1)
    assert [finding.rule for finding in refused.value.findings] == ["JSON_SCHEMA_VALUE_TYPE"]


@pytest.mark.parametrize("payload", [b"", b"{", b"\xff", b'{"a":1,"a":2}', b"1 2", b"NaN", b"[" * 10_000])
def test_a_payload_that_is_no_json_is_refused(payload: bytes) -> None:
    with pytest.raises(InvalidRecord) as refused:
        FORMAT.decode(schema_of({}), payload)
    assert [finding.rule for finding in refused.value.findings] == ["JSON_SCHEMA_PAYLOAD_NOT_JSON"]


def test_decode_checks_the_writer_and_the_reader() -> None:
    writer, reader = schema_of({"type": "object"}), schema_of({"required": ["a"]})
    assert FORMAT.decode(writer, b'{"a": 1}', reader) == {"a": 1}
    with pytest.raises(InvalidRecord, match="reader's schema"):
        FORMAT.decode(writer, b"{}", reader)
    with pytest.raises(InvalidRecord, match="written with"):
        FORMAT.decode(writer, b"1", reader)
