"""Flat Protobuf messages described by Avro text and a property."""

import json
from typing import Any

import pytest

from tallystick.errors import InvalidRecord
from tallystick.formats import parse
from tallystick.formats.pulsar_protobuf.codec import decode, encode
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import PULSAR_PROTOBUF

FIELDS = [
    {"name": "id", "type": "int", "default": 0},
    {"name": "name", "type": {"type": "string", "avro.java.string": "String"}, "default": ""},
    {"name": "tags", "type": {"type": "array", "items": "string"}, "default": []},
]
INFO: list[dict[str, Any]] = [
    {"number": 1, "name": "id", "type": "INT32", "label": "LABEL_OPTIONAL", "definition": None},
    {"number": 2, "name": "name", "type": "STRING", "label": "LABEL_OPTIONAL", "definition": None},
    {"number": 10, "name": "tags", "type": "STRING", "label": "LABEL_REPEATED", "definition": None},
]


def _schema(fields: Any = FIELDS, info: Any = INFO) -> Any:
    text = json.dumps({"type": "record", "name": "Order", "fields": fields})
    properties = {} if info is None else {"__PARSING_INFO__": info if isinstance(info, str) else json.dumps(info)}
    return parse(SchemaDefinition(PULSAR_PROTOBUF, text, properties=properties))


def test_bytes_are_protobuf_s() -> None:
    value = {"id": 5, "name": "é", "tags": ["a", "b"]}
    payload = encode(_schema(), value)
    assert payload.hex(" ") == "08 05 12 02 c3 a9 52 01 61 52 01 62"
    assert decode(_schema(), payload) == value


def test_missing_fields_take_their_defaults() -> None:
    fields = [{"name": "id", "type": "int", "default": 7}, {"name": "name", "type": "string"}]
    assert decode(_schema(fields), b"") == {"id": 7, "name": ""}
    assert encode(_schema(fields), {"name": "a"}) == b"\x12\x01a"


def test_unknown_fields_are_passed_over() -> None:
    assert decode(_schema(), b"\x08\x05\x98\x06\x01") == {"id": 5, "name": "", "tags": []}


def test_numbers_are_read_packed_or_not() -> None:
    fields = [{"name": "n", "type": {"type": "array", "items": "long"}}]
    info = [{"number": 1, "name": "n", "type": "INT64", "label": "LABEL_REPEATED"}]
    assert decode(_schema(fields, info), b"\x08\x01\x08\x02") == {"n": [1, 2]}
    assert decode(_schema(fields, info), b"\x0a\x02\x01\x02") == {"n": [1, 2]}


def test_reader_gets_its_own_fields() -> None:
    reader = _schema([{"name": "id", "type": "long"}, {"name": "new", "type": "string", "default": "x"}])
    assert decode(_schema(), b"\x08\x05", reader) == {"id": 5, "new": "x"}


@pytest.mark.parametrize("payload", [b"\x08", b"\x12\x05a", b"\x00", b"\x08\x05\x00"])
def test_broken_payload_is_refused(payload: bytes) -> None:
    with pytest.raises(InvalidRecord, match="the payload cannot be read") as refused:
        decode(_schema(), payload)
    assert [finding.rule for finding in refused.value.findings] == ["PULSAR_PROTOBUF_PAYLOAD_UNREADABLE"]


def test_text_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(InvalidRecord):
        decode(_schema(), b"\x12\x01\xff")


def test_wrong_value_is_refused_with_its_path() -> None:
    with pytest.raises(InvalidRecord) as refused:
        encode(_schema(), {"id": "five"})
    assert [(f.rule, f.new and f.new.path) for f in refused.value.findings] == [("AVRO_VALUE_TYPE_WRONG", "/id")]


def test_value_that_protobuf_s_type_does_not_hold_is_refused() -> None:
    info = [{**INFO[0], "type": "UINT32"}, *INFO[1:]]
    with pytest.raises(InvalidRecord, match="field `id` does not take -1") as refused:
        encode(_schema(info=info), {"id": -1})
    assert [(f.rule, f.new and f.new.path) for f in refused.value.findings] == [
        ("PULSAR_PROTOBUF_VALUE_TYPE_WRONG", "/id")
    ]


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        (None, "the property __PARSING_INFO__ is missing"),
        ("{", "cannot be read: not JSON"),
        ("[" * 10_000, "cannot be read: nested deeper"),
        ({}, "is not a list of fields"),
        ([5], "is not a list of fields"),
        ([], "does not say the number of field `id`"),
        (INFO[:2], "does not say the number of field `tags`"),
        ([{**INFO[0], "number": 2}, *INFO[1:]], "does not describe a message"),
        ([{**INFO[0], "name": "i d"}, *INFO[1:]], "does not describe a message"),
        ([{**INFO[0], "number": 0}], "a field without a proper name and number"),
        ([{**INFO[0], "number": True}], "a field without a proper name and number"),
        ([{**INFO[0], "number": 2**40}], "a field without a proper name and number"),
        ([{**INFO[0], "name": None}], "a field without a proper name and number"),
        ([{**INFO[0], "type": "TEXT"}], "field `id` is of a type that Protobuf does not have"),
        ([{**INFO[0], "type": 5}], "field `id` is of a type that Protobuf does not have"),
        ([{**INFO[0], "type": "MESSAGE"}], "field `id` is of type MESSAGE"),
        ([{**INFO[0], "type": "ENUM"}], "field `id` is of type ENUM"),
    ],
)
def test_message_that_is_not_described_is_refused(info: Any, reason: str) -> None:
    schema = _schema(info=info)
    for call in (lambda: encode(schema, {}), lambda: decode(schema, b"")):
        with pytest.raises(InvalidRecord, match=reason) as refused:
            call()
        assert [finding.rule for finding in refused.value.findings] == ["PULSAR_PROTOBUF_MESSAGE_UNDESCRIBED"]


def test_schema_that_is_no_record_has_no_payload() -> None:
    schema: Any = parse(SchemaDefinition(PULSAR_PROTOBUF, '"string"', properties={"__PARSING_INFO__": "[]"}))
    with pytest.raises(InvalidRecord, match="the schema is no record"):
        encode(schema, "a")
