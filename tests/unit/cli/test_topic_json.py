"""JSON as people write it, to values and back: what `consume` shows, `produce` takes."""

import datetime as dt
import json
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tallystick.cli.topic_from_json import FromJson, reader_of
from tallystick.cli.topic_to_json import json_of
from tallystick.errors import InvalidRecord
from tallystick.formats import format_of, parse
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.key_value import KeyValue
from tallystick.model.schema_type import SchemaType
from tallystick.model.temporal import Instant, LocalDateTime, LocalTime

UTC = dt.UTC
MOMENT = dt.datetime(2026, 1, 31, 12, 0, 0, 250_000, UTC)
UUID_BYTES = UUID("7d444840-9dc0-11d1-b245-5ffdce74fad2").bytes
LOCAL = MOMENT.replace(tzinfo=None)


def avro(type_: Any) -> SchemaDefinition:
    return SchemaDefinition(types.AVRO, json.dumps(type_))


def logical(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


def record(**fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": [{"name": name, "type": of} for name, of in fields.items()]}


def taken(definition: SchemaDefinition, raw: Any) -> FromJson:
    return reader_of(parse(definition))(raw)


DECIMAL = logical("bytes", "decimal", precision=10, scale=2)
FIXED = {"type": "fixed", "name": "F", "size": 3}
PROTO = """
syntax = "proto3";
import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
enum Kind { SMALL = 0; LARGE = 1; }
message Order {
  string order_id = 1; int64 cents = 2; bytes proof = 3; Kind kind = 4; double share = 5;
  map<int32, string> names = 6; map<bool, Line> lines_by = 7; repeated Line lines = 8;
  google.protobuf.Timestamp at = 9; google.protobuf.Duration took = 10;
  message Line { uint64 number = 1; bytes seal = 2; }
}
"""

AVRO_VALUES = [
    ("bytes", "3q2+7w==", b"\xde\xad\xbe\xef"),
    (FIXED, "AAEC", b"\0\x01\x02"),
    (DECIMAL, "12.50", Decimal("12.50")),
    (DECIMAL, 12.5, Decimal("12.5")),
    (DECIMAL, -7, Decimal(-7)),
    (logical("int", "date"), "2026-01-31", dt.date(2026, 1, 31)),
    (logical("int", "date"), 20484, 20484),
    (logical("int", "time-millis"), "12:00:00.250", dt.time(12, 0, 0, 250_000)),
    (logical("long", "time-micros"), "12:00:00.000250", dt.time(12, 0, 0, 250)),
    (logical("long", "timestamp-millis"), "2026-01-31T12:00:00.250Z", MOMENT),
    (logical("long", "timestamp-millis"), "2026-01-31T13:00:00.250+01:00", MOMENT),
    (logical("long", "timestamp-millis"), "2026-01-31T12:00:00.250", MOMENT),
    (logical("long", "timestamp-millis"), 1769860800250, 1769860800250),
    (logical("long", "timestamp-micros"), "2026-01-31T12:00:00.250Z", MOMENT),
    (logical("long", "local-timestamp-millis"), "2026-01-31T12:00:00.250", LOCAL),
    (logical("long", "local-timestamp-micros"), "2026-01-31T12:00:00.250", LOCAL),
    (logical("string", "uuid"), "7d444840-9dc0-11d1-b245-5ffdce74fad2", "7d444840-9dc0-11d1-b245-5ffdce74fad2"),
    (
        {**logical("fixed", "uuid"), "name": "U", "size": 16},
        "7d444840-9dc0-11d1-b245-5ffdce74fad2",
        UUID("7d444840-9dc0-11d1-b245-5ffdce74fad2"),
    ),
    ({**logical("fixed", "uuid"), "name": "U", "size": 16}, "fURIQJ3AEdGyRV/9znT60g==", UUID_BYTES),
    ("double", "Infinity", float("inf")),
    ("float", "-Infinity", float("-inf")),
    ("double", 3, 3),
    ("string", "NaN", "NaN"),
    ({"type": "map", "values": "bytes"}, {"a": "AAEC"}, {"a": b"\0\x01\x02"}),
    ({"type": "array", "items": logical("int", "date")}, ["2026-01-31"], [dt.date(2026, 1, 31)]),
    (["null", "bytes"], None, None),
    (["null", "bytes"], "AAEC", b"\0\x01\x02"),
    (["null", "bytes"], {"bytes": "AAEC"}, ("bytes", b"\0\x01\x02")),
    (["string", "bytes"], "AAEC", "AAEC"),
    (["null", "int", FIXED], {"F": "AAEC"}, ("F", b"\0\x01\x02")),
    (["null", record(at=logical("int", "date"))], {"at": "2026-01-31"}, {"at": dt.date(2026, 1, 31)}),
    (record(a=["null", "long"], b="long"), {"b": 1}, {"a": None, "b": 1}),
]


@pytest.mark.parametrize(("type_", "raw", "value"), AVRO_VALUES)
def test_what_json_stands_for_in_avro(type_: Any, raw: Any, value: Any) -> None:
    found = taken(avro(type_), raw)
    assert (found.value, type(found.value)) == (value, type(value))
    schema = parse(avro(type_))
    format_of(types.AVRO).encode(schema, found.value)


def test_where_json_cannot_tell_branches_apart_one_is_named() -> None:
    definition = avro(["null", "string", FIXED])
    assert taken(definition, "AAEC").value == "AAEC"
    assert taken(definition, {"F": "AAEC"}).value == ("F", b"\0\x01\x02")


WRONG = [
    ("bytes", "not base64", "write the bytes in Base64"),
    ("bytes", 5, "write the bytes in Base64"),
    (DECIMAL, "twelve", 'write a number that fits, or its text, such as "12.50"'),
    (logical("int", "date"), "31.1.2026", 'write a date, such as "2026-01-31"'),
    (logical("int", "time-millis"), "12:00:00.0001", 'write a time, such as "12:30:00.250"'),
    (logical("int", "time-millis"), "12:00:00Z", 'write a time, such as "12:30:00.250"'),
    (logical("long", "timestamp-millis"), "2026-01-31T12:00:00.000250Z", "write a time of ISO 8601"),
    (logical("long", "timestamp-micros"), "12:00:00Z", "write a time of ISO 8601"),
    (logical("long", "local-timestamp-millis"), "2026-01-31T12:00:00Z", "write date and time without a zone"),
    ("double", "many", "write a number"),
]


@pytest.mark.parametrize(("type_", "raw", "fix"), WRONG)
def test_what_stands_for_nothing_is_explained_in_terms_of_json(type_: Any, raw: Any, fix: str) -> None:
    definition = avro(record(a={"type": "array", "items": type_}))
    found = taken(definition, {"a": [raw]})
    with pytest.raises(InvalidRecord) as refused:
        format_of(types.AVRO).encode(parse(definition), found.value)
    [finding] = found.explained(refused.value.findings)
    assert finding.new is not None
    assert finding.new.path == "/a/0"
    assert finding.fix.startswith(fix)


def test_findings_in_a_branch_are_about_its_parts() -> None:
    definition = avro(["null", record(at=logical("int", "date"), by="long")])
    found = taken(definition, {"at": "2026-01-31", "by": "me"})
    with pytest.raises(InvalidRecord) as refused:
        format_of(types.AVRO).encode(parse(definition), found.value)
    assert [finding.new.path for finding in refused.value.findings if finding.new] == ["/by"]


def test_a_field_that_the_schema_does_not_have_is_not_dropped() -> None:
    assert taken(avro(record(a="long")), {"a": 1, "b": 2}).value == {"a": 1, "b": 2}


def test_unions_within_unions_take_no_longer_than_they_are_deep() -> None:
    fields: list[dict[str, Any]] = [
        {"name": "next", "type": ["null", "A", "B"], "default": None},
        {"name": "at", "type": "long"},
    ]
    b = {"type": "record", "name": "B", "fields": fields}
    a = {"type": "record", "name": "A", "fields": [{**fields[0], "type": ["null", "A", b]}, fields[1]]}
    raw: dict[str, Any] = {"at": 1}
    for _ in range(60):
        raw = {"next": raw, "at": 1}
    assert json_of(taken(avro(a), raw).value)["next"]["next"]["at"] == 1


def test_json_too_deep_to_look_into_is_left_for_the_validation() -> None:
    node = {"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"], "default": None}]}
    raw: dict[str, Any] = {}
    for _ in range(1000):
        raw = {"next": raw}
    found = taken(avro(node), raw)
    assert found.value is raw


