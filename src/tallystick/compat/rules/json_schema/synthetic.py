"""Nodes that no text holds: what is known of a value beyond the schema that it was written with."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tallystick.formats.json_schema.kinds import Kinds, kinds_of_value
from tallystick.formats.json_schema.node import Node


@lru_cache(maxsize=1024)
def of_kinds(kinds: Kinds) -> Node:
    return Node(kinds=kinds, outer_kinds=kinds)


def of_values(values: Sequence[Any]) -> Node:
    kinds = Kinds().union(*(kinds_of_value(value) for value in values))
    return Node(values=tuple(values), outer_kinds=kinds)


@lru_cache(maxsize=1024)
def matching(pattern: str) -> Node:
    return Node(pattern=pattern, kinds=frozenset({"string"}), outer_kinds=frozenset({"string"}))


@lru_cache(maxsize=1024)
def holding(name: str) -> Node:
    """Of objects that hold a property."""
    return Node(required=frozenset({name}), kinds=frozenset({"object"}), outer_kinds=frozenset({"object"}))
