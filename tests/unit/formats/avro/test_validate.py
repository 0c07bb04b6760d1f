"""Which values fit a type, and what is said about those that do not."""

from datetime import UTC, date, datetime, time
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest

from tallystick.formats.avro.validate import validate
from tests.unit.formats.avro.schemas import array, enum, fixed, logical, record, schema

ID = UUID(int=5)
MONEY = logical("bytes", "decimal", precision=4, scale=2)

FITS: list[tuple[Any, list[Any], list[Any]]] = [
    ("null", [None], [0, False, "", ()]),
    ("boolean", [True, False], [0, 1, None, "true"]),
    ("int", [0, -(2**31), 2**31 - 1], [2**31, -(2**31) - 1, 1.0, True, "1", None]),
    ("long", [-(2**63), 2**63 - 1], [2**63, 1.5, False]),
    ("float", [1, 0.1, float("nan"), float("inf"), -3.4028234663852886e38], [1e39, 10**39, True, "1", Decimal(1)]),
    ("double", [1, 1e308, float("-inf"), 2**1000], [2**1023, True, None]),
    ("string", ["", "ä€😀"], [b"", None, "\ud800", "a\udfffb"]),
    ("bytes", [b"", b"\xff", bytearray(b"a")], ["", None, [1]]),
    (fixed("F", 2), [b"ab", bytearray(b"ab")], [b"a", b"abc", "ab"]),
    (enum("E", "A", "B"), ["A", "B"], ["C", "", None, 0]),
    (array("int"), [[], [1], (1, 2)], [[1, "2"], {1}, "", None]),
    ({"type": "map", "values": "int"}, [{}, {"a": 1}], [{"a": "b"}, {1: 1}, {"\ud800": 1}, [], None]),
    (record("R", ("a", "int"), ("b", "int", 0)), [{"a": 1}, {"a": 1, "b": 2}, MappingProxyType({"a": 1})],
     [{}, {"b": 1}, {"a": 1, "c": 2}, {"a": None}, [], None]),
    (["null", "int"], [None, 1, ("int", 1), ("null", None)], ["a", ("int", "a"), ("long", 1), (1, 2), ()]),
    (["null", array("int")], [[1, 2], ("array", [1, 2])], [(1, 2), (1, 2, 3)]),
    ([record("a.R", ("x", "int")), record("b.R", ("x", "string"))],
     [{"x": 1}, {"x": "1"}, ("b.R", {"x": "1"})], [{"x": None}, ("b.R", {"x": 1}), ("R", {"x": 1})]),
    (logical("int", "date"), [date(2024, 2, 29), date.min, 19000, -719162], [datetime(2024, 1, 1), -719163, 2**30]),
    (logical("int", "time-millis"), [time(23, 59), 0, 86_399_999], [-1, 86_400_000, "12:00"]),
    (logical("long", "time-micros"), [time(23, 59), 86_399_999_999], [-1, 86_400_000_000]),
    (logical("long", "timestamp-millis"), [datetime(2024, 1, 1, tzinfo=UTC), 0, 253_402_300_799_999],
     [date(2024, 1, 1), 253_402_300_800_000, 2**62, "2024"]),
    (logical("long", "local-timestamp-micros"), [datetime.max, -62_135_596_800_000_000], [-62_135_596_800_000_001]),
    (logical("long", "timestamp-nanos"), [2**63 - 1], [datetime(2024, 1, 1)]),
    (logical("string", "uuid"), [ID, str(ID)], ["x", b"1", None]),
    (fixed("F", 16, logicalType="uuid"), [ID, b"x" * 16], [str(ID), b"x"]),
    (MONEY, [Decimal("12.34"), Decimal("-99.99"), Decimal("1E1"), Decimal(0), b"\x27\x0f"],
     [Decimal("100"), Decimal("1.234"), Decimal("NaN"), Decimal("Infinity"), b"\x27\x10", 12.34, "12.34"]),
    (logical("bytes", "decimal", precision=10**17, scale=10**16), [b"\x01"], [Decimal(1)]),
    (fixed("D", 4, logicalType="decimal", precision=9, scale=2), [Decimal("9999999.99"), bytes(4)],
     [Decimal("10000000"), bytes(3), b"\x7f\xff\xff\xff"]),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "fitting", "other"), FITS, ids=[str(raw)[:60] for raw, _, _ in FITS])