def test_protobuf_takes_the_forms_of_its_own_json() -> None:
    raw = {
        "orderId": "a",
        "cents": "1250",
        "proof": "AAEC",
        "kind": "LARGE",
        "share": "NaN",
        "names": {"1": "one"},
        "lines_by": {"true": {"number": "18446744073709551615", "seal": "AAEC"}},
        "lines": [{"number": 2}],
        "at": "2026-01-31T12:00:00.000000001Z",
        "took": "-1.5s",
    }
    value = taken(SchemaDefinition(types.PROTOBUF, PROTO), raw).value
    share = value.pop("share")
    assert share != share
    assert value == {
        "order_id": "a",
        "cents": 1250,
        "proof": b"\0\x01\x02",
        "kind": "LARGE",
        "names": {1: "one"},
        "lines_by": {True: {"number": 2**64 - 1, "seal": b"\0\x01\x02"}},
        "lines": [{"number": 2}],
        "at": {"seconds": 1769860800, "nanos": 1},
        "took": {"seconds": -1, "nanos": -500_000_000},
    }


@pytest.mark.parametrize(
    ("raw", "path", "fix"),
    [
        ({"proof": "?"}, "/proof", "write the bytes in Base64"),
        ({"lines": [{"seal": "?"}]}, "/lines/0/seal", "write the bytes in Base64"),
        ({"at": "soon"}, "/at", 'write a time of ISO 8601, such as "2026-01-31T12:00:00Z"'),
        ({"took": "long"}, "/took", 'write a duration, such as "1.5s"'),
        ({"cents": "much"}, "/cents", "give an int"),
        ({"order": "a"}, "/order", "leave it out, or correct its name"),
        ({"order_id": "a", "orderId": "b"}, "/orderId", "leave it out, or correct its name"),
    ],
)
def test_protobuf_values_that_do_not_fit(raw: Any, path: str, fix: str) -> None:
    definition = SchemaDefinition(types.PROTOBUF, PROTO)
    found = taken(definition, raw)
    [finding] = found.explained(format_of(types.PROTOBUF).validate(parse(definition), found.value))
    assert finding.new is not None
    assert (finding.new.path, finding.fix) == (path, fix)


