"""Findings of halves as findings of pairs: what they say, and where they point."""

import json

from tallystick.compat import reading
from tallystick.finding import Direction, Finding
from tallystick.formats import parse
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition

OLD = '{"type": "record", "name": "Order", "fields": []}'
NEW = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'


def _pair(key: str, value: str) -> str:
    halves = {"key": {"type": "AVRO", "schema": key}, "value": {"type": "AVRO", "schema": value}}
    return json.dumps(halves, indent=1)


def _findings(old: str, new: str, direction: Direction) -> list[Finding]:
    a, b = (parse(SchemaDefinition(types.KEY_VALUE, text)) for text in (old, new))
    return reading.findings(a, b, direction)


def test_finding_says_which_half() -> None:
    (in_key,) = _findings(_pair(OLD, OLD), _pair(NEW, OLD), Direction.BACKWARD)
    (in_value,) = _findings(_pair(OLD, OLD), _pair(OLD, NEW), Direction.BACKWARD)
    assert in_key.message == in_value.message.replace("in the value: ", "in the key: ")
    assert in_key.fix == in_value.fix.replace("in the value, ", "in the key, ")
    assert in_key.message.startswith("in the key: ")
    assert in_value.fix.startswith("in the value, ")


def test_places_are_those_of_the_half_in_the_whole_text() -> None:
    on_one_line = " ".join(_pair(OLD, OLD).split())
    (finding,) = _findings(on_one_line, _pair(OLD, NEW), Direction.BACKWARD)
    assert finding.new is not None
    assert (finding.new.path, finding.new.line) == ("/value/fields/0", 8)
    assert finding.old is not None
    assert (finding.old.path, finding.old.line) == ("/value", 1)


def test_rule_and_direction_stay_those_of_the_half() -> None:
    (finding,) = _findings(_pair(OLD, NEW), _pair(OLD, OLD), Direction.FORWARD)
    assert finding.rule == "AVRO_FIELD_REMOVED_NEEDS_DEFAULT"
    assert finding.direction is Direction.FORWARD


def test_findings_of_the_key_come_first() -> None:
    found = _findings(_pair(OLD, OLD), _pair(NEW, NEW), Direction.BACKWARD)
    assert [finding.new and finding.new.path for finding in found] == ["/key/fields/0", "/value/fields/0"]
