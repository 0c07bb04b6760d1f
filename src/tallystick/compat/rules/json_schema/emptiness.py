"""Which values are left when several nodes hold together, and whether there are any at all.

No value is left only where that is certain; what is not understood leaves values. So two nodes are disjoint when
a writer of both is empty: their types differ, or a required property cannot have both of its constants.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

from tallystick.compat.rules.json_schema import synthetic
from tallystick.compat.rules.json_schema.judge import Judge, matches
from tallystick.compat.rules.json_schema.sameness import Sameness
from tallystick.compat.rules.json_schema.writer import Writer
from tallystick.formats.json_schema.kinds import (
    ARRAY,
    BOOLEAN,
    FRACTION,
    INTEGERS,
    NULL,
    NUMBERS,
    OBJECT,
    STRING,
    Kinds,
    equal_text,
    kinds_of_value,
)
from tallystick.formats.json_schema.node import Bound, Node

_DEPTH = 6
"""Levels of the value that are looked into for a part that cannot exist."""


class Emptiness:
    def __init__(self, same: Sameness, judge: Judge, spend: Callable[[int], None]) -> None:
        self._same = same
        self._judge = judge
        self._spend = spend
        self._known: dict[object, tuple[bool, int]] = {}
        self._values: dict[object, list[Any] | None] = {}

    def __call__(self, writer: Writer, depth: int = _DEPTH) -> bool:
        if not writer.nodes or depth == 0:
            return False
        found, searched = self._known.get(writer.key, (False, 0))
        if not found and searched < depth:
            # Asked again on the way, the answer is "not that we know".
            self._known[writer.key] = (False, depth)
            found = self._is_empty(writer, depth)
            self._known[writer.key] = (found, depth)
        return found

    def values(self, writer: Writer) -> list[Any] | None:
        """All values that are left, where they can be counted."""
        if writer.key not in self._values:
            self._values[writer.key] = self._count(writer)
        return self._values[writer.key]

    def branches(self, writer: Writer) -> Iterator[Writer]:
        """The writer once for each branch of its first disjunction, without those that are empty."""
        for branch in self._alternatives(writer):
            if not self(branch):
                yield branch

    def property(self, writer: Writer, name: str) -> Writer:
        """What is known of a property's value."""
        found: list[Node] = []
        for node in writer.nodes:
            if name in node.properties:
                found.append(node.properties[name])
            found += (inner for pattern, inner in node.patterns.items() if matches(pattern, name))
            if node.additional is not None and _covers(node, name) and not node.additional.node.refuses_nothing:
                found.append(node.additional.node)
        return Writer(found, found[0] if found else writer.home)

    def max_items(self, writer: Writer, depth: int = _DEPTH) -> int | None:
        """The greatest number of items, also where an item that cannot exist ends the list."""
        declared = max((len(node.prefix) for node in writer.nodes), default=0)
        limit = writer.most("max_items")
        for index in range(declared + 1):
            if limit is not None and index >= limit:
                break
            if self(writer.item(index), depth - 1):
                return index
        return limit

    def can_hold(self, writer: Writer, name: str, depth: int = _DEPTH) -> bool:
        """Whether a value may have a property."""
        most = writer.most("max_properties")
        if most is not None and len(writer.required | {name}) > most:
            return False
        if any(self._judge.refuses(names, name) for names in _names(writer)):
            return False
        return not self(self.property(writer, name), depth - 1)

    def _is_empty(self, writer: Writer, depth: int) -> bool:
        kinds = self.kinds(writer, depth)
        if not kinds:
            return True
        if not writer.disjunctions:
            return False
        return all(self(branch, depth - 1) for branch in self._alternatives(writer))

    def _alternatives(self, writer: Writer) -> Iterator[Writer]:
        disjunction = writer.disjunctions[0]
        node, name = disjunction
        for holding, excluded in _branches(node, name):
            self._spend(len(writer.nodes))
            yield writer.branch(disjunction, holding, excluded)

    def kinds(self, writer: Writer, depth: int = _DEPTH) -> Kinds:
        """The kinds that are left; fewer than the writer's own where limits rule one out."""
        node = writer.only_node
        if node is None or depth < _DEPTH:
            return self._kinds(writer, depth) if node is None or node.kinds_left is None else node.kinds_left
        if node.kinds_left is None:
            node.kinds_left = self._kinds(writer, depth)
        return node.kinds_left

    def _kinds(self, writer: Writer, depth: int) -> Kinds:
        values = self.values(writer)
        kinds = writer.kinds if values is None else Kinds().union(*(kinds_of_value(value) for value in values))
        for node in writer.excluded:
            kinds -= self._taken_out(writer, node)
        if kinds & NUMBERS:
            kinds -= _impossible_numbers(writer)
        if STRING in kinds and _is_below(writer.most("max_length"), writer.least("min_length")):
            kinds -= {STRING}
        if ARRAY in kinds and _is_below(self.max_items(writer, depth), writer.least("min_items")):
            kinds -= {ARRAY}
        if OBJECT in kinds and self._has_no_objects(writer, depth):
            kinds -= {OBJECT}
        return kinds

    def _taken_out(self, writer: Writer, node: Node) -> Kinds:
        """The kinds that `not` leaves nothing of; only what is plain to see."""
        if node.refuses_nothing or any(self._same(inner, node) for inner in writer.nodes):
            return writer.kinds
        return node.kinds if self._same(node, synthetic.of_kinds(node.kinds)) else frozenset()

    def _has_no_objects(self, writer: Writer, depth: int) -> bool:
        most = writer.most("max_properties")
        if _is_below(most, max(writer.least("min_properties"), len(writer.required))):
            return True
        return any(not self.can_hold(writer, name, depth) for name in writer.required)

    def _count(self, writer: Writer) -> list[Any] | None:
        listed = [list(node.values) for node in writer.nodes if node.values is not None]
        if listed:
            values = min(listed, key=len)
        elif writer.kinds <= {NULL, BOOLEAN}:
            values = [value for value in (None, False, True) if kinds_of_value(value) <= writer.kinds]
        else:
            return None
        return [value for value in values if self._fits(writer, value)]

    def _fits(self, writer: Writer, value: Any) -> bool:
        for node in writer.nodes:
            if not kinds_of_value(value) & node.outer_kinds or self._judge.refuses(node, value):
                return False
            if node.source is None and not _is_listed(node, value):
                return False
        return not any(self._judge.accepts(node, value) for node in writer.excluded)


