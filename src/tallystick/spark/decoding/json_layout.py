"""How the columns of a JSON Schema lie, for a parser that fills them without looking at the schema.

Where a schema says nothing but types, and which properties there must be, the layout says all of it: what fills the
columns and heeds the layout fits the schema, and nobody has to look again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from pyspark.sql.types import BooleanType, DataType, DoubleType, LongType, StringType, StructType

from tallystick.formats.json_schema.kinds import ARRAY, BOOLEAN, INTEGER, INTEGERS, NULL, NUMBERS, OBJECT, STRING, Kinds
from tallystick.formats.json_schema.node import Node
from tallystick.spark.types.json_schema import Entries, Items, Leaf, Members, Shape

_MOST_DEEP = 32
_SAID_OF_TYPES = {"kinds", "properties", "rest", "additional", "required"}
_FOUND_OUT = {"outer_kinds", "kinds_left"}
_OTHER_KEYWORDS = Node.__annotations__.keys() - _SAID_OF_TYPES - _FOUND_OUT
_WHOLE_KINDS: dict[type[DataType], Kinds] = {
    StringType: frozenset({STRING}),
    BooleanType: frozenset({BOOLEAN}),
    DoubleType: NUMBERS,
}

INSIDE = ""
"""The name under which the items of an array and the values of a map stand in `Layout.inner`."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """A column and those in it; each is itself alone."""

    type: DataType
    inner: Mapping[str, "Layout"] = field(default_factory=lambda: MappingProxyType({}))
    takes_null: bool = True
    is_required: bool = False

    def all(self) -> Iterator["Layout"]:
        yield self
        for one in self.inner.values():
            yield from one.all()


def of_shape(shape: Shape) -> Layout | None:
    """Of the types alone, where all may be null; None where a column holds JSON text, or records are no objects."""
    return _root(shape, None)


def of_types(shape: Shape, node: Node) -> Layout | None:
    """Of a schema that says nothing but types; None where it says more."""
    return _root(shape, node)


class _NoLayout(Exception):
    pass


def _root(shape: Shape, node: Node | None) -> Layout | None:
    try:
        return _layout(shape, node, 0) if isinstance(shape, Members) else None
    except _NoLayout:
        return None


def _layout(shape: Shape, node: Node | None, depth: int, *, is_required: bool = False) -> Layout:
    takes_null = node is None or NULL in node.kinds
    # A required property that may be null: its columns would not tell whether it is there.
    if depth > _MOST_DEEP or (is_required and takes_null) or (node is not None and not _says_types(node, shape)):
        raise _NoLayout
    match shape:
        case Leaf():
            inner: dict[str, Layout] = {}
        case Items(item=item):
            inner = {INSIDE: _layout(item, node and node.rest, depth + 1)}
        case Entries(value=value):
            inner = {INSIDE: _layout(value, node and node.additional and node.additional.node, depth + 1)}
        case Members(by_name=by_name):
            required = node.required if node is not None else frozenset[str]()
            inner = {
                name: _layout(one, node and node.properties[name], depth + 1, is_required=name in required)
                for name, one in by_name.items()
            }
        case _:
            raise _NoLayout
    return Layout(shape.type, inner, takes_null, is_required)


def _says_types(node: Node, shape: Shape) -> bool:
    """Whether the values of the shape are just those that the node takes, leaving its properties and items aside."""
    kinds = node.kinds - {NULL}
    if vars(node).keys() & _OTHER_KEYWORDS:
        return False
    match shape:
        case Leaf(type=LongType()):
            return INTEGER in kinds and kinds <= INTEGERS
        case Leaf(type=type_):
            return kinds == _WHOLE_KINDS[type(type_)]
        case Items():
            return kinds == {ARRAY} and node.rest is not None
        case Entries():
            return kinds == {OBJECT} and not node.required and node.additional is not None
        case Members(by_name=by_name):
            return kinds == {OBJECT} and node.required <= by_name.keys() == node.properties.keys()
    return False


def properties(layout: Layout) -> Iterator[tuple[str, Layout]]:
    """Those of every depth; not the keys of maps, which no schema knows."""
    for one in layout.all():
        if isinstance(one.type, StructType):
            yield from one.inner.items()
