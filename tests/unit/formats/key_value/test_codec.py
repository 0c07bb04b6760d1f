"""The bytes of pairs."""

import json
from typing import Any

import pytest

from tallystick.errors import InvalidRecord
from tallystick.formats import format_of, parse
from tallystick.formats.key_value import KeyValueSchema, decode_parts, encode_parts
from tallystick.formats.key_value.codec import decode, encode
from tallystick.formats.key_value.validate import validate
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.key_value import KeyValue

RECORD = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
GROWN = {**RECORD, "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": "string", "default": "none"}]}


def _schema(key: str, value: Any, encoding: str = "INLINE") -> KeyValueSchema:
    half = {"type": value} if isinstance(value, str) else {"type": "AVRO", "schema": json.dumps(value)}
    text = json.dumps({"encoding": encoding, "key": {"type": key}, "value": half})
    schema = parse(SchemaDefinition(types.KEY_VALUE, text))
    assert isinstance(schema, KeyValueSchema)
    return schema


@pytest.mark.parametrize(
    ("pair", "payload"),
    [
        (KeyValue("k", 5), "00 00 00 01 6b 00 00 00 04 00 00 00 05"),
        (KeyValue("", 5), "00 00 00 00 00 00 00 04 00 00 00 05"),
        (KeyValue(None, 5), "ff ff ff ff 00 00 00 04 00 00 00 05"),
        (KeyValue("k", None), "00 00 00 01 6b ff ff ff ff"),
        (KeyValue(None, None), "ff ff ff ff ff ff ff ff"),
    ],
)
def test_inline_pairs_are_framed(pair: KeyValue, payload: str) -> None:
    schema = _schema("STRING", "INT32")
    assert encode(schema, pair).hex(" ") == payload
    assert decode(schema, bytes.fromhex(payload)) == pair


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ("", "the length at offset 0 is cut off"),
        ("00 00 00", "the length at offset 0 is cut off"),
        ("00 00 00 02 6b", "the length at offset 0 says 2, but 1 bytes follow"),
        ("ff ff ff fe", "the length at offset 0 says -2"),
        ("7f ff ff ff 6b", "the length at offset 0 says 2147483647"),
        ("00 00 00 01 6b", "the length at offset 5 is cut off"),
        ("00 00 00 01 6b 00 00 00 04 00 00 00 05 00", "1 bytes are left over"),
    ],
)
def test_broken_frames_are_refused(payload: str, reason: str) -> None:
    with pytest.raises(InvalidRecord, match=reason) as refused:
        decode(_schema("STRING", "INT32"), bytes.fromhex(payload))
    assert [finding.rule for finding in refused.value.findings] == ["KEY_VALUE_PAYLOAD_UNREADABLE"]


def test_broken_half_is_named() -> None:
    with pytest.raises(InvalidRecord, match="in the value: the payload is not of type INT32") as refused:
        decode(_schema("STRING", "INT32"), bytes.fromhex("00 00 00 01 6b 00 00 00 01 00"))
    (finding,) = refused.value.findings
    assert finding.rule == "PRIMITIVE_PAYLOAD_UNREADABLE"
    assert finding.new is not None
    assert finding.new.path == "/value"


def test_parts_of_a_separated_pair() -> None:
    schema = _schema("STRING", "INT32", "SEPARATED")
    assert encode_parts(schema, KeyValue("k", 5)) == (b"k", b"\x00\x00\x00\x05")
    assert encode_parts(schema, KeyValue("k", None)) == (b"k", None)
    assert decode_parts(schema, (b"k", b"\x00\x00\x00\x05")) == KeyValue("k", 5)
    assert decode_parts(schema, (None, None)) == KeyValue(None, None)


def test_separated_pair_is_not_one_payload() -> None:
    schema = _schema("STRING", "INT32", "SEPARATED")
    for call in (lambda: encode(schema, KeyValue("k", 5)), lambda: decode(schema, b"\x00\x00\x00\x05")):
        with pytest.raises(InvalidRecord, match="two payloads") as refused:
            call()
        assert [finding.rule for finding in refused.value.findings] == ["KEY_VALUE_PAYLOAD_SEPARATED"]


def test_inline_pair_has_parts_too() -> None:
    assert encode_parts(_schema("STRING", "BYTES"), KeyValue("k", b"v")) == (b"k", b"v")


def test_halves_are_read_by_the_halves_of_the_reader() -> None:
    writer, reader = _schema("STRING", RECORD), _schema("STRING", GROWN)
    payload = encode(writer, KeyValue("k", {"id": 7}))
    assert decode(writer, payload, reader) == KeyValue("k", {"id": 7, "note": "none"})


def test_findings_of_halves_have_the_path_of_their_half() -> None:
    schema = _schema("STRING", RECORD)
    findings = validate(schema, KeyValue(5, {"id": "seven"}))
    assert [(f.rule, f.new.path if f.new else None) for f in findings] == [
        ("PRIMITIVE_VALUE_TYPE_WRONG", "/key"),
        ("AVRO_VALUE_TYPE_WRONG", "/value/id"),
    ]
    assert findings[0].message.startswith("in the key: ")
    assert findings[1].message.startswith("in the value: ")


@pytest.mark.parametrize("value", [("k", 5), {"key": "k", "value": 5}, None])
def test_anything_but_a_pair_is_refused(value: object) -> None:
    assert [f.rule for f in validate(_schema("STRING", "INT32"), value)] == ["KEY_VALUE_VALUE_NOT_A_PAIR"]


def test_outside_halves_pass_as_bytes() -> None:
    schema = _schema("EXTERNAL", "EXTERNAL")
    assert decode(schema, encode(schema, KeyValue(b"\x01", b"\x02"))) == KeyValue(b"\x01", b"\x02")


def test_pair_within_a_pair() -> None:
    inner = json.dumps({"key": {"type": "STRING"}, "value": {"type": "INT8"}})
    text = json.dumps({"key": {"type": "INT8"}, "value": {"type": "KEY_VALUE", "schema": inner}})
    schema = parse(SchemaDefinition(types.KEY_VALUE, text))
    format_ = format_of(types.KEY_VALUE)
    pair = KeyValue(1, KeyValue("k", 2))
    assert format_.decode(schema, format_.encode(schema, pair)) == pair
    (finding,) = format_.validate(schema, KeyValue(1, KeyValue("k", 300)))
    assert (finding.rule, finding.new and finding.new.path) == ("PRIMITIVE_VALUE_OUT_OF_RANGE", "/value/value")
