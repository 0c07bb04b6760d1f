"""Instances of classes survive, in each format that is made from classes."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any
from uuid import UUID

import pytest

from tallystick.errors import InvalidRecord
from tallystick.serde import AvroSchema, JsonSchema, NativeSchema, Precision, PulsarJsonSchema
from tests.unit.serde.classes import (
    TOKEN,
    ByValueModel,
    Card,
    Cash,
    Colour,
    Empty,
    Line,
    LineModel,
    Order,
    OrderModel,
    Point,
    StrictModel,
    order,
    order_model,
)

MAKERS: list[Any] = [AvroSchema, PulsarJsonSchema, JsonSchema]


@dataclass
class Shelf:
    boxes: list[list[Point]]
    rows: dict[str, dict[str, Colour]]
    colours: set[Colour] = field(default_factory=set)
    corners: tuple[Point, ...] = ()
    reading: Sequence[int] = ()
    limits: Mapping[str, float | None] = field(default_factory=dict)
    mixed: list[Card | Cash | int | str | None] = field(default_factory=list)
    model: LineModel | None = None
    options: list[str] | dict[str, str] | bool | None = None


SHELF = Shelf(
    boxes=[[Point(1, 2)], []],
    rows={"a": {"b": Colour.BLUE}},
    colours={Colour.RED, Colour.BLUE},
    corners=(Point(3, 4), Point(5, 6)),
    reading=[1, 2],
    limits={"low": 0.5, "none": None},
    mixed=[Card("1"), Cash("EUR", 1.5), 7, "text", None],
    model=LineModel(sku="a", colour=Colour.BLUE),
    options={"k": "v"},
)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "value",
    [order(), order(parent=order(2, payment=Card("1"))), SHELF, Empty(), Point(1, 2), Line("a"), order_model()],
    ids=lambda value: type(value).__name__,
)
def test_instances_survive(make: Any, value: Any) -> None:
    schema: NativeSchema[Any] = make(type(value))
    read = schema.decode("t", schema.to_payload(value), None)
    assert type(read) is type(value)
    assert read == value


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("options", [["a"], {"k": "v"}, True, None], ids=lambda options: type(options).__name__)
def test_unions_keep_the_type(make: Any, options: Any) -> None:
    schema: NativeSchema[Shelf] = make(Shelf)
    value = Shelf([], {}, options=options)
    assert schema.decode("t", schema.to_payload(value), None).options == options


@pytest.mark.parametrize("make", MAKERS)
def test_strict_models(make: Any) -> None:
    schema: NativeSchema[StrictModel] = make(StrictModel)
    value = StrictModel(at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC), colour=Colour.BLUE, tags=frozenset("ab"))
    assert schema.decode("t", schema.to_payload(value), None) == value


@pytest.mark.parametrize("make", MAKERS)
def test_models_that_keep_the_values_of_enums(make: Any) -> None:
    schema: NativeSchema[ByValueModel] = make(ByValueModel)
    value = ByValueModel(colour=Colour.BLUE)
    assert schema.decode("t", schema.to_payload(value), None) == value


@pytest.mark.parametrize("make", MAKERS)
def test_dicts_are_taken_too(make: Any) -> None:
    schema: NativeSchema[Any] = make(Shelf)
    value = {"boxes": [[{"x": 1, "y": 2}, Point(3, 4)]], "rows": {"a": {"b": Colour.RED}}, "reading": (1,)}
    expected = Shelf([[Point(1, 2), Point(3, 4)]], {"a": {"b": Colour.RED}}, reading=[1])
    assert schema.decode("t", schema.to_payload(value), None) == expected


@pytest.mark.parametrize("make", MAKERS)
def test_subclasses_are_written_as_what_they_are_read_as(make: Any) -> None:
    @dataclass(frozen=True)
    class Named(Point):
        name: str = ""

    schema: NativeSchema[Point] = make(Point)
    assert schema.decode("t", schema.to_payload(Named(1, 2, "n")), None) == Point(1, 2)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"id": "one"}, "/id"),
        ({"lines": "abc"}, "/lines"),
        ({"lines": [Line("a"), Point(1, 2)]}, "/lines/1"),
        ({"lines": [Line(5)]}, "/lines/0/sku"),  # type: ignore[arg-type]
        ({"tags": "abc"}, "/tags"),
        ({"by_name": [Line("a")]}, "/by_name"),
        ({"colours": ["green"]}, "/colours"),
        ({"day": dt.datetime(2026, 1, 1, tzinfo=dt.UTC)}, "/day"),
        ({"payment": Point(1, 2)}, "/payment"),
        ({"token": 5}, "/token"),
    ],
    ids=str,
)
def test_what_does_not_fit_has_a_finding_with_its_path(make: Any, changes: dict[str, Any], path: str) -> None:
    schema: NativeSchema[Order] = make(Order)
    with pytest.raises(InvalidRecord) as refused:
        schema.to_payload(order(**changes))
    places = [finding.new.path for finding in refused.value.findings if finding.new]
    assert places
    assert all(place.startswith(path) for place in places)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("value", [Point(1, 2), 5, None, [], object()], ids=["Point", "int", "None", "list", "object"])
def test_other_values_have_findings(make: Any, value: Any) -> None:
    schema: NativeSchema[Any] = make(Line)
    with pytest.raises(InvalidRecord) as refused:
        schema.to_payload(value)
    assert refused.value.findings


def test_an_instance_that_is_not_whole_has_a_finding() -> None:
    point: Any = object.__new__(Point)
    with pytest.raises(InvalidRecord, match="class Point is not whole") as refused:
        AvroSchema(Point).to_payload(point)
    assert [finding.rule for finding in refused.value.findings] == ["CLASS_VALUE_UNWRITABLE"]


def test_an_endless_instance_has_a_finding() -> None:
    endless = order()
    endless.parent = endless
    with pytest.raises(InvalidRecord, match="nested too deeply"):
        AvroSchema(Order).to_payload(endless)


@dataclass
class Positive:
    number: int

    def __post_init__(self) -> None:
        if self.number <= 0:
            raise ValueError("it must be positive")


@pytest.mark.parametrize("make", MAKERS)
def test_a_class_that_refuses_a_value_is_told(make: Any) -> None:
    schema: NativeSchema[Positive] = make(Positive)
    payload = make(schema.definition.text).to_payload({"number": -1})
    with pytest.raises(InvalidRecord, match="class Positive does not take its value: it must be positive") as refused:
        schema.decode("t", payload, None)
    assert [finding.rule for finding in refused.value.findings] == ["CLASS_REFUSES_VALUE"]


def test_a_model_that_refuses_a_value_says_where() -> None:
    schema = AvroSchema(OrderModel)
    writer = AvroSchema(schema.definition.text)
    wrong = writer.decode("t", schema.to_payload(order_model()), None) | {"orderId": -5}
    with pytest.raises(InvalidRecord, match="class OrderModel does not take its value at /orderId") as refused:
        schema.decode("t", writer.to_payload(wrong), None)
    assert [finding.new.path for finding in refused.value.findings if finding.new] == ["/orderId"]


def test_json_of_others_is_read() -> None:
    schema = JsonSchema(Order)
    payload = b"""{"id": 1.0, "lines": [{"sku": "a", "unknown": 1}], "price": "2.50", "at": "2026-03-01T12:00:00Z",
        "day": "2026-03-01", "clock": "01:02:03", "token": "12345678123456781234567812345678", "weights": [1],
        "payment": {"number": "5", "more": true}}"""
    read = schema.decode("t", payload, None)
    assert read.lines == [Line("a")]
    assert read.note is None
    assert read.payment == Card("5")
    assert (type(read.id), [type(weight) for weight in read.weights]) == (int, [float])
    assert read.token == TOKEN


@pytest.mark.parametrize(
    ("part", "value"),
    [("at", "no time"), ("token", "no token"), ("day", "2026-13-01"), ("blob", "?")],
)
def test_json_texts_that_are_not_what_they_stand_for(part: str, value: str) -> None:
    schema = JsonSchema(Order)
    generic = JsonSchema(schema.definition.text)
    wrong = generic.decode("t", schema.to_payload(order()), None) | {part: value}
    with pytest.raises(InvalidRecord, match="class Order does not take its value"):
        schema.decode("t", generic.to_payload(wrong), None)


class Swapped(Enum):
    LEFT = "RIGHT"
    RIGHT = "LEFT"


@dataclass
class Turn:
    to: Swapped
    price: Annotated[Decimal, Precision(6, 3)] = Decimal("1.125")
    key: UUID | None = None


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("to", Swapped)
def test_members_are_never_mistaken(make: Any, to: Swapped) -> None:
    schema: NativeSchema[Turn] = make(Turn)
    assert schema.decode("t", schema.to_payload(Turn(to, key=TOKEN)), None) == Turn(to, key=TOKEN)
