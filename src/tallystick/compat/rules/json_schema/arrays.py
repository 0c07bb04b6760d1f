"""What the reader asks of arrays and their items."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tallystick.compat.rules.json_schema.breach import Failure
from tallystick.compat.rules.json_schema.breaches import ADDITIONAL_ITEMS, CONTAINS, MAX_ITEMS, MIN_ITEMS, UNIQUE_ITEMS
from tallystick.compat.rules.json_schema.goal import Goal
from tallystick.compat.rules.json_schema.writer import Writer
from tallystick.formats.json_schema.kinds import ARRAY
from tallystick.formats.json_schema.node import Contains, Node

if TYPE_CHECKING:
    from tallystick.compat.rules.json_schema.containment import Containment

Steps = Iterator[Goal | Failure]


def check(proof: "Containment", writer: Writer, reader: Node) -> Steps:
    if ARRAY not in writer.kinds:
        return
    most = proof.emptiness.max_items(writer)
    if reader.min_items > writer.least("min_items"):
        yield Failure(MIN_ITEMS, writer, reader, ("minItems",), {"demand": str(reader.min_items)})
    if reader.max_items is not None and (most is None or most > reader.max_items):
        yield Failure(MAX_ITEMS, writer, reader, ("maxItems",), {"demand": str(reader.max_items)})
    if reader.unique and not any(node.unique for node in writer.nodes) and (most is None or most > 1):
        yield Failure(UNIQUE_ITEMS, writer, reader, ("uniqueItems",))
    yield from _items(writer, reader, most)
    if reader.contains is not None and not _has_contained(proof, writer, reader.contains, most):
        yield Failure(CONTAINS, writer, reader, ("contains",))


def _items(writer: Writer, reader: Node, most: int | None) -> Steps:
    for index, node in enumerate(reader.prefix):
        if most is None or index < most:
            yield Goal(writer.item(index), node)
    rest = reader.rest
    if rest is None or (most is not None and most <= len(reader.prefix)):
        return
    if not rest.outer_kinds:
        yield Failure(ADDITIONAL_ITEMS, writer, reader, _rest_keyword(reader), {"demand": str(len(reader.prefix))})
        return
    declared = max((len(node.prefix) for node in writer.nodes), default=0)
    for index in range(len(reader.prefix), declared if most is None else min(declared, most)):
        yield Goal(writer.item(index), rest)
    if most is None or most > max(len(reader.prefix), declared):
        yield Goal(writer.item(None), rest)


def _rest_keyword(reader: Node) -> tuple[str, ...]:
    assert reader.rest is not None
    last = reader.rest.path[len(reader.path) :]
    return tuple(str(step) for step in last) or ("items",)


def _has_contained(proof: "Containment", writer: Writer, wanted: Contains, most: int | None) -> bool:
    return _has_enough(proof, writer, wanted) and _has_not_too_many(proof, writer, wanted, most)


def _has_enough(proof: "Containment", writer: Writer, wanted: Contains) -> bool:
    if wanted.least == 0:
        return True
    for own in writer.contains:
        if own.least >= wanted.least and proof.holds(Writer([own.node], own.node), wanted.node):
            return True
    certain = range(min(writer.least("min_items"), 64))
    return sum(proof.holds(writer.item(index), wanted.node) for index in certain) >= wanted.least


def _has_not_too_many(proof: "Containment", writer: Writer, wanted: Contains, most: int | None) -> bool:
    if wanted.most is None or (most is not None and most <= wanted.most):
        return True
    unwanted = Writer([wanted.node], wanted.node)
    return any(
        own.most is not None and own.most <= wanted.most and proof.holds(unwanted, own.node) for own in writer.contains
    )
