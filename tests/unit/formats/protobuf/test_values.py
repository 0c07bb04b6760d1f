"""Values and payloads of Protobuf schemas."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from google.protobuf import struct_pb2, timestamp_pb2

from tallystick.errors import InvalidRecord
from tallystick.formats.protobuf import FORMAT, ProtobufSchema
from tallystick.formats.protobuf.codec import encode
from tallystick.model.definition import NO_REFERENCES, SchemaDefinition
from tallystick.model.schema_type import PROTOBUF

ORDER = """syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/struct.proto";

message Order {
  string id = 1;
  int64 total = 2;
  optional int32 discount = 3;
  google.protobuf.Timestamp at = 4;
  google.protobuf.Duration wait = 5;
  repeated State states = 6;
  map<int32, Line> lines = 7;
  oneof pay {
    string card = 8;
    bytes cash = 9;
  }
  float weight = 10;
  bool paid = 11;
  google.protobuf.Value extra = 12;
  Order follows = 13;
  uint32 count = 14;
  repeated Line gifts = 15;
  message Line {
    double price = 1;
  }
}

enum State {
  NEW = 0;
  DONE = 1;
}
"""
LEGACY = """syntax = "proto2";
message Legacy {
  required string id = 1;
  optional Inner inner = 2;
  optional State state = 3;
  optional string note = 4;
  extensions 100 to 200;
  message Inner {
    required int32 a = 1;
  }
  enum State {
    NEW = 0;
    DONE = 1;
  }
}
extend Legacy {
  optional int32 priority = 100;
  repeated string tags = 101;
}
"""
EMPTY = {"id": "", "total": 0, "states": [], "lines": {}, "weight": 0.0, "paid": False, "count": 0, "gifts": []}


def parse(text: str) -> ProtobufSchema:
    schema = FORMAT.parse(SchemaDefinition(PROTOBUF, text), NO_REFERENCES)
    assert isinstance(schema, ProtobufSchema)
    return schema


def findings(text: str, value: object) -> list[tuple[str, str]]:
    schema = parse(text)
    found = FORMAT.validate(schema, value)
    if found:
        with pytest.raises(InvalidRecord) as caught:
            FORMAT.encode(schema, value)
        assert list(caught.value.findings) == found
    assert all(finding.message and finding.fix for finding in found)
    return [(finding.rule, finding.new.path) for finding in found if finding.new is not None]


def test_value_survives_the_round_trip() -> None:
    value = {
        "id": "é",
        "total": -(2**63),
        "discount": 0,
        "at": {"seconds": -5, "nanos": 7},
        "states": ["DONE", "NEW", 77],
        "lines": {-1: {"price": 1.5}},
        "cash": b"\xff",
        "weight": 1.5,
        "paid": True,
        "follows": {**EMPTY, "id": "first"},
        "count": 2**32 - 1,
        "gifts": [{"price": 2.0}, {"price": 0.0}],
    }
    schema = parse(ORDER)
    assert FORMAT.decode(schema, FORMAT.encode(schema, value)) == value


def test_fields_without_presence_are_always_decoded() -> None:
    assert FORMAT.decode(parse(ORDER), b"") == EMPTY


def test_none_is_a_field_that_is_not_set() -> None:
    assert FORMAT.encode(parse(ORDER), {"id": None, "discount": None, "at": None}) == b""


@pytest.mark.parametrize(
    ("moment", "parts"),
    [
        (datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC), {"seconds": 1, "nanos": 500_000_000}),
        (datetime(1969, 12, 31, 23, 59, 59, 500_000, tzinfo=UTC), {"seconds": -1, "nanos": 500_000_000}),
        (datetime(2024, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))), {"seconds": 1_704_067_200, "nanos": 0}),
    ],
)
def test_timestamp_may_be_a_datetime(moment: datetime, parts: dict[str, int]) -> None:
    schema = parse(ORDER)
    assert FORMAT.decode(schema, FORMAT.encode(schema, {"at": moment}))["at"] == parts


def test_duration_may_be_a_timedelta() -> None:
    schema = parse(ORDER)
    payload = FORMAT.encode(schema, {"wait": timedelta(seconds=-1.5)})
    assert FORMAT.decode(schema, payload)["wait"] == {"seconds": -1, "nanos": -500_000_000}


def test_datetime_without_a_zone_is_no_timestamp() -> None:
    assert findings(ORDER, {"at": datetime(2024, 1, 1)}) == [("PROTOBUF_VALUE_WRONG_TYPE", "/at")]


def test_message_objects_of_the_same_name_are_values() -> None:
    schema = parse(ORDER)
    record: Any = schema.types.record_class("shop.Order")(id="x", total=5)
    line: Any = schema.types.record_class("shop.Order.Line")(price=2.0)
    assert FORMAT.encode(schema, record) == FORMAT.encode(schema, {"id": "x", "total": 5})
    assert FORMAT.encode(schema, line) == line.SerializeToString()
    at = timestamp_pb2.Timestamp(seconds=5)
    assert FORMAT.decode(schema, FORMAT.encode(schema, {"at": at, "gifts": [line]}))["at"] == {"seconds": 5, "nanos": 0}


def test_message_objects_of_other_schemas_are_refused() -> None:
    assert findings(ORDER, struct_pb2.ListValue()) == []
    assert findings(ORDER, {"at": struct_pb2.Value()}) == [("PROTOBUF_VALUE_WRONG_MESSAGE", "/at")]
    other: Any = parse('syntax = "proto3"; message Other {}').types.record_class("Other")()
    assert findings(ORDER, other) == [("PROTOBUF_VALUE_WRONG_MESSAGE", "")]
    newer: Any = parse(ORDER.replace("uint32 count = 14", "uint32 count = 14; int32 news = 99"))
    record = newer.types.record_class("shop.Order")(news=1)
    assert findings(ORDER, record) == [("PROTOBUF_VALUE_UNKNOWN_FIELD", "")]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"nonsense": 1}, ("UNKNOWN_FIELD", "/nonsense")),
        ({5: 1}, ("UNKNOWN_FIELD", "/5")),
        ({"id": 5}, ("WRONG_TYPE", "/id")),
        ({"id": b"x"}, ("WRONG_TYPE", "/id")),
        ({"id": "\ud800"}, ("INVALID_UTF8", "/id")),
        ({"cash": "x"}, ("WRONG_TYPE", "/cash")),
        ({"total": "5"}, ("WRONG_TYPE", "/total")),
        ({"total": True}, ("WRONG_TYPE", "/total")),
        ({"total": 1.0}, ("WRONG_TYPE", "/total")),
        ({"total": 2**63}, ("OUT_OF_RANGE", "/total")),
        ({"total": 10**5000}, ("OUT_OF_RANGE", "/total")),
        ({"count": -1}, ("OUT_OF_RANGE", "/count")),
        ({"discount": 2**31}, ("OUT_OF_RANGE", "/discount")),
        ({"weight": 1e39}, ("OUT_OF_RANGE", "/weight")),
        ({"weight": "1"}, ("WRONG_TYPE", "/weight")),
        ({"lines": {1: {"price": 10**400}}}, ("OUT_OF_RANGE", "/lines/1/price")),
        ({"paid": 1}, ("WRONG_TYPE", "/paid")),
        ({"states": ["LOST"]}, ("UNKNOWN_ENUM_VALUE", "/states/0")),
        ({"states": ["NEW", 2**31]}, ("UNKNOWN_ENUM_VALUE", "/states/1")),
        ({"states": [1.5]}, ("WRONG_TYPE", "/states/0")),
        ({"states": "NEW"}, ("WRONG_TYPE", "/states")),
        ({"gifts": {"price": 1.0}}, ("WRONG_TYPE", "/gifts")),
        ({"gifts": 5}, ("WRONG_TYPE", "/gifts")),
        ({"lines": []}, ("WRONG_TYPE", "/lines")),
        ({"lines": {"a": {}}}, ("WRONG_TYPE", "/lines/a")),
        ({"lines": {1: 5}}, ("WRONG_TYPE", "/lines/1")),
        ({"follows": {"follows": {"id": 1}}}, ("WRONG_TYPE", "/follows/follows/id")),
        ({"follows": "x"}, ("WRONG_TYPE", "/follows")),
        ({"card": "a", "cash": b"b"}, ("ONEOF_HAS_SEVERAL", "")),
        ("text", ("WRONG_TYPE", "")),
        (None, ("WRONG_TYPE", "")),
    ],
)
def test_value_that_does_not_fit_has_a_finding_with_its_path(value: object, expected: tuple[str, str]) -> None:
    rule, path = expected
    assert findings(ORDER, value) == [(f"PROTOBUF_VALUE_{rule}", path)]


@pytest.mark.parametrize("weight", [float("inf"), float("-inf"), 3.4e38, 5])
def test_floats_that_fit(weight: float) -> None:
    assert findings(ORDER, {"weight": weight}) == []


def test_findings_name_the_place_in_the_schema() -> None:
    found = FORMAT.validate(parse(ORDER), {"lines": {1: {"price": "x"}}})
    assert str(found[0].old) == "shop.Order.Line.price (line 26, column 5)"


def test_value_nested_without_end_is_refused() -> None:
    value: dict[str, Any] = {}
    for _ in range(50_000):
        value = {"follows": value}
    assert findings_of_deep(value) == "PROTOBUF_VALUE_TOO_DEEP"
    while value:  # taken apart step by step: the interpreter would recurse
        value = value["follows"]


def findings_of_deep(value: object) -> str:
    (found,) = FORMAT.validate(parse(ORDER), value)
    return found.rule


def test_required_fields_must_be_there() -> None:
    assert findings(LEGACY, {}) == [("PROTOBUF_VALUE_MISSING_REQUIRED", "/id")]
    assert findings(LEGACY, {"id": "x", "inner": {}}) == [("PROTOBUF_VALUE_MISSING_REQUIRED", "/inner/a")]
    with pytest.raises(InvalidRecord) as caught:
        FORMAT.decode(parse(LEGACY), b"\x22\x01a")
    assert [finding.rule for finding in caught.value.findings] == ["PROTOBUF_PAYLOAD_MISSING_REQUIRED"]


def test_closed_enum_has_no_other_numbers() -> None:
    assert findings(LEGACY, {"id": "x", "state": 5}) == [("PROTOBUF_VALUE_UNKNOWN_ENUM_VALUE", "/state")]


def test_extensions_stand_in_brackets() -> None:
    schema = parse(LEGACY)
    value = {"id": "x", "[priority]": 5, "[tags]": ["a", "b"]}
    assert FORMAT.decode(schema, FORMAT.encode(schema, value)) == value


@pytest.mark.parametrize("payload", [b"\x0a", b"\x0a\x05ab", b"\xff" * 20, b"\x0a\x01\xff", b"\x07", b"\x6a\x02" * 200])
def test_payload_that_is_none_is_refused(payload: bytes) -> None:
    with pytest.raises(InvalidRecord) as caught:
        FORMAT.decode(parse(ORDER), payload)
    assert [finding.rule for finding in caught.value.findings] == ["PROTOBUF_PAYLOAD_CORRUPT"]


def test_payload_nested_without_end_is_refused() -> None:
    payload = b""
    for _ in range(300):
        payload = b"\x6a" + _varint(len(payload)) + payload
    with pytest.raises(InvalidRecord):
        FORMAT.decode(parse(ORDER), payload)


def _varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128, number >> 7])


def test_text_that_is_no_utf8_is_refused_in_proto2_as_well() -> None:
    with pytest.raises(InvalidRecord) as caught:
        FORMAT.decode(parse(LEGACY), b"\x0a\x01a\x22\x01\xff")
    assert [(f.rule, str(f.new)) for f in caught.value.findings] == [("PROTOBUF_PAYLOAD_INVALID_UTF8", "/note")]


def test_reader_sees_the_message_of_the_same_name() -> None:
    writer = parse('syntax = "proto3"; package a; message B { int32 x = 1; } message A { int32 x = 1; string y = 2; }')
    reader = parse('syntax = "proto3"; package b; message A { int64 x = 1; string z = 3; }')
    payload = encode(writer, {"x": 5, "y": "gone"}, message="a.A")
    assert FORMAT.decode(writer, payload, reader, message="a.A") == {"x": 5, "z": ""}
    with pytest.raises(InvalidRecord) as caught:
        FORMAT.decode(writer, payload, reader)
    assert caught.value.findings[0].rule == "PROTOBUF_PAYLOAD_UNKNOWN_MESSAGE"
