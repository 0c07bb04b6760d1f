"""Values to bytes and back: what `fastavro` alone would get wrong, and payloads that are made to hurt."""

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tallystick.errors import InvalidRecord
from tallystick.formats.avro import general
from tallystick.formats.avro.codec import decode, encode
from tests.unit.formats.avro.schemas import array, enum, fixed, logical, record, schema
from tests.unit.formats.avro.test_parse import doubling

NODE = schema(record("Node", ("next", ["null", "Node"])))


def varint(number: int) -> bytes:
    raw = (number << 1) ^ (number >> 63)
    out = bytearray()
    while raw > 0x7F:
        out.append(raw & 0x7F | 0x80)
        raw >>= 7
    out.append(raw)
    return bytes(out)


EXACT = [
    (["float", "double"], 1e300),
    (["float", "double"], 0.1),
    (["double", "long"], 2**53 + 1),
    (["float", "int"], 16_777_217),
    ([record("A", ("x", "float")), record("B", ("x", "double"))], {"x": 1e300}),
    ([record("A", ("x", "float")), record("B", ("x", "double"))], {"x": 0.1}),
    ([record("A", ("x", "int"), ("y", "int", 7)), record("B", ("x", "int"))], {"x": 1}),
    ([record("A", ("x", "int", 1)), {"type": "map", "values": "int"}], {"y": 2}),
    ([record("A", ("x", "int", 1)), record("B", ("y", "int", 2))], {"y": 3}),
    ([logical("int", "date"), "string"], "hello"),
    (["null", record("R", ("x", ["null", logical("int", "date"), "string"]))], {"x": "hello"}),
    ([fixed("F", 2), "bytes"], b"abc"),
    ([enum("E", "A"), "string"], "B"),
    ([array("int"), array("int")["items"]], [1, 2]),
    ({"type": "map", "values": ["null", fixed("F", 1)]}, {"a": b"x", "b": None}),
    (record("R", ("a", array(["int", "string"]))), {"a": [1, "b"]}),
    (record("ns.A", ("f", record("B", ("g", "int"), namespace="")), ("h", ["null", enum("E", "X")])),
     {"f": {"g": 1}, "h": "X"}),
    (["null", record("Failure", ("code", "int"))], {"code": 3}),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "value"), EXACT, ids=[f"{value} as {raw}"[:80] for raw, value in EXACT])
def test_value_comes_back_as_it_was(raw: Any, value: Any) -> None:
    ours = schema(raw)
    assert decode(ours, encode(ours, value)) == value


def test_branch_can_be_named() -> None:
    ours = schema([record("a.R", ("x", "int")), record("b.R", ("x", "int"))])
    assert encode(ours, {"x": 1}) == encode(ours, ("a.R", {"x": 1})) == b"\x00\x02"
    assert encode(ours, ("b.R", {"x": 1})) == b"\x02\x02"
    optional = schema(["null", "int"])
    assert encode(optional, ("int", 1)) == encode(optional, 1) == b"\x02\x02"
    assert encode(optional, ("null", None)) == encode(optional, None) == b"\x00"


LOGICAL = [
    (logical("int", "date"), date(2024, 2, 29)),
    (logical("int", "time-millis"), time(12, 30, 15, 250_000)),
    (logical("long", "time-micros"), time(12, 30, 15, 250_001)),
    (logical("long", "timestamp-millis"), datetime(2024, 2, 29, 12, 30, tzinfo=UTC)),
    (logical("long", "timestamp-micros"), datetime(1, 1, 1, tzinfo=UTC)),
    (logical("long", "local-timestamp-millis"), datetime(2024, 2, 29, 12, 30)),
    (logical("long", "local-timestamp-micros"), datetime.max),
    (logical("string", "uuid"), UUID(int=5)),
    (logical("bytes", "decimal", precision=4, scale=2), Decimal("-12.30")),
    (logical("bytes", "decimal", precision=10**20, scale=2), Decimal("12.34")),
    (fixed("D", 4, logicalType="decimal", precision=9, scale=2), Decimal("-9999999.99")),
    (["null", logical("long", "timestamp-millis")], datetime(2024, 2, 29, tzinfo=UTC)),
]


@pytest.mark.parametrize(("raw", "value"), LOGICAL, ids=[f"{value} as {raw}"[:80] for raw, value in LOGICAL])
def test_logical_value_comes_back(raw: Any, value: Any) -> None:
    ours = schema(raw)
    assert decode(ours, encode(ours, value)) == value


def test_uuid_may_be_written_as_fixed() -> None:
    ours = schema(["null", fixed("F", 16, logicalType="uuid")])
    assert encode(ours, UUID(int=5)) == b"\x02" + UUID(int=5).bytes