PRIMITIVES = [
    (types.INT32, 5, 5),
    (types.BOOLEAN, True, True),
    (types.DOUBLE, "Infinity", float("inf")),
    (types.DATE, "2026-01-31T12:00:00.250Z", MOMENT),
    (types.TIMESTAMP, "2026-01-31T12:00:00.250Z", MOMENT),
    (types.TIME, "12:00:00.250", dt.time(12, 0, 0, 250_000)),
    (types.INSTANT, "2026-01-31T12:00:00.000000001Z", Instant(1769860800, 1)),
    (types.LOCAL_DATE, "2026-01-31", dt.date(2026, 1, 31)),
    (types.LOCAL_TIME, "12:00:00.000000001", LocalTime(43_200_000_000_001)),
    (
        types.LOCAL_DATE_TIME,
        "2026-01-31T12:00:00.000000001",
        LocalDateTime(dt.date(2026, 1, 31), LocalTime(43_200_000_000_001)),
    ),
]


@pytest.mark.parametrize(("kind", "raw", "value"), PRIMITIVES)
def test_primitives(kind: SchemaType, raw: Any, value: Any) -> None:
    definition = SchemaDefinition(kind)
    assert taken(definition, raw) == FromJson(value, {})
    decoded = format_of(kind).decode(parse(definition), format_of(kind).encode(parse(definition), value))
    assert json_of(decoded) == raw


@pytest.mark.parametrize("kind", [types.DATE, types.TIME, types.INSTANT, types.LOCAL_DATE, types.LOCAL_DATE_TIME])
@pytest.mark.parametrize("raw", ["nonsense", 5, None])
def test_primitives_that_do_not_fit_say_how_they_are_written(kind: SchemaType, raw: Any) -> None:
    found = taken(SchemaDefinition(kind), raw)
    assert found.value is raw
    assert found.hints[""].startswith("write ")


def test_pairs() -> None:
    halves = {"key": {"type": "STRING"}, "value": {"type": "AVRO", "schema": '"bytes"'}}
    definition = SchemaDefinition(types.KEY_VALUE, json.dumps(halves))
    found = taken(definition, {"key": "a", "value": "AAEC"})
    assert found.value == KeyValue("a", b"\0\x01\x02")
    assert json_of(found.value) == {"key": "a", "value": "AAEC"}
    assert taken(definition, {"key": "a", "value": "?"}).hints == {"/value": "write the bytes in Base64"}
    assert taken(definition, {"key": "a", "values": "?"}).hints == {"": 'write {"key": …, "value": …}'}


SHOWN = [
    (b"\xff", "/w=="),
    (Decimal("1E+3"), "1000"),
    (float("nan"), "NaN"),
    (float("-inf"), "-Infinity"),
    (dt.datetime(2026, 1, 31, 13, tzinfo=dt.timezone(dt.timedelta(hours=1))), "2026-01-31T12:00:00Z"),
    (dt.datetime(2026, 1, 31, 12, 0, 0, 1), "2026-01-31T12:00:00.000001"),
    (Instant(2**60, 5), "1152921504606846976.000000005s"),
    ({1: [True, None], False: (2.5, "a")}, {"1": [True, None], "false": [2.5, "a"]}),
]


@pytest.mark.parametrize(("value", "shown"), SHOWN)
def test_values_that_json_lacks(value: Any, shown: Any) -> None:
    assert json_of(value) == shown


@pytest.mark.parametrize(("type_", "raw", "value"), AVRO_VALUES)
def test_what_is_shown_of_a_message_makes_the_same_message(type_: Any, raw: Any, value: Any) -> None:
    schema, format_ = parse(avro(type_)), format_of(types.AVRO)
    payload = format_.encode(schema, value)
    shown = json.loads(json.dumps(json_of(format_.decode(schema, payload)), allow_nan=False))
    assert format_.encode(schema, reader_of(schema)(shown).value) == payload
