"""Classes that the tests make schemas from."""

import datetime as dt
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Annotated, Literal
from uuid import UUID

import pydantic

from tallystick.serde import Avro, Precision

NOON = dt.datetime(2026, 3, 1, 12, 0, 0, 250, tzinfo=dt.UTC)
TOKEN = UUID("12345678-1234-5678-1234-567812345678")


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Line:
    """One line of an order."""

    sku: str
    count: Annotated[int, Avro("int")] = 1
    colour: Colour = Colour.RED


@dataclass
class Card:
    number: str


@dataclass
class Cash:
    currency: str
    amount: float


@dataclass
class Order:
    id: int
    lines: list[Line]
    note: str | None
    price: Annotated[Decimal, Precision(10, 2)]
    at: dt.datetime
    day: dt.date
    clock: dt.time
    token: UUID
    payment: Card | Cash | None = None
    tags: set[str] = field(default_factory=set)
    by_name: dict[str, Line] = field(default_factory=dict)
    blob: bytes = b"\x00\xff"
    urgency: int | None = 5
    kind: Literal["retail", "trade"] = "retail"
    parent: "Order | None" = None
    first: Line = field(default_factory=lambda: Line("none"))
    weights: tuple[float, ...] = (1.0, 2.5)
    colours: list[Colour] | None = None


def order(number: int = 1, **changes: object) -> Order:
    """An order with a value of each type."""
    values: dict[str, object] = {
        "id": number,
        "lines": [Line("a"), Line("b", 3, Colour.BLUE)],
        "note": None,
        "price": Decimal("12.30"),
        "at": NOON,
        "day": dt.date(2026, 2, 3),
        "clock": dt.time(1, 2, 3, 4),
        "token": TOKEN,
        "payment": Cash("EUR", 2.5),
        "tags": {"x", "y"},
        "by_name": {"k": Line("z")},
        "colours": [Colour.BLUE],
    }
    return Order(**(values | changes))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int


@dataclass
class Empty:
    pass


class LineModel(pydantic.BaseModel):
    sku: str
    colour: Colour = Colour.RED


class OrderModel(pydantic.BaseModel):
    """An order of the shop."""

    id: pydantic.PositiveInt = pydantic.Field(alias="orderId", description="counts up")
    lines: list[LineModel] = []
    price: Decimal = pydantic.Field(max_digits=10, decimal_places=2)
    at: dt.datetime
    first: LineModel | None = None
    tags: set[str] = set()
    next: "OrderModel | None" = None


class StrictModel(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True, frozen=True)

    at: dt.datetime
    colour: Colour
    tags: frozenset[str] = frozenset()


class ByValueModel(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(use_enum_values=True)

    colour: Colour


def order_model(number: int = 1) -> OrderModel:
    inner = OrderModel(orderId=9, price=Decimal("1.00"), at=NOON)
    return OrderModel(
        orderId=number,
        lines=[LineModel(sku="a", colour=Colour.BLUE)],
        price=Decimal("3.50"),
        at=NOON,
        first=LineModel(sku="b"),
        tags={"x", "y"},
        next=inner,
    )