def test_fits(raw: Any, fitting: list[Any], other: list[Any]) -> None:
    ours = schema(raw)
    assert [value for value in fitting if validate(ours, value) != []] == []
    assert [value for value in other if validate(ours, value) == []] == []


ORDER = schema(
    record(
        "shop.Order",
        ("id", "long"),
        ("state", enum("State", "OPEN", "DONE")),
        ("lines", array(record("Line", ("sku", "string"), ("count", ["null", "int"], None)))),
        ("tags", ["null", {"type": "map", "values": "string"}], None),
    )
)
GOOD = {"id": 1, "state": "OPEN", "lines": [{"sku": "a"}]}
FINDINGS: list[tuple[dict[str, Any], str, str, str, str]] = [
    ({"id": "1"}, "AVRO_VALUE_TYPE_WRONG", "/id", "'1' (str) is not of type long (at /id)", "long"),
    ({"state": "LOST"}, "AVRO_VALUE_SYMBOL_UNKNOWN", "/state", "enum `shop.State` has no symbol 'LOST' (at /state)",
     "OPEN, DONE"),
    ({"state": 1}, "AVRO_VALUE_TYPE_WRONG", "/state", "1 (int) is not of type enum shop.State (at /state)",
     "enum shop.State"),
    ({"lines": [{"sku": "a"}, {}]}, "AVRO_VALUE_FIELD_MISSING", "/lines/1/sku",
     "record `shop.Line` needs field `sku`, which has no default (at /lines/1/sku)", "string"),
    ({"lines": [{"sku": "a", "price": 1}]}, "AVRO_VALUE_FIELD_UNKNOWN", "/lines/0/price",
     "record `shop.Line` has no field `price`, so its value would be lost (at /lines/0/price)", "no such field"),
    ({"lines": [{"sku": "a", "count": "2"}]}, "AVRO_VALUE_TYPE_WRONG", "/lines/0/count",
     "'2' (str) is not of type union of null, int (at /lines/0/count)", "union of null, int"),
    ({"tags": {"a/b~c": 1}}, "AVRO_VALUE_TYPE_WRONG", "/tags/a~1b~0c",
     "1 (int) is not of type string (at /tags/a~1b~0c)",
     "string"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "rule", "path", "message", "was"), FINDINGS, ids=[f[3] for f in FINDINGS])
def test_finding_names_the_innermost_part(wrong: dict[str, Any], rule: str, path: str, message: str, was: str) -> None:
    [finding] = validate(ORDER, GOOD | wrong)
    assert finding.new is not None
    assert (finding.rule, finding.new.path, finding.message, finding.was) == (rule, path, message, was)
    assert finding.fix
    assert finding.direction is None


def test_all_that_is_wrong_is_found() -> None:
    findings = validate(ORDER, {"id": None, "state": "X", "lines": [{}, {"sku": 1}], "more": 1})
    assert [finding.new and finding.new.path for finding in findings] == [
        "/id", "/state", "/lines/0/sku", "/lines/1/sku", "/more",
    ]  # fmt: skip


def test_value_nested_too_deeply_is_a_finding() -> None:
    value: Any = None
    for _ in range(5_000):
        value = {"next": value}
    [finding] = validate(schema(record("Node", ("next", ["null", "Node"]))), value)
    assert finding.rule == "AVRO_VALUE_TOO_DEEP"


def test_value_that_holds_itself_is_a_finding() -> None:
    value: list[Any] = []
    value.append({"kids": value})
    [finding] = validate(schema(record("Tree", ("kids", array("Tree")))), {"kids": value})
    assert finding.rule == "AVRO_VALUE_TOO_DEEP"