def _is_listed(node: Node, value: Any) -> bool:
    return node.values is None or equal_text(value) in map(equal_text, node.values)


def _branches(node: Node, name: str) -> Iterator[tuple[tuple[Node, ...], list[Node]]]:
    """For each branch what holds in it, and what does not."""
    if name == "any_of":
        yield from (((branch,), []) for branch in node.any_of)
    elif name == "one_of":
        for branch in node.one_of:
            yield (branch,), [other for other in node.one_of if other is not branch]
    elif node.if_ is not None and node.then is not None and node.else_ is not None:
        yield (node.then, node.if_), []
        yield (node.else_,), [node.if_]


def _names(writer: Writer) -> list[Node]:
    return [node.property_names for node in writer.nodes if node.property_names is not None]


def _covers(node: Node, name: str) -> bool:
    additional = node.additional
    assert additional is not None
    return name not in additional.names and not any(matches(pattern, name) for pattern in additional.patterns)


def _is_below(most: int | None, least: int) -> bool:
    return most is not None and most < least


def _impossible_numbers(writer: Writer) -> Kinds:
    least, most = writer.minimum, writer.maximum
    steps = [node.multiple_of for node in writer.nodes if node.multiple_of is not None]
    if least is not None and most is not None:
        if _is_past(least, most) or any(math.ceil(least.limit / step) * step > most.limit for step in steps):
            return NUMBERS
        if math.ceil(least.limit) > math.floor(most.limit):
            return INTEGERS
    return frozenset({FRACTION}) if any(step.denominator == 1 for step in steps) else frozenset()


def _is_past(least: Bound, most: Bound) -> bool:
    return least.limit > most.limit or (least.limit == most.limit and (least.excludes or most.excludes))