def test_decimal_longer_than_its_precision_is_not_rounded() -> None:
    ours = schema(logical("bytes", "decimal", precision=4, scale=2))
    assert decode(ours, b"\x06\x7f\xff\xff") == Decimal("83886.07")


def test_missing_fields_are_written_with_their_defaults() -> None:
    inner = record("I", ("b", "bytes", "\u00ff"), ("u", ["null", "string"], "x"))
    ours = schema(["null", record("R", ("i", inner, {}), ("f", ["float", "double"], 1e300), ("a", array("int"), [1]))])
    assert decode(ours, encode(ours, {})) == {"i": {"b": b"\xff", "u": "x"}, "f": 1e300, "a": [1]}


def test_reader_fills_in_its_defaults_anew_each_time() -> None:
    writer = schema(record("R", ("a", "int")))
    reader = schema(
        record("R", ("b", array("int"), [1]), ("c", record("I", ("m", {"type": "map", "values": "int"})), {"m": {}}))
    )
    payload = encode(writer, {"a": 1})
    first = decode(writer, payload, reader)
    first["b"].append(2)
    first["c"]["m"]["k"] = 3
    assert decode(writer, payload, reader) == {"b": [1], "c": {"m": {}}}


def test_value_that_does_not_fit_never_leaves() -> None:
    with pytest.raises(InvalidRecord) as error:
        encode(schema(record("R", ("a", "int"))), {"a": 3.7})
    assert str(error.value) == "the value does not fit its schema: 3.7 (float) is not of type int (at /a)"
    assert [finding.rule for finding in error.value.findings] == ["AVRO_VALUE_TYPE_WRONG"]


def nested(levels: int) -> bytes:
    return b"\x02" * levels + b"\x00"


def test_payload_may_nest_500_levels() -> None:
    assert decode(NODE, nested(499))
    with pytest.raises(InvalidRecord, match="the value is nested deeper than 500 levels"):
        decode(NODE, nested(501))
    with pytest.raises(InvalidRecord, match="the value is nested deeper than 500 levels"):
        decode(NODE, nested(1_000_000))


def test_deep_value_is_read_by_another_schema() -> None:
    reader = schema(record("Node", ("next", ["null", "Node"]), ("tags", array("int"), [])))
    value = decode(NODE, nested(490), reader)
    for _ in range(490):
        assert value["tags"] == []
        value = value["next"]
    assert value == {"next": None, "tags": []}


def test_deep_value_is_refused_before_a_byte_is_written() -> None:
    value: Any = None
    for _ in range(5_000):
        value = {"next": value}
    with pytest.raises(InvalidRecord, match="the value is nested too deeply"):
        encode(NODE, value)


