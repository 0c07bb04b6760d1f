"""The function of `mesh.yaml`: its type hints are the schemas of what it reads and writes."""

from collections.abc import Iterator
from dataclasses import dataclass

BIG = 1_000.0


@dataclass
class Order:
    id: int
    customer: str
    total: float


@dataclass
class BigOrder:
    id: int
    customer: str
    above: float


def big_orders(order: Order) -> Iterator[BigOrder]:
    """Orders of more than 1,000, and by how much."""
    if order.total > BIG:
        yield BigOrder(order.id, order.customer, order.total - BIG)
