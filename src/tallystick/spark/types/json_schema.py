"""JSON Schema → types of Spark.

An object with properties is a struct, one with `additionalProperties` alone a map, an integer a bigint, any other
number a double. What a column cannot be (several types, any type at all, an object that holds itself) is a text: the
JSON itself, as it stood there but for its white space. `format` changes nothing, as it refuses nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from tallystick.formats.json_schema import JsonSchema
from tallystick.formats.json_schema.kinds import ARRAY, BOOLEAN, INTEGERS, NULL, NUMBERS, OBJECT, STRING
from tallystick.formats.json_schema.node import Node


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value that JSON and Spark both have."""

    type: DataType


@dataclass(frozen=True, slots=True)
class Text:
    """Anything, as JSON text."""

    type: DataType = field(default_factory=StringType)


@dataclass(frozen=True, slots=True)
class Items:
    item: "Shape"

    @property
    def type(self) -> DataType:
        return ArrayType(self.item.type)


@dataclass(frozen=True, slots=True)
class Entries:
    value: "Shape"

    @property
    def type(self) -> DataType:
        return MapType(StringType(), self.value.type)


@dataclass(frozen=True, slots=True)
class Members:
    by_name: Mapping[str, "Shape"]
    is_certain: bool = True
    """Whether the schema allows nothing but objects here; other values do not fit the struct."""

    @property
    def type(self) -> DataType:
        return StructType([StructField(name, shape.type) for name, shape in self.by_name.items()])


Shape = Leaf | Text | Items | Entries | Members


def type_of(schema: JsonSchema) -> DataType:
    return shape_of(schema).type


def shape_of(schema: JsonSchema) -> Shape:
    return _shape(schema.root, ())


def _shape(node: Node, around: tuple[Node, ...]) -> Shape:
    together = list(_together(node))
    if any(one in around for one in together) or any(one.dynamic for one in together):
        return Text()
    kinds = node.outer_kinds - {NULL}
    inside = (*around, *together)
    properties = [one for one in together if one.properties]
    if kinds == {OBJECT} or (properties and OBJECT in kinds):
        return _object(together, inside, kinds == {OBJECT})
    if kinds == {ARRAY}:
        return _array(together, inside)
    found = next((leaf for fitting, leaf in _LEAVES if kinds and kinds <= fitting), None)
    return Text() if found is None else Leaf(found())


_LEAVES: tuple[tuple[frozenset[str], Callable[[], DataType]], ...] = (
    (frozenset({STRING}), StringType),
    (frozenset({BOOLEAN}), BooleanType),
    (INTEGERS, LongType),
    (NUMBERS, DoubleType),
)


def _together(node: Node) -> Iterator[Node]:
    """The nodes that all hold for a value that is not null: the node, what it includes, and its one real choice."""
    yield node
    for inner in (*node.all_of, *((node.ref,) if node.ref is not None else ())):
        yield from _together(inner)
    for branches in (node.any_of, node.one_of):
        real = [branch for branch in branches if branch.outer_kinds - {NULL}]
        if len(real) == 1:
            yield from _together(real[0])


def _object(together: list[Node], inside: tuple[Node, ...], is_certain: bool) -> Shape:
    if any(_has_choice(one) for one in together) and not any(one.properties for one in together):
        return Text()
    by_name: dict[str, list[Node]] = {}
    for one in together:
        for name, inner in one.properties.items():
            by_name.setdefault(name, []).append(inner)
    if by_name:
        members = {name: _same([_shape(inner, inside) for inner in nodes]) for name, nodes in by_name.items()}
        return Members(members, is_certain)
    others = [one.additional.node for one in together if one.additional is not None]
    others += [inner for one in together for inner in one.patterns.values()]
    if not others or any(inner.raw is False for inner in others):
        return Text()
    return Entries(_same([_shape(inner, inside) for inner in others]))


def _array(together: list[Node], inside: tuple[Node, ...]) -> Shape:
    if any(one.prefix for one in together):
        return Text()
    items = [one.rest for one in together if one.rest is not None]
    return Items(_same([_shape(inner, inside) for inner in items]) if items else Text())


def _has_choice(node: Node) -> bool:
    return any(len([b for b in branches if b.outer_kinds - {NULL}]) > 1 for branches in (node.any_of, node.one_of))


def _same(shapes: list[Shape]) -> Shape:
    return shapes[0] if all(shape == shapes[0] for shape in shapes) else Text()
