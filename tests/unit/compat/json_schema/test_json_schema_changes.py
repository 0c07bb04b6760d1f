"""The list of what changed, whether it breaks anything or not."""

import json
from typing import Any

from tallystick.compat.changes.json_schema import changes
from tallystick.finding import Place
from tallystick.formats.json_schema import FORMAT, JsonSchema
from tallystick.model.definition import NO_REFERENCES, SchemaDefinition
from tallystick.model.schema_type import JSON_SCHEMA

TEXT, INTEGER = {"type": "string"}, {"type": "integer"}


def parsed(value: Any) -> JsonSchema:
    schema = FORMAT.parse(SchemaDefinition(JSON_SCHEMA, json.dumps(value)), NO_REFERENCES)
    assert isinstance(schema, JsonSchema)
    return schema


def listed(old: Any, new: Any) -> list[tuple[str, str | None, str | None]]:
    return [(str(change.kind), _path(change.old), _path(change.new)) for change in changes(parsed(old), parsed(new))]


def _path(place: Place | None) -> str | None:
    return None if place is None else place.path


def test_nothing_changed() -> None:
    assert listed({"properties": {"a": TEXT}}, {"properties": {"a": TEXT}}) == []


def test_properties_come_and_go() -> None:
    old, new = {"properties": {"a": TEXT, "b": INTEGER}}, {"properties": {"a": TEXT, "c": INTEGER}}
    assert listed(old, new) == [("removed", "/properties/b", None), ("added", None, "/properties/c")]


def test_limits_are_widened_and_narrowed() -> None:
    assert listed({"maxLength": 5}, {"maxLength": 6}) == [("widened", "/maxLength", "/maxLength")]
    assert listed({"minimum": 5}, {"minimum": 6}) == [("narrowed", "/minimum", "/minimum")]
    assert listed({"type": "integer"}, {"type": "number"}) == [("widened", "/type", "/type")]
    assert listed({"enum": [1, 2]}, {"enum": [1]}) == [("narrowed", "/enum", "/enum")]
    assert listed({"type": "integer"}, {"type": "string"}) == [("changed", "/type", "/type")]


def test_required_names_are_listed_one_by_one() -> None:
    assert listed({"required": ["a", "b"]}, {"required": ["b", "c"]}) == [
        ("removed", "/required", "/required"),
        ("added", "/required", "/required"),
    ]


def test_documentation_is_a_change() -> None:
    assert listed({"title": "a"}, {"title": "b"}) == [("changed", "/title", "/title")]


def test_a_branch_that_stays_is_no_change_wherever_it_stands() -> None:
    old, new = {"anyOf": [TEXT, INTEGER]}, {"anyOf": [{"type": "null"}, TEXT, INTEGER]}
    assert listed(old, new) == [("added", None, "/anyOf/0")]


def test_a_recursive_schema_is_walked_once() -> None:
    old = {"properties": {"next": {"$ref": "#"}}, "maxProperties": 3}
    assert listed(old, old | {"maxProperties": 4}) == [("widened", "/maxProperties", "/maxProperties")]


def test_what_true_becomes() -> None:
    assert listed({"items": True}, {"items": False}) == [("narrowed", "/items", "/items")]
