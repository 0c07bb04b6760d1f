"""Avro texts of classes."""

import datetime as dt
import json
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NewType
from uuid import UUID, uuid4

import fastavro
import pytest

from tallystick.formats import parse
from tallystick.serde import Avro, AvroSchema, Precision
from tests.unit.serde.classes import Colour, Empty, Line, Order, OrderModel, Point, order, order_model

OrderId = NewType("OrderId", int)
ONE = UUID(int=1)


def text_of(cls: type, **options: Any) -> dict[str, Any]:
    schema: AvroSchema[Any] = AvroSchema(cls, **options)
    text = schema.definition.text
    assert parse(schema.definition)
    fastavro.parse_schema(json.loads(text))
    whole: dict[str, Any] = json.loads(text)
    return whole


def fields_of(cls: type) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in text_of(cls)["fields"]}


@dataclass
class Plain:
    flag: bool
    number: int
    size: float
    text: str
    blob: bytes
    at: dt.datetime
    day: dt.date
    clock: dt.time
    token: UUID
    price: Annotated[Decimal, Precision(9, 2)]
    own: OrderId


def test_each_type_has_its_avro_type() -> None:
    assert {name: each["type"] for name, each in fields_of(Plain).items()} == {
        "flag": "boolean",
        "number": "long",
        "size": "double",
        "text": "string",
        "blob": "bytes",
        "at": {"type": "long", "logicalType": "timestamp-micros"},
        "day": {"type": "int", "logicalType": "date"},
        "clock": {"type": "long", "logicalType": "time-micros"},
        "token": {"type": "string", "logicalType": "uuid"},
        "price": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
        "own": "long",
    }


def test_a_whole_text() -> None:
    assert text_of(Line) == {
        "type": "record",
        "name": "Line",
        "doc": "One line of an order.",
        "fields": [
            {"name": "sku", "type": "string"},
            {"name": "count", "type": "int", "default": 1},
            {
                "name": "colour",
                "type": {"type": "enum", "name": "Colour", "symbols": ["RED", "BLUE"]},
                "default": "RED",
            },
        ],
    }


def test_only_docs_that_were_written_are_kept() -> None:
    assert "doc" not in text_of(Point)
    assert text_of(OrderModel)["doc"] == "An order of the shop."


def test_the_namespace_is_the_callers() -> None:
    whole = text_of(Order, namespace="shop.orders")
    assert (whole["name"], whole["namespace"]) == ("Order", "shop.orders")
    assert list(whole)[:3] == ["type", "name", "namespace"]


@dataclass
class Optionals:
    missing: str | None
    nothing: int | None = None
    number: int | None = 5
    several: str | int | None = None
    chosen: int | str = "a"
    each: list[int | None] = field(default_factory=list)


def test_null_comes_first_and_is_the_default() -> None:
    fields = fields_of(Optionals)
    assert fields["missing"] == {"name": "missing", "type": ["null", "string"], "default": None}
    assert fields["nothing"] == {"name": "nothing", "type": ["null", "long"], "default": None}
    assert fields["several"]["type"] == ["null", "string", "long"]
    assert fields["each"]["type"] == {"type": "array", "items": ["null", "long"]}


def test_the_type_of_another_default_comes_first() -> None:
    fields = fields_of(Optionals)
    assert fields["number"] == {"name": "number", "type": ["long", "null"], "default": 5}
    assert fields["chosen"] == {"name": "chosen", "type": ["string", "long"], "default": "a"}


class Level(IntEnum):
    LOW = 1
    HIGH = 2
    TOP = 2


@dataclass
class Defaults:
    flag: bool = True
    size: float = 2
    blob: bytes = b"\x00\xff"
    at: dt.datetime = dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC)
    day: dt.date = dt.date(1970, 1, 3)
    clock: dt.time = dt.time(0, 0, 1)
    token: UUID = ONE
    price: Annotated[Decimal, Precision(5, 2)] = Decimal("1.5")
    level: Level = Level.HIGH
    kind: Literal["a", "b"] = "b"
    lines: list[Line] = field(default_factory=lambda: [Line("a")])
    points: dict[str, int] = field(default_factory=lambda: {"x": 1})
    tags: frozenset[str] = frozenset({"b", "a", "c"})
    pair: tuple[int, ...] = (1, 2)
    first: Line = field(default_factory=lambda: Line("z", colour=Colour.BLUE))
    fresh: UUID = field(default_factory=uuid4)
    random: list[UUID] = field(default_factory=lambda: [uuid4()])
    now: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))


