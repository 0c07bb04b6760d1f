"""What primitives take, and what they say of anything else."""

import datetime as dt
from typing import Any

import pytest

from tallystick.errors import InvalidRecord
from tallystick.formats import format_of, parse
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.model.temporal import Instant, LocalDateTime, LocalTime

UTC = dt.UTC
NAIVE = dt.datetime(2024, 1, 1)
AWARE = NAIVE.replace(tzinfo=UTC)
TYPE, RANGE = "PRIMITIVE_VALUE_TYPE_WRONG", "PRIMITIVE_VALUE_OUT_OF_RANGE"


def _rules(kind: str, value: Any, **properties: str) -> list[str]:
    schema = parse(SchemaDefinition(SchemaType(kind), properties=properties))
    format_ = format_of(SchemaType(kind))
    rules = [finding.rule for finding in format_.validate(schema, value)]
    if rules:
        with pytest.raises(InvalidRecord):
            format_.encode(schema, value)
    else:
        format_.encode(schema, value)
    return rules


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("INT8", -128, 127),
        ("INT16", -(2**15), 2**15 - 1),
        ("INT32", -(2**31), 2**31 - 1),
        ("INT64", -(2**63), 2**63 - 1),
    ],
)
def test_integers_have_their_range(kind: str, low: int, high: int) -> None:
    assert _rules(kind, low) == _rules(kind, high) == []
    assert _rules(kind, low - 1) == _rules(kind, high + 1) == [RANGE]


@pytest.mark.parametrize(
    ("kind", "value", "rules"),
    [
        ("INT32", True, [TYPE]),
        ("INT32", 1.0, [TYPE]),
        ("INT32", "1", [TYPE]),
        ("INT32", None, [TYPE]),
        ("BOOLEAN", 0, [TYPE]),
        ("FLOAT", 3.4e38, []),
        ("FLOAT", 3.5e38, [RANGE]),
        ("FLOAT", float("nan"), []),
        ("FLOAT", float("-inf"), []),
        ("FLOAT", True, [TYPE]),
        ("DOUBLE", 10**400, [RANGE]),
        ("DOUBLE", "1", [TYPE]),
        ("STRING", b"a", [TYPE]),
        ("STRING", "\ud800", ["PRIMITIVE_VALUE_NOT_IN_CHARACTER_SET"]),
        ("BYTES", "a", [TYPE]),
        ("BYTES", bytearray(b"a"), [TYPE]),
        ("EXTERNAL", {"id": 1}, [TYPE]),
        ("DATE", AWARE, []),
        ("DATE", AWARE.date(), [TYPE]),
        ("DATE", NAIVE, ["PRIMITIVE_VALUE_NEEDS_TIME_ZONE"]),
        ("TIMESTAMP", AWARE.replace(microsecond=1), ["PRIMITIVE_VALUE_TOO_PRECISE"]),
        ("TIMESTAMP", 5, [TYPE]),
        ("TIME", dt.time(1), []),
        ("TIME", dt.time(1, microsecond=1), ["PRIMITIVE_VALUE_TOO_PRECISE"]),
        ("TIME", dt.time(1, tzinfo=UTC), ["PRIMITIVE_VALUE_HAS_TIME_ZONE"]),
        ("TIME", LocalTime(0), [TYPE]),
        ("INSTANT", AWARE, []),
        ("INSTANT", NAIVE, ["PRIMITIVE_VALUE_NEEDS_TIME_ZONE"]),
        ("INSTANT", Instant(0, 10**9), [RANGE]),
        ("INSTANT", Instant(2**63, 0), [RANGE]),
        ("INSTANT", 5, [TYPE]),
        ("LOCAL_DATE", AWARE, [TYPE]),
        ("LOCAL_DATE", dt.date.min, []),
        ("LOCAL_TIME", dt.time.max, []),
        ("LOCAL_TIME", dt.time(1, tzinfo=UTC), ["PRIMITIVE_VALUE_HAS_TIME_ZONE"]),
        ("LOCAL_TIME", LocalTime(-1), [RANGE]),
        ("LOCAL_TIME", 1, [TYPE]),
        ("LOCAL_DATE_TIME", NAIVE, []),
        ("LOCAL_DATE_TIME", AWARE, ["PRIMITIVE_VALUE_HAS_TIME_ZONE"]),
        ("LOCAL_DATE_TIME", LocalDateTime(dt.date.max, LocalTime(86_400 * 10**9)), [RANGE]),
        ("LOCAL_DATE_TIME", NAIVE.date(), [TYPE]),
    ],
)
def test_values(kind: str, value: Any, rules: list[str]) -> None:
    assert _rules(kind, value) == rules


def test_integer_of_thousands_of_digits_is_not_shown() -> None:
    assert _rules("INT64", 10**6000) == [RANGE]
    assert _rules("INT64", [10**6000]) == [TYPE]


def test_character_outside_of_its_set() -> None:
    assert _rules("STRING", "é", __charset="US-ASCII") == ["PRIMITIVE_VALUE_NOT_IN_CHARACTER_SET"]
    assert _rules("STRING", "é", __charset="iso-8859-1") == []


def test_value_nested_without_end_is_quoted_short() -> None:
    value: list[Any] = []
    for _ in range(10_000):
        value = [value]
    schema = parse(SchemaDefinition(SchemaType("STRING")))
    (finding,) = format_of(SchemaType("STRING")).validate(schema, value)
    assert len(finding.message) < 200
