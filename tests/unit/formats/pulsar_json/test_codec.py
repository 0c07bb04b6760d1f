"""Avro values as plain JSON, and JSON as Pulsar's clients write it."""

import datetime as dt
import json
import time
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tallystick.errors import InvalidRecord
from tallystick.formats import format_of, parse
from tallystick.formats.format import Schema
from tallystick.formats.pulsar_json.codec import decode, encode
from tallystick.formats.pulsar_json.depth import MAX_VALUE_DEPTH
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO, PULSAR_JSON


def _schema(type_: Any) -> Any:
    return parse(SchemaDefinition(PULSAR_JSON, json.dumps(type_)))


def _record(*fields: dict[str, Any], name: str = "Order") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


def _rules(schema: Schema, payload: str) -> list[tuple[str, str]]:
    with pytest.raises(InvalidRecord) as refused:
        decode(schema, payload.encode())  # type: ignore[arg-type]
    return [(finding.rule, finding.new.path if finding.new else "") for finding in refused.value.findings]


@pytest.mark.parametrize(
    ("type_", "value", "payload"),
    [
        ("null", None, "null"),
        ("boolean", True, "true"),
        ("int", -5, "-5"),
        ("long", 2**62, str(2**62)),
        ("double", 0.1, "0.1"),
        ("double", float("inf"), '"Infinity"'),
        ("float", float("-inf"), '"-Infinity"'),
        ("string", 'Zoë "', '"Zoë \\""'),
        ("bytes", b"\x00\xff", '"AP8="'),
        ({"type": "fixed", "name": "F", "size": 2}, b"ab", '"YWI="'),
        ({"type": "enum", "name": "E", "symbols": ["X", "Y"]}, "Y", '"Y"'),
        ({"type": "array", "items": "int"}, [1, 2], "[1,2]"),
        ({"type": "map", "values": "bytes"}, {"a": b"a"}, '{"a":"YQ=="}'),
        (["null", "string"], "a", '"a"'),
        (["null", "string"], None, "null"),
        (["null", {"type": "array", "items": ["null", "long"]}], [1, None], "[1,null]"),
        ({"type": "int", "logicalType": "date"}, dt.date(1970, 1, 11), "10"),
        ({"type": "int", "logicalType": "time-millis"}, dt.time(0, 0, 1), "1000"),
        ({"type": "long", "logicalType": "timestamp-millis"}, dt.datetime(1970, 1, 2, tzinfo=dt.UTC), "86400000"),
        ({"type": "string", "logicalType": "uuid"}, UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        ({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}, Decimal("1.25"), '"fQ=="'),
    ],
)
def test_json_of_a_value(type_: Any, value: Any, payload: str) -> None:
    schema = _schema(type_)
    assert encode(schema, value).decode() == payload
    assert decode(schema, payload.encode()) == value


def test_nan_is_a_text() -> None:
    assert encode(_schema("double"), float("nan")) == b'"NaN"'
    assert decode(_schema("double"), b'"NaN"') != decode(_schema("double"), b'"NaN"')


def test_branch_may_be_named() -> None:
    assert encode(_schema(["int", "long"]), ("long", 5)) == b"5"


def test_field_with_a_default_is_written_out() -> None:
    schema = _schema(_record({"name": "a", "type": "int"}, {"name": "b", "type": "bytes", "default": "\u00ff"}))
    assert encode(schema, {"a": 1}) == b'{"a":1,"b":"/w=="}'


def test_missing_field_takes_its_default_or_null() -> None:
    schema = _schema(
        _record(
            {"name": "a", "type": "int", "default": 5},
            {"name": "b", "type": ["null", "string"]},
            {"name": "c", "type": ["string", "null"], "default": "x"},
        )
    )
    assert decode(schema, b"{}") == {"a": 5, "b": None, "c": "x"}


def test_unknown_field_is_passed_over() -> None:
    assert decode(_schema(_record({"name": "a", "type": "int"})), b'{"z": {"y": []}, "a": 1}') == {"a": 1}


def test_missing_field_that_is_needed_is_found() -> None:
    schema = _schema(_record({"name": "a", "type": "int"}, {"name": "b", "type": "string"}))
    assert _rules(schema, '{"a": 1}') == [("PULSAR_JSON_VALUE_FIELD_MISSING", "/b")]


def test_every_wrong_part_is_found_where_it_is() -> None:
    line = _record({"name": "count", "type": "int"}, name="Line")
    schema = _schema(
        _record(
            {"name": "lines", "type": {"type": "array", "items": line}},
            {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A"]}},
            {"name": "raw", "type": ["null", "bytes"]},
        )
    )
    assert _rules(schema, '{"lines": [{"count": 1}, {"count": "2"}, 3], "kind": "B", "raw": "§"}') == [
        ("PULSAR_JSON_VALUE_TYPE_WRONG", "/lines/1/count"),
        ("PULSAR_JSON_VALUE_TYPE_WRONG", "/lines/2"),
        ("PULSAR_JSON_VALUE_SYMBOL_UNKNOWN", "/kind"),
        ("PULSAR_JSON_VALUE_TYPE_WRONG", "/raw"),
    ]


def test_fault_in_the_only_record_of_a_union_is_found_within() -> None:
    schema = _schema(["null", _record({"name": "a", "type": "int"})])
    assert _rules(schema, '{"a": "x"}') == [("PULSAR_JSON_VALUE_TYPE_WRONG", "/a")]


@pytest.mark.parametrize(
    ("type_", "payload"),
    [
        ("int", "2147483648"),
        ("int", "1.0"),
        ("int", "true"),
        ("long", '"5"'),
        ("float", "1e39"),
        ("string", "5"),
        ("string", '"\\ud800"'),
        ("boolean", "0"),
        ("null", "0"),
        ("bytes", '"YWI"'),
        ({"type": "fixed", "name": "F", "size": 2}, '"YWJj"'),
        ({"type": "array", "items": "int"}, "{}"),
        ({"type": "map", "values": "int"}, "[]"),
        ({"type": "string", "logicalType": "uuid"}, '"x"'),
        ({"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 1}, "123.45"),
    ],
)
def test_json_of_another_type_is_refused(type_: Any, payload: str) -> None:
    assert _rules(_schema(type_), payload) == [("PULSAR_JSON_VALUE_TYPE_WRONG", "")]


def test_decimal_may_be_a_number() -> None:
    schema = _schema({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2})
    assert decode(schema, b"1.25") == Decimal("1.25")


@pytest.mark.parametrize("payload", ["", "{", "{} x", "nul", '{"a": 1, "a": 2}', "NaN", "1" * 5_000, "[" * 10_000])
def test_payload_that_is_no_json_is_refused(payload: str) -> None:
    assert [rule for rule, _ in _rules(_schema("int"), payload)] == ["PULSAR_JSON_PAYLOAD_UNREADABLE"]


def test_payload_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(InvalidRecord, match="the bytes at offset 1 are not UTF-8"):
        decode(_schema("string"), b'"\xff"')


def test_reader_gets_what_avro_s_resolution_gives() -> None:
    writer = _schema(
        _record(
            {"name": "a", "type": "int"},
            {"name": "old", "type": "string"},
            {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
            {"name": "gone", "type": "int"},
        )
    )
    reader = _schema(
        _record(
            {"name": "a", "type": "double"},
            {"name": "new", "type": "bytes", "aliases": ["old"]},
            {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A"], "default": "A"}},
            {"name": "added", "type": "long", "default": 3},
        )
    )
    payload = b'{"a": 1, "old": "x", "kind": "B", "gone": 0}'
    assert decode(writer, payload, reader) == {"a": 1.0, "new": b"x", "kind": "A", "added": 3}


def test_value_is_the_same_as_with_avro() -> None:
    text = json.dumps(_record({"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}}))
    as_avro, as_json = parse(SchemaDefinition(AVRO, text)), parse(SchemaDefinition(PULSAR_JSON, text))
    value = {"at": dt.datetime(2024, 2, 29, 1, 2, 3, 4, tzinfo=dt.UTC)}
    avro, plain = format_of(AVRO), format_of(PULSAR_JSON)
    assert avro.decode(as_avro, avro.encode(as_avro, value)) == plain.decode(as_json, plain.encode(as_json, value))


def _list_of(depth: int) -> Any:
    value: Any = None
    for _ in range(depth):
        value = {"next": value}
    return value


def test_value_nested_deeper_than_a_reader_takes_is_refused() -> None:
    schema = _schema(["null", _record({"name": "next", "type": ["null", "Order"]})])
    assert decode(schema, encode(schema, _list_of(MAX_VALUE_DEPTH))) == _list_of(MAX_VALUE_DEPTH)
    for depth in (MAX_VALUE_DEPTH + 1, 50_000):
        with pytest.raises(InvalidRecord) as refused:
            encode(schema, _list_of(depth))
        assert all(finding.rule.endswith("_VALUE_TOO_DEEP") for finding in refused.value.findings)


@pytest.mark.parametrize("depth", [MAX_VALUE_DEPTH + 1, 150, 50_000])
def test_payload_nested_too_deeply_is_refused(depth: int) -> None:
    schema = _schema(["null", _record({"name": "next", "type": ["null", "Order"]})])
    with pytest.raises(InvalidRecord, match="nested deeper than"):
        decode(schema, b'{"next":' * depth + b"null" + b"}" * depth)


def test_union_of_records_within_each_other_takes_no_longer_for_each_level() -> None:
    b = _record({"name": "next", "type": ["null", "A", "B"]}, {"name": "y", "type": "int"}, name="B")
    a = _record({"name": "next", "type": ["null", "A", b]}, {"name": "x", "type": "int"}, name="A")
    schema = _schema([a, "B"])
    payload = '{"x": 1, "y": 1, "next": ' * 60 + "5" + "}" * 60
    started = time.process_time()
    with pytest.raises(InvalidRecord):
        decode(schema, payload.encode())
    assert time.process_time() - started < 5
