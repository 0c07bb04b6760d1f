"""JSON Schemas of classes."""

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from tallystick.formats import parse
from tallystick.serde import JsonSchema
from tests.unit.serde.classes import Colour, Line, Order, OrderModel, Point


def schema_of(cls: type) -> dict[str, Any]:
    schema: JsonSchema[Any] = JsonSchema(cls)
    assert parse(schema.definition)
    whole: dict[str, Any] = json.loads(schema.definition.text)
    return whole


@dataclass
class Box:
    """A box."""

    size: Point
    other: Point | None
    colours: set[Colour] = field(default_factory=lambda: {Colour.RED, Colour.BLUE})
    kind: Literal["a", "b"] = "a"
    inner: "Box | None" = None
    names: dict[str, list[str]] = field(default_factory=dict)


def test_a_whole_text() -> None:
    colour = {"title": "Colour", "enum": ["red", "blue"]}
    assert schema_of(Box) == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Box",
        "description": "A box.",
        "type": "object",
        "properties": {
            "size": {"$ref": "#/$defs/Point"},
            "other": {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}], "default": None},
            "colours": {"type": "array", "items": colour, "uniqueItems": True, "default": ["blue", "red"]},
            "kind": {"enum": ["a", "b"], "default": "a"},
            "inner": {"anyOf": [{"$ref": "#"}, {"type": "null"}], "default": None},
            "names": {
                "type": "object",
                "additionalProperties": {"type": "array", "items": {"type": "string"}},
                "default": {},
            },
        },
        "required": ["size"],
        "$defs": {
            "Point": {
                "title": "Point",
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
                "required": ["x", "y"],
            }
        },
    }


def test_what_has_no_default_is_required() -> None:
    assert schema_of(Line)["required"] == ["sku"]
    assert schema_of(Order)["required"] == ["id", "lines", "price", "at", "day", "clock", "token"]


def test_the_schema_of_a_model_is_pydantics() -> None:
    whole = schema_of(OrderModel)
    assert whole.pop("$schema") == "https://json-schema.org/draft/2020-12/schema"
    assert whole == OrderModel.model_json_schema()
