"""The semantic diff of pairs."""

import json
from typing import Any

from tallystick.compat.change import Change, ChangeKind
from tallystick.compat.diff import diff
from tallystick.formats import parse
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition

OLD = '{"type": "record", "name": "Order", "fields": []}'
NEW = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'


def _changes(old: dict[str, Any], new: dict[str, Any]) -> list[Change]:
    a, b = (parse(SchemaDefinition(types.KEY_VALUE, json.dumps(text))) for text in (old, new))
    return diff(a, b)


def _pair(key: str, value: str, **rest: str) -> dict[str, Any]:
    return {"key": {"type": key}, "value": {"type": "AVRO", "schema": value}, **rest}


def test_nothing_changed() -> None:
    assert _changes(_pair("STRING", OLD), _pair("STRING", OLD, encoding="INLINE")) == []


def test_encoding_changed() -> None:
    (change,) = _changes(_pair("STRING", OLD), _pair("STRING", OLD, encoding="SEPARATED"))
    assert (change.kind, change.was, change.now) == (ChangeKind.CHANGED, "INLINE", "SEPARATED")
    assert [finding.rule for finding in change.findings] == ["KEY_VALUE_ENCODING_CHANGED"] * 2


def test_type_of_a_half_changed() -> None:
    (change,) = _changes(_pair("STRING", OLD), _pair("INT32", OLD))
    assert (change.what, change.was, change.now) == ("type of the key", "STRING", "INT32")
    assert [finding.rule for finding in change.findings] == ["PRIMITIVE_TYPE_CHANGED"] * 2
    assert change.new is not None
    assert change.new.path == "/key"


def test_change_within_a_half() -> None:
    (change,) = _changes(_pair("STRING", OLD), _pair("STRING", NEW))
    assert change.kind is ChangeKind.ADDED
    assert change.what.endswith(" in the value")
    assert change.new is not None
    assert change.new.path == "/value/fields/0"
    assert [finding.rule for finding in change.findings] == ["AVRO_FIELD_ADDED_NEEDS_DEFAULT"]


def test_every_change_is_listed_in_order() -> None:
    changes = _changes(_pair("STRING", OLD), _pair("INT32", NEW, encoding="SEPARATED"))
    assert [change.new and change.new.path for change in changes] == ["/encoding", "/key", "/value/fields/0"]
