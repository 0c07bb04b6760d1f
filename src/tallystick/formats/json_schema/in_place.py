"""What follows from the schema objects that speak of one and the same value: no circles, which kinds are left."""

from collections.abc import Iterable, Iterator

from tallystick.errors import InvalidSchema
from tallystick.formats.json_schema.kinds import ALL_KINDS, Kinds, kinds_of_value
from tallystick.formats.json_schema.node import ANYTHING, Additional, Node

MAX_STEPS = 200
"""How many references and combinators may stand between a value and a keyword that speaks of it."""


def settle(nodes: Iterable[Node]) -> int:
    """Sets `outer_kinds` of each node; answers with the longest chain of steps that stay at one value.

    Raises `InvalidSchema` for a chain that comes back to where it was, or is longer than `MAX_STEPS`.
    """
    steps: dict[Node, int] = {}
    for start in nodes:
        _settle_from(start, steps)
    return max(steps.values(), default=0)


def _settle_from(start: Node, steps: dict[Node, int]) -> None:
    open_: dict[Node, Iterator[Node]] = {start: start.in_place()} if start not in steps else {}
    while open_:
        node, rest = next(reversed(open_.items()))
        following = next(rest, None)
        if following is None:
            del open_[node]
            steps[node] = 1 + max((steps[inner] for inner in node.in_place()), default=0)
            _set_outer_kinds(node)
            _refuse_long_chain(node, steps[node])
        elif following in open_:
            raise InvalidSchema(
                "this leads back to itself without a step into the value, so it would never end",
                next(other for other in reversed(open_) if other.ref is not None).place("$ref"),
                "let the circle pass through a property or an item",
            )
        elif following not in steps:
            open_[following] = following.in_place()


def _refuse_long_chain(node: Node, steps: int) -> None:
    if steps > MAX_STEPS:
        raise InvalidSchema(
            f"more than {MAX_STEPS} references and combinators follow each other without a step into the value",
            node.place(),
            "shorten the chain of `$ref`",
        )


def _set_outer_kinds(node: Node) -> None:
    kinds = node.kinds
    if node.values is not None:
        kinds &= Kinds().union(*(kinds_of_value(value) for value in node.values))
    for inner in (*node.all_of, *((node.ref,) if node.ref is not None else ())):
        kinds &= inner.outer_kinds
    for branches in (node.any_of, node.one_of):
        if branches:
            kinds &= Kinds().union(*(branch.outer_kinds for branch in branches))
    if kinds != ALL_KINDS:
        node.outer_kinds = kinds


def say_unevaluated_otherwise(node: Node) -> None:
    """Turns `unevaluated…` into `additional` and `rest` where what is evaluated does not depend on the value."""
    if node.unevaluated_properties is None and node.unevaluated_items is None:
        return
    reached = _certain(node)
    if node.unevaluated_properties is not None and _is_fixed(reached):
        unevaluated = node.unevaluated_properties
        del node.unevaluated_properties
        others = [n for n in reached if n is not node]
        if node.additional is None and not any(n.additional or n.unevaluated_properties for n in others):
            names = frozenset[str]().union(*(n.properties for n in reached))
            patterns = frozenset[str]().union(*(n.patterns for n in reached))
            node.additional = Additional(names, patterns, unevaluated)
    if node.unevaluated_items is not None and _is_fixed(reached) and not _has_contains(reached):
        unevaluated = node.unevaluated_items
        del node.unevaluated_items
        if not any(n.rest or (n.unevaluated_items and n is not node) for n in reached):
            length = max(len(n.prefix) for n in reached)
            node.prefix += (ANYTHING,) * (length - len(node.prefix))
            node.rest = unevaluated


def _certain(node: Node) -> list[Node]:
    """The node and all that hold whenever it holds."""
    found = [node]
    for reached in found:
        found.extend(reached.all_of)
        if reached.ref is not None:
            found.append(reached.ref)
    return found


def _is_fixed(reached: list[Node]) -> bool:
    return not any(n.any_of or n.one_of or n.if_ or n.dependent_schemas or n.dynamic for n in reached)


def _has_contains(reached: list[Node]) -> bool:
    """Draft 2020-12 counts the items that `contains` finds as evaluated."""
    return any(n.contains is not None for n in reached)
