"""Node: one schema object in a form that all drafts share.

The keywords of a draft are read once (`keywords`); who asks what a schema means asks its nodes. A keyword that
is absent stands here with the value that refuses nothing. `true` is a node that refuses nothing, `false` one
without kinds.
"""

import hashlib
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from tallystick.finding import Place
from tallystick.formats.json_schema.kinds import ALL_KINDS, Kinds, equal_text
from tallystick.formats.json_schema.source import Source
from tallystick.formats.json_source import Path

_NO_NODES: Mapping[str, "Node"] = MappingProxyType({})
_NOT_SAID = frozenset(
    {
        "source",
        "path",
        "raw",
        "ref",
        "outer_kinds",
        "key",
        "has_refs",
        "refuses_nothing",
        "only_includes",
        "kinds_left",
    }
)


class Bound(NamedTuple):
    """A limit of numbers; of two lower limits the greater one is the tighter."""

    limit: Fraction
    excludes: bool


class Contains(NamedTuple):
    node: "Node"
    least: int
    most: int | None


class Additional(NamedTuple):
    """What holds for the properties that neither have one of the names nor match one of the patterns."""

    names: frozenset[str]
    patterns: frozenset[str]
    node: "Node"


class Node:
    """Complete once its schema is parsed; what it says never changes after that. Nodes are compared by identity.

    What refuses nothing is not set on the node but stands here, on the class.
    """

    kinds: Kinds = ALL_KINDS
    values: tuple[Any, ...] | None = None
    minimum: Bound | None = None
    maximum: Bound | None = None
    multiple_of: Fraction | None = None
    min_length: int = 0
    max_length: int | None = None
    pattern: str | None = None
    content: tuple[str, ...] = ()
    prefix: tuple["Node", ...] = ()
    rest: "Node | None" = None
    min_items: int = 0
    max_items: int | None = None
    unique: bool = False
    contains: Contains | None = None
    properties: Mapping[str, "Node"] = _NO_NODES
    patterns: Mapping[str, "Node"] = _NO_NODES
    additional: Additional | None = None
    property_names: "Node | None" = None
    required: frozenset[str] = frozenset()
    dependent_required: Mapping[str, frozenset[str]] = MappingProxyType({})
    dependent_schemas: Mapping[str, "Node"] = _NO_NODES
    min_properties: int = 0
    max_properties: int | None = None
    all_of: tuple["Node", ...] = ()
    any_of: tuple["Node", ...] = ()
    one_of: tuple["Node", ...] = ()
    not_: "Node | None" = None
    if_: "Node | None" = None
    then: "Node | None" = None
    else_: "Node | None" = None
    ref: "Node | None" = None
    unevaluated_items: "Node | None" = None
    unevaluated_properties: "Node | None" = None
    """Both are set only where `rest` and `additional` cannot say the same."""
    dynamic: str = ""
    """Set for a dynamic reference that may lead to several places; equal within equal texts."""
    outer_kinds: Kinds = ALL_KINDS
    """The kinds that are left by this node and all that speak of the same value; at least those that are possible."""
    kinds_left: Kinds | None = None
    """The kinds of which values are left, once a comparison has found out; for the next one."""

    def __init__(self, source: Source | None = None, path: Path = (), raw: Any = True, **said: Any) -> None:
        self.source = source
        self.path = path
        self.raw = raw
        self.__dict__.update(said)

    def place(self, *steps: str | int) -> Place:
        return Place("") if self.source is None else self.source.place((*self.path, *steps))

    def in_place(self) -> Iterator["Node"]:
        """The nodes that speak of the same value."""
        yield from self._in_place_but_ref()
        if self.ref is not None:
            yield self.ref

    @cached_property
    def has_refs(self) -> bool:
        return self.ref is not None or any(child.has_refs for child in self._children())

    @cached_property
    def refuses_nothing(self) -> bool:
        return self.key == _NOTHING_REFUSED

    @cached_property
    def only_includes(self) -> bool:
        """Whether all it says is that others hold, so that they can stand for it."""
        return (self.ref is not None or bool(self.all_of)) and not vars(self).keys() - _NOT_SAID - {"all_of"}

    @cached_property
    def key(self) -> bytes:
        """Equal for nodes that say the same, if the references inside lead to nodes that say the same."""
        return hashlib.blake2b(repr(self._said()).encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def refs(self) -> Iterator["Node"]:
        """The targets of the references inside, in an order that nodes with equal keys share."""
        stack = [self]
        while stack:
            node = stack.pop()
            if node.ref is not None:
                yield node.ref
            stack.extend(child for child in node._children() if child.has_refs)

    def _in_place_but_ref(self) -> Iterator["Node"]:
        yield from self.all_of
        yield from self.any_of
        yield from self.one_of
        yield from (node for node in (self.not_, self.if_, self.then, self.else_) if node is not None)
        yield from (self.dependent_schemas[name] for name in sorted(self.dependent_schemas))

    def _children(self) -> Iterator["Node"]:
        yield from self._in_place_but_ref()
        yield from (self.properties[name] for name in sorted(self.properties))
        yield from (self.patterns[name] for name in sorted(self.patterns))
        yield from self.prefix
        single = (self.rest, self.property_names, self.unevaluated_items, self.unevaluated_properties)
        yield from (node for node in single if node is not None)
        if self.contains is not None:
            yield self.contains.node
        if self.additional is not None:
            yield self.additional.node

    def _said(self) -> list[tuple[str, object]]:
        said = [(name, _digestible(value)) for name, value in sorted(vars(self).items()) if name not in _NOT_SAID]
        return said if self.ref is None else [("ref", ""), *said]


def _digestible(value: Any) -> object:
    match value:
        case Node():
            return value.key
        case Additional() | Contains():
            return [_digestible(part) for part in value]
        case Bound() | Fraction() | str() | bytes() | bool() | int() | None:
            return value
        case frozenset():
            return sorted(value)
        case Mapping():
            return [(name, _digestible(value[name])) for name in sorted(value)]
        case tuple() if value and isinstance(value[0], Node):
            return [_digestible(part) for part in value]
    return sorted(equal_text(part) for part in value)


_NOTHING_REFUSED = Node().key

ANYTHING = Node()
NOTHING = Node(raw=False, kinds=frozenset(), outer_kinds=frozenset())
