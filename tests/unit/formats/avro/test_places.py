"""Where a type stands in its text, however it is written there."""

import json

import pytest

from tallystick.finding import Place
from tallystick.formats.avro.places import ROOT, Spot, place
from tests.unit.formats.avro.schemas import array, enum, record, schema

TEXT = """{
  "type": "record", "name": "Order", "namespace": "shop",
  "fields": [
    {"name": "lines", "type": {"type": "array", "items": {
      "type": "record", "name": "Line",
      "fields": [{"name": "state", "type": ["null", {"type": "enum", "name": "State", "symbols": ["A", "B"]}]}]
    }}},
    {"name": "wrapped", "type": {"type": {"type": "map", "values": {"type": ["null", "Line"]}}, "name": "any"}}
  ]
}"""

SPOTS = [
    (ROOT, Place("", 1, 1)),
    (Spot("shop.Order", ()), Place("", 1, 1)),
    (Spot("shop.Order", ("name",)), Place("/name", 2, 21)),
    (Spot("shop.Order", ("fields", 0)), Place("/fields/0", 4, 5)),
    (Spot("shop.Order", ("fields", 0, "type", "items")), Place("/fields/0/type/items", 4, 49)),
    (Spot("shop.Line", ()), Place("/fields/0/type/items", 4, 49)),
    (Spot("shop.Line", ("fields", 0, "type", 1)), Place("/fields/0/type/items/fields/0/type/1", 6, 53)),
    (Spot("shop.State", ("symbols", 1)), Place("/fields/0/type/items/fields/0/type/1/symbols/1", 6, 104)),
    (Spot("shop.Order", ("fields", 1, "type", "values")), Place("/fields/1/type/type/values", 8, 58)),
    (Spot("shop.Order", ("fields", 1, "type", "values", 1)), Place("/fields/1/type/type/values/type/1", 8, 86)),
]


@pytest.mark.parametrize(("spot", "expected"), SPOTS, ids=[str(spot) for spot, _ in SPOTS])
def test_place(spot: Spot, expected: Place) -> None:
    assert place(schema(TEXT), spot) == expected


def test_place_in_a_reference_has_its_name_and_no_line() -> None:
    text = json.dumps(record("shop.Buyer", ("name", "string")))
    ours = schema(record("Order", ("buyer", "shop.Buyer")), text)
    assert place(ours, Spot("shop.Buyer", ("fields", 0))) == Place("reference 0#/fields/0")


def test_bare_name_has_a_place() -> None:
    assert place(schema(" string"), ROOT) == Place("", 1, 2)


def test_attributes_that_look_like_types_are_passed_over() -> None:
    raw = record(
        "Order", ("state", enum("State", "A")), items={"name": "x"}, values=[{"type": "enum", "name": "State"}]
    )
    assert place(schema(raw), Spot("State", ())).path == "/fields/0/type"
    assert place(schema({"type": "int", "items": {"name": "x"}}), ROOT).path == ""
    assert place(schema({**array("int"), "values": {"name": "x"}}), Spot(None, ("items",))).path == "/items"


def test_names_without_a_namespace_inside_one() -> None:
    raw = record("shop.Order", ("state", enum("State", "A", namespace="")))
    assert place(schema(raw), Spot("State", ())).path == "/fields/0/type"