def test_defaults_carry_over() -> None:
    defaults = {name: each["default"] for name, each in fields_of(Defaults).items() if "default" in each}
    assert defaults == {
        "flag": True,
        "size": 2,
        "blob": "\x00ÿ",
        "at": 1_000_000,
        "day": 2,
        "clock": 1_000_000,
        "token": "00000000-0000-0000-0000-000000000001",
        "price": "\x00\x96",
        "level": "HIGH",
        "kind": "b",
        "lines": [{"sku": "a", "count": 1, "colour": "RED"}],
        "points": {"x": 1},
        "tags": ["a", "b", "c"],
        "pair": [1, 2],
        "first": {"sku": "z", "count": 1, "colour": "BLUE"},
    }


def test_what_changes_from_start_to_start_is_no_default() -> None:
    assert not {"fresh", "random", "now"} & {each["name"] for each in text_of(Defaults)["fields"] if "default" in each}


def test_readers_fill_in_what_the_class_says() -> None:
    schema = AvroSchema(Defaults)
    kept = [each for each in json.loads(schema.definition.text)["fields"] if "default" not in each]
    writer = AvroSchema({"type": "record", "name": "Defaults", "fields": kept})
    given = Defaults()
    payload = writer.to_payload({"fresh": given.fresh, "random": given.random, "now": given.now})
    read = schema.reader_of("t", writer.definition, None)
    assert read(payload, None) == given
    read(payload, None).lines.append(Line("other"))
    assert read(payload, None) == given


@dataclass
class Marked:
    small: Annotated[int, Avro("int")]
    millis: Annotated[dt.datetime, Avro("timestamp-millis")]
    local: Annotated[dt.datetime, Avro("local-timestamp-micros")]
    digest: Annotated[bytes, Avro({"type": "fixed", "name": "Digest", "size": 4})]
    again: Annotated[bytes, Avro({"type": "fixed", "name": "Digest", "size": 4})] | None
    each: list[Annotated[float, Avro("float")]]
    fallback: Annotated[int, Avro("int")] = 3


def test_markers_choose_the_type_exactly() -> None:
    types = {name: each["type"] for name, each in fields_of(Marked).items()}
    assert types == {
        "small": "int",
        "millis": {"type": "long", "logicalType": "timestamp-millis"},
        "local": {"type": "long", "logicalType": "local-timestamp-micros"},
        "digest": {"type": "fixed", "name": "Digest", "size": 4},
        "again": ["null", "Digest"],
        "each": {"type": "array", "items": "float"},
        "fallback": "int",
    }
    value = Marked(1, dt.datetime(2026, 1, 1, tzinfo=dt.UTC), dt.datetime(2026, 1, 1), b"abcd", b"efgh", [0.5])
    schema = AvroSchema(Marked)
    assert schema.decode("t", schema.to_payload(value), None) == value


def test_types_used_twice_are_named() -> None:
    whole = json.dumps(text_of(Order))
    assert whole.count('"name": "Line"') == 1
    assert whole.count('"name": "Colour"') == 1


def test_a_class_may_hold_itself() -> None:
    assert fields_of(Order)["parent"] == {"name": "parent", "type": ["null", "Order"], "default": None}
    assert fields_of(OrderModel)["next"]["type"] == ["null", "OrderModel"]


def test_a_class_without_fields() -> None:
    assert text_of(Empty) == {"type": "record", "name": "Empty", "fields": []}
    schema = AvroSchema(Empty)
    assert schema.decode("t", schema.to_payload(Empty()), None) == Empty()


def test_models_have_the_names_of_their_aliases() -> None:
    fields = fields_of(OrderModel)
    assert list(fields) == ["orderId", "lines", "price", "at", "first", "tags", "next"]
    assert fields["orderId"] == {"name": "orderId", "type": "long", "doc": "counts up"}
    assert fields["price"]["type"] == {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
    assert fields["tags"]["default"] == []


@pytest.mark.parametrize("value", [order(parent=order(2)), order_model()], ids=["dataclass", "pydantic"])
def test_payloads_are_those_of_the_text(value: Any) -> None:
    schema: AvroSchema[Any] = AvroSchema(type(value))
    payload = schema.to_payload(value)
    generic = AvroSchema(schema.definition.text)
    assert generic.to_payload(generic.decode("t", payload, None)) == payload


def test_the_same_class_is_looked_at_once() -> None:
    assert AvroSchema(Order)._conversion is AvroSchema(Order)._conversion


def test_symbols_are_the_names_of_members() -> None:
    class Size(Enum):
        SMALL = 1
        LARGE = 2

    @dataclass
    class Shirt:
        size: Size

    schema = AvroSchema(_resolved(Shirt, size=Size))
    assert schema.decode("t", schema.to_payload(Shirt(Size.LARGE)), None) == Shirt(Size.LARGE)


def _resolved(cls: Any, **hints: Any) -> Any:
    cls.__annotations__ = hints
    return cls
