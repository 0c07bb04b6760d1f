"""The record of 15 fields that clients send and receive, as each of them wants it."""

from dataclasses import dataclass, field
from typing import Any

FIELDS: list[tuple[str, Any]] = [
    ("id", "long"),
    ("customer", "string"),
    ("status", {"type": "enum", "name": "Status", "symbols": ["NEW", "PAID", "SENT"]}),
    ("amount", "double"),
    ("currency", "string"),
    ("items", "int"),
    ("is_gift", "boolean"),
    ("note", ["null", "string"]),
    ("coupon", ["null", "string"]),
    ("created_ms", "long"),
    ("country", "string"),
    ("city", "string"),
    ("weight", "float"),
    ("tags", {"type": "array", "items": "string"}),
    ("attributes", {"type": "map", "values": "string"}),
]
_VALUES: dict[str, Any] = {
    "customer": "customer-0815",
    "status": "PAID",
    "amount": 129.95,
    "currency": "EUR",
    "items": 3,
    "is_gift": False,
    "note": "leave it with the neighbours",
    "coupon": None,
    "created_ms": 1_760_000_000_000,
    "country": "DE",
    "city": "Hamburg",
    "weight": 1.5,
    "tags": ["new", "summer"],
    "attributes": {"channel": "web", "campaign": "42"},
}


def schema(*more: dict[str, Any]) -> dict[str, Any]:
    """The Avro schema, with more fields behind."""
    nullable = [{"name": name, "type": kind, **_default(kind)} for name, kind in FIELDS]
    return {"type": "record", "name": "Order", "fields": [*nullable, *more]}


def _default(kind: Any) -> dict[str, Any]:
    return {"default": None} if isinstance(kind, list) else {}


def record(number: int) -> dict[str, Any]:
    return {"id": number, **_VALUES}


@dataclass
class Order:
    """The same as a class of a program."""

    id: int
    customer: str
    status: str
    amount: float
    currency: str
    items: int
    is_gift: bool
    note: str | None
    coupon: str | None
    created_ms: int
    country: str
    city: str
    weight: float
    tags: list[str] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)


def order(number: int) -> Order:
    return Order(**record(number))