BOMBS: list[tuple[Any, Callable[[int], bytes]]] = [
    (array("null"), lambda count: varint(count) + b"\x00"),
    (array(fixed("F", 0)), lambda count: varint(-count) + varint(0) + b"\x00"),
    (array(record("E", ("a", "null"))), lambda count: varint(count // 2) + b"\x00"),
    (array(array("null")), lambda count: varint(1) + varint(count) + b"\x00\x00"),
]


@pytest.mark.parametrize(("raw", "payload"), BOMBS, ids=[str(raw) for raw, _ in BOMBS])
def test_payload_may_claim_a_million_values_that_take_no_bytes(raw: Any, payload: Callable[[int], bytes]) -> None:
    assert decode(schema(raw), payload(1_000))
    for count in (1_000_002, 2**40):
        with pytest.raises(InvalidRecord, match="claims more than 1000000 items that take no bytes"):
            decode(schema(raw), payload(count))


def test_schema_of_many_empty_values_is_refused_when_it_is_read() -> None:
    assert decode(schema(doubling(5)), b"")["r0"] == {"a": None}
    with pytest.raises(InvalidRecord, match="claims more than 1000000 items that take no bytes"):
        decode(schema(doubling(60)), b"")


ORDER = schema(
    record(
        "Order",
        ("id", "long"),
        ("lines", array(record("Line", ("sku", "string"), ("price", ["null", "double"])))),
        ("tags", {"type": "map", "values": "bytes"}),
        ("hash", fixed("Hash", 4)),
        ("state", enum("State", "A", "B")),
        ("rate", "float"),
        ("done", "boolean"),
    )
)
PAYLOAD = encode(
    ORDER,
    {
        "id": 2**40,
        "lines": [{"sku": "a", "price": 1.5}, {"sku": "b", "price": None}],
        "tags": {"k": b"v"},
        "hash": b"hash",
        "state": "B",
        "rate": 0.5,
        "done": True,
    },
)


@pytest.mark.parametrize("cut", range(len(PAYLOAD)))
def test_payload_that_breaks_off_is_refused(cut: int) -> None:
    with pytest.raises(InvalidRecord) as error:
        decode(ORDER, PAYLOAD[:cut])
    assert [finding.rule for finding in error.value.findings] == ["AVRO_PAYLOAD_UNREADABLE"]


def test_payload_that_goes_on_is_refused() -> None:
    with pytest.raises(InvalidRecord, match=r"^2 bytes are left over after the value$"):
        decode(ORDER, PAYLOAD + b"\x00\x00")


def test_payload_that_claims_more_items_than_bytes_is_not_searched_for_items_without_bytes() -> None:
    """The first item holds ten billion nulls."""
    for count in (1, 31):
        with pytest.raises(InvalidRecord):
            decode(schema(array(array("null"))), varint(count) + varint(10**10) + b"\x00" * 3)


def test_arrays_that_the_reader_skips_are_as_long_as_the_payload_at_most() -> None:
    item = record("Point", ("x", "double"), ("is_known", "boolean"), ("code", fixed("Code", 2)))
    for items in ("float", fixed("F", 3), item):
        writer, reader = schema(record("R", ("a", array(items)))), schema(record("R", ("b", ["null", "int"], None)))
        with pytest.raises(InvalidRecord, match="more than it has bytes"):
            decode(writer, varint(2**60) + b"\x00" * 8, reader)
        assert decode(writer, b"\x00", reader) == {"b": None}


HUGE_LENGTHS = [
    "bytes",
    "string",
    array("int"),
    {"type": "map", "values": "int"},
    array("boolean"),
    array("double"),
    array(fixed("F", 3)),
    array(record("R", ("a", fixed("F", 3)))),
    array(enum("E", "A")),
]


@pytest.mark.parametrize("raw", HUGE_LENGTHS, ids=str)
@pytest.mark.parametrize("length", [2**62, -(2**62), 2**31, -1])
def test_length_that_the_payload_does_not_have_is_refused(raw: Any, length: int) -> None:
    with pytest.raises(InvalidRecord):
        decode(schema(raw), varint(length) + b"\x02")


def test_fixed_larger_than_memory_is_refused() -> None:
    with pytest.raises(InvalidRecord):
        decode(schema(fixed("F", 2**40)), b"abc")
    with pytest.raises(InvalidRecord):
        decode(schema(fixed("F", 10**30)), b"abc")


def test_reason_of_a_reader_names_types_as_the_schema_does() -> None:
    writer = schema(record("shop.R", ("a", "int")))
    reader = schema(record("shop.R", ("b", "int")))
    with pytest.raises(InvalidRecord) as error:
        decode(writer, b"\x02", reader)
    assert str(error.value) == "the payload cannot be read: No default value for field b in shop.R"


def test_texts_that_are_no_utf_8_are_refused() -> None:
    with pytest.raises(InvalidRecord):
        decode(schema("bytes"), b"\x02\xff", schema("string"))
    with pytest.raises(InvalidRecord):
        decode(schema("string"), b"\x02\xff")


def test_a_missing_field_is_written_as_the_default_of_a_logical_type_in_a_union() -> None:
    amount = fixed("Amount", 4, logicalType="decimal", precision=8, scale=3)
    parsed = schema(record("R", ("amount", [amount, "boolean"], "\x00\x00\x04\xd2")))
    assert decode(parsed, encode(parsed, {})) == {"amount": Decimal("1.234")}


@pytest.mark.parametrize(
    ("type_", "default", "value"),
    [
        ({"type": "int", "logicalType": "date"}, 19_000, date(2022, 1, 8)),
        ({"type": "int", "logicalType": "time-millis"}, 1_500, time(0, 0, 1, 500_000)),
        ({"type": "long", "logicalType": "timestamp-millis"}, 1_500, datetime(1970, 1, 1, 0, 0, 1, 500_000, UTC)),
        ({"type": "long", "logicalType": "local-timestamp-micros"}, 7, datetime(1970, 1, 1, 0, 0, 0, 7)),
        ({"type": "string", "logicalType": "uuid"}, str(UUID(int=5)), UUID(int=5)),
        ({"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}, "\x04\xd2", Decimal("12.34")),
        (fixed("F", 4, logicalType="decimal", precision=8, scale=3), "\x00\x00\x04\xd2", Decimal("1.234")),
        (["null", {"type": "int", "logicalType": "date"}], 1, date(1970, 1, 2)),
        (array({"type": "int", "logicalType": "date"}), [0], [date(1970, 1, 1)]),
        ({"type": "string", "logicalType": "uuid"}, "none", "none"),
    ],
    ids=str,
)
def test_defaults_of_logical_types_are_read_like_values_of_them(type_: Any, default: Any, value: Any) -> None:
    writer, reader = schema(record("R", ("a", "int"))), schema(record("R", ("a", "int"), ("b", type_, default)))
    assert decode(writer, b"\x02", reader) == {"a": 1, "b": value}
    assert general.reader_of(writer.root, reader.root)(b"\x02") == {"a": 1, "b": value}
