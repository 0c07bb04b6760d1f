"""Writer: what is known of the values that were written, as the nodes that all of them fit."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from typing import Any, NamedTuple

from tallystick.formats.json_schema.kinds import ALL_KINDS, INTEGERS, NUMBERS, OBJECT, Kinds
from tallystick.formats.json_schema.node import Bound, Contains, Node

Disjunction = tuple[Node, str]
"""A node and its attribute that says "one of these"."""


class Writer:
    """Nodes that all hold, with those that they include by reference and `allOf`; more nodes, fewer values.

    `expanded` are the disjunctions of which one branch is already among the nodes, `excluded` are nodes that no
    value fits. `home` is where to point when nothing better is known.
    """

    def __init__(
        self,
        nodes: Iterable[Node],
        home: Node,
        expanded: frozenset[Disjunction] = frozenset(),
        excluded: frozenset[Node] = frozenset(),
    ) -> None:
        self.nodes = _with_included(nodes)
        self.home = home
        self.expanded = expanded
        self.excluded = excluded.union(node.not_ for node in self.nodes if node.not_ is not None)
        self.key = (frozenset(self.nodes), expanded, self.excluded)

    @property
    def only_node(self) -> Node | None:
        """The node, where all that is known is what one node of a schema says."""
        is_one = len(self.nodes) == 1 and not self.expanded and self.excluded <= {self.nodes[0].not_}
        return self.nodes[0] if is_one else None

    def also(self, *nodes: Node) -> "Writer":
        return Writer((*self.nodes, *nodes), self.home, self.expanded, self.excluded)

    def but(self, *nodes: Node) -> "Writer":
        """Only the values that none of the nodes takes."""
        return Writer(self.nodes, self.home, self.expanded, self.excluded.union(nodes))

    def branch(self, disjunction: Disjunction, nodes: Sequence[Node], excluded: Iterable[Node]) -> "Writer":
        expanded = self.expanded | {disjunction}
        return Writer((*self.nodes, *nodes), nodes[0], expanded, self.excluded.union(excluded))

    @cached_property
    def kinds(self) -> Kinds:
        return reduce(Kinds.intersection, (node.outer_kinds for node in self.nodes), ALL_KINDS)

    @cached_property
    def disjunctions(self) -> list[Disjunction]:
        return [
            (node, name)
            for node in self.nodes
            for name in ("any_of", "one_of", "if_")
            if getattr(node, name) and (node, name) not in self.expanded
        ]

    @cached_property
    def minimum(self) -> Bound | None:
        bound = max((node.minimum for node in self.nodes if node.minimum), default=None)
        if bound is not None and self._has_integers_only:
            least = math.floor(bound.limit) + 1 if bound.excludes else math.ceil(bound.limit)
            return Bound(Fraction(least), False)
        return bound

    @cached_property
    def maximum(self) -> Bound | None:
        bounds = (node.maximum for node in self.nodes if node.maximum)
        bound = min(bounds, key=lambda bound: (bound.limit, not bound.excludes), default=None)
        if bound is not None and self._has_integers_only:
            most = math.ceil(bound.limit) - 1 if bound.excludes else math.floor(bound.limit)
            return Bound(Fraction(most), False)
        return bound

    @cached_property
    def _has_integers_only(self) -> bool:
        return self.kinds & NUMBERS <= INTEGERS

    @cached_property
    def required(self) -> frozenset[str]:
        required = frozenset[str]().union(*(node.required for node in self.nodes))
        while any(node.dependent_required for node in self.nodes):
            more = required.union(*(self.needed_by(name) for name in required))
            if more == required:
                return required
            required = more
        return required

    def needed_by(self, name: str) -> frozenset[str]:
        """What a value that holds a property holds as well."""
        return frozenset[str]().union(*(node.dependent_required.get(name, ()) for node in self.nodes))

    @cached_property
    def names(self) -> list[str]:
        """The properties that the nodes name, in the order of the text."""
        declared = dict.fromkeys(name for node in self.nodes for name in node.properties)
        return [*declared, *sorted(self.required - declared.keys())]

    @cached_property
    def name_patterns(self) -> list[str]:
        return list(dict.fromkeys(pattern for node in self.nodes for pattern in node.patterns))

    @cached_property
    def contains(self) -> list[Contains]:
        return [node.contains for node in self.nodes if node.contains is not None]

    def most(self, name: str) -> int | None:
        return min((limit for node in self.nodes if (limit := getattr(node, name)) is not None), default=None)

    def least(self, name: str) -> int:
        return max((getattr(node, name) for node in self.nodes), default=0)

    def declares(self, name: str) -> bool:
        return any(name in node.properties for node in self.nodes)

    def item(self, index: int | None) -> "Writer":
        """What is known of an item; None: of all items after the declared ones."""
        found = []
        for node in self.nodes:
            if index is not None and index < len(node.prefix):
                found.append(node.prefix[index])
            elif node.rest is not None:
                found.append(node.rest)
        return Writer(found, found[0] if found else self.home)


class Origin(NamedTuple):
    node: Node
    steps: tuple[str | int, ...]

    @property
    def quoted(self) -> Any:
        value = self.node.raw
        for step in self.steps:
            value = value[step]
        return value


def origin(writer: Writer, steps: tuple[str | int, ...]) -> Origin | None:
    """Where the writer's texts have a keyword."""
    for node in writer.nodes:
        value = node.raw
        for step in steps:
            value = value.get(step) if isinstance(value, dict) and isinstance(step, str) else None
        if value is not None and node.source is not None:
            return Origin(node, steps)
    return None


def _with_included(nodes: Iterable[Node]) -> tuple[Node, ...]:
    seen: dict[Node, None] = {}
    stack = list(nodes)[::-1]
    while stack:
        while stack:
            node = stack.pop()
            if node not in seen:
                seen[node] = None
                stack.extend(reversed(node.all_of))
                if node.ref is not None:
                    stack.append(node.ref)
        stack.extend(_called_for(seen))
    return tuple(node for node in seen if not node.only_includes)


def _called_for(seen: dict[Node, None]) -> list[Node]:
    """The dependent schemas of properties that are required. They say nothing of a value that is no object."""
    conditional = [node for node in seen if node.dependent_schemas]
    if not conditional or reduce(Kinds.intersection, (node.outer_kinds for node in seen), ALL_KINDS) - {OBJECT}:
        return []
    required = frozenset[str]().union(*(node.required for node in seen))
    called = (inner for node in conditional for name, inner in node.dependent_schemas.items() if name in required)
    return [inner for inner in called if inner not in seen]
