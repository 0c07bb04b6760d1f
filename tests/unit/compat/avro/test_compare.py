"""What findings say: somebody who has never seen the schema must know what to change."""

import json
from typing import Any

import pytest

from tallystick.compat.options import DEFAULT_OPTIONS
from tallystick.compat.rules.avro import compare
from tallystick.finding import Direction, Finding
from tests.unit.formats.avro.schemas import array, enum, fixed, record, schema

BACKWARD, FORWARD = Direction.BACKWARD, Direction.FORWARD


def findings(old: Any, new: Any, direction: Direction) -> list[Finding]:
    return list(compare(schema(old), schema(new), direction, DEFAULT_OPTIONS))


TEXTS: list[tuple[Any, Any, Direction, str, str]] = [
    (record("shop.Order"), record("shop.Order", ("note", "string")), BACKWARD,
     "field `note` of record `shop.Order` is new and has no default, so records written without it cannot be read",
     'give `note` a default, for example "default": ""'),
    (record("Order", ("note", "string")), record("Order", ("remark", "string")), BACKWARD,
     "field `remark` of record `Order` is new and has no default, so records written without it cannot be read",
     'give `remark` a default, for example "default": ""; or, if it is `note` under a new name, '
     'add "aliases": ["note"] to it'),
    (record("Order", ("sizes", array("long"))), record("Order", ("sizes", array("int"))), BACKWARD,
     "the items of field `sizes` of record `Order` were long and are int now, which does not hold every value that was "
     "written", "keep long, or add a new field of type int with a default"),
    (enum("State", "A", "B", "C"), enum("State", "A"), BACKWARD,
     "symbols `B`, `C` are removed from enum `State`, which has no default, so records that hold them cannot be read",
     'keep them, or give the enum a default: "default": "A"'),
    (fixed("Hash", 16), fixed("Hash", 20), FORWARD,
     "fixed `Hash` has 20 bytes now and had 16", "keep the size 16, or add a new field with a fixed of another name"),
    (record("Order", ("note", ["null", "string"])), record("Order", ("note", "string")), BACKWARD,
     "field `note` of record `Order` no longer takes null, which may have been written", "keep null in the union"),
    (record("old.Order"), record("shop.Purchase"), BACKWARD,
     "record `old.Order` is now called `shop.Purchase`, and the reader does not know that they are the same",
     'name it `old.Order` again, or add "aliases": ["old.Order"] to `shop.Purchase`'),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "direction", "message", "fix"), TEXTS, ids=[text[3] for text in TEXTS])
def test_finding_explains_itself(old: Any, new: Any, direction: Direction, message: str, fix: str) -> None:
    [finding] = findings(old, new, direction)
    assert (finding.message, finding.fix) == (message, fix)


DEFAULTS = [
    (["string", "null"], '"default": null'),
    (array("int"), '"default": []'),
    ({"type": "map", "values": "int"}, '"default": {}'),
    (enum("State", "A", "B"), '"default": "A"'),
    ("bytes", '"default": ""'),
    ("boolean", '"default": false'),
    ("double", '"default": 0'),
]


@pytest.mark.parametrize(("type_", "example"), DEFAULTS, ids=[example for _, example in DEFAULTS])
def test_fix_shows_a_default_that_is_one(type_: Any, example: str) -> None:
    [finding] = findings(record("R"), record("R", ("f", type_)), BACKWARD)
    assert finding.fix == f"give `f` a default, for example {example}"
    default = json.loads("{" + example + "}")["default"]
    assert schema(record("R", ("f", type_, default)))


def test_place_has_line_and_column_in_both_texts() -> None:
    old = '{"type": "record", "name": "R", "fields": [\n  {"name": "a", "type": "int"}]}'
    new = '{"type": "record", "name": "R", "fields": [\n\n  {"name": "a", "type": "string"}]}'
    [finding] = findings(old, new, BACKWARD)
    assert finding.old is not None
    assert finding.new is not None
    assert (finding.old.line, finding.old.column) == (2, 17)
    assert (finding.new.line, finding.new.column) == (3, 17)


def test_long_chains_are_compared() -> None:
    def chain(leaf: str) -> list[Any]:
        return [record("R0", ("v", leaf)), *(record(f"R{i}", ("v", f"R{i - 1}")) for i in range(1, 200))]

    assert [finding.new and finding.new.path for finding in findings(chain("long"), chain("int"), BACKWARD)] == [
        "/0/fields/0/type"
    ]


def test_records_that_hold_each_other_many_times_are_compared_once() -> None:
    def web(leaf: str) -> dict[str, Any]:
        fields = [("r0", record("R0", ("v", leaf)))]
        for i in range(1, 40):
            fields.append((f"r{i}", record(f"R{i}", ("x", f"R{i - 1}"), ("y", ["null", f"R{i - 1}"]))))
        return record("All", *fields)

    assert [finding.rule for finding in findings(web("long"), web("int"), BACKWARD)] == ["AVRO_TYPE_NARROWED"]


def test_wide_records_and_unions_are_compared_in_the_time_that_their_texts_take() -> None:
    old, new = (record("Wide", *((f"{letter}{i}", "int") for i in range(3_000))) for letter in "ab")
    assert len(findings(old, new, BACKWARD)) == 3_000
    ints, longs = ([record(f"R{i}", ("v", kind)) for i in range(3_000)] for kind in ("int", "long"))
    assert len(findings(ints, longs, FORWARD)) == 3_000
    assert findings(ints, longs, BACKWARD) == []


def test_long_lists_are_cut_in_what_is_said() -> None:
    [finding] = findings(enum("State", *(f"S{i}" for i in range(50))), enum("State", "A"), BACKWARD)
    assert finding.was == "S0, S1, S2, S3, S4, S5, S6, S7, S8, S9, … (50 in all)"
    assert "`S9`, … (50 in all) are removed" in finding.message
