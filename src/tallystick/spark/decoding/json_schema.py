"""JSON Schema: payloads read and checked in Python workers, whole batches at a time.

Spark's `from_json` alone would not do: it takes a number for a text, an object for a text, a key that stands twice,
bytes after the end. A parser and a validator in native code are as fast, and agree with our codec on every payload.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import ArrayType, BooleanType, DataType, DoubleType, LongType, MapType, StringType, StructType

from tallystick.formats import catalogue
from tallystick.formats.json_schema import JsonSchema
from tallystick.formats.json_schema.codec import decode
from tallystick.formats.json_schema.node import Node
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.schema_type import JSON_SCHEMA
from tallystick.spark.decoding import json_layout, json_rows, taking
from tallystick.spark.decoding.decoder import ArrowDecoder
from tallystick.spark.decoding.json_columns import Columns
from tallystick.spark.types.json_schema import Entries, Items, Leaf, Members, Shape, Text, shape_of

Change = Callable[[Any], Any]

_MOST_STEPS = 20
"""Of schema objects at one level; with more, values may be nested less deep than the parser's limit."""


def decoder(
    writer: JsonSchema, target: DataType, *, references: References = NO_REFERENCES, enforce: bool = True
) -> ArrowDecoder:
    """Without `enforce` only the types are looked at, no other keyword.

    Raises `IncompatibleSchema` where what was written cannot be taken as the target. An integer beyond 64 bits does
    not fit, and neither does null as a whole.
    """
    taking.check(shape_of(writer).type, target)
    return ArrowDecoder(_Values(writer.definition, tuple(references.items()), target, enforce))


@dataclass(frozen=True, slots=True)
class _Values:
    """Travels to the workers as text; each of them parses it once."""

    definition: SchemaDefinition
    references: tuple[tuple[Any, SchemaDefinition], ...]
    target: DataType
    enforce: bool

    def __call__(self, payloads: pa.Array, keys: pa.Array) -> pa.Array:
        reading = _reading(self.definition, self.references, self.target, self.enforce)

        def by_row(some: pa.Array) -> pa.Array:
            return json_rows.read(some, reading.value_of, to_arrow_type(self.target))

        return by_row(payloads) if reading.columns is None else reading.columns.read(payloads, by_row)


@dataclass(frozen=True, slots=True)
class _Reading:
    """How payloads are read: as columns where that can be, and one by one."""

    columns: Columns | None
    value_of: Callable[[bytes], Any]


@lru_cache(maxsize=256)
def _reading(
    definition: SchemaDefinition, references: tuple[tuple[Any, SchemaDefinition], ...], target: DataType, enforce: bool
) -> _Reading:
    parsed = catalogue.parse(definition, dict(references), is_lenient=True)
    assert isinstance(parsed, JsonSchema)
    shape = shape_of(parsed)
    change = change_for(shape, target)
    schema = parsed if enforce else catalogue.parse(SchemaDefinition(JSON_SCHEMA, json.dumps(_types_of(shape))))
    assert isinstance(schema, JsonSchema)

    def exactly(payload: bytes) -> Any:
        value = decode(schema, payload)
        return value if change is None or value is None else change(value)

    if schema.steps > _MOST_STEPS:
        return _Reading(None, json_rows.only_exactly(exactly))
    is_fit = schema.validator.is_valid
    return _Reading(
        _columns(shape, parsed.root if enforce else None, target, is_fit),
        json_rows.reading(is_fit, exactly, change, is_last_word=True),
    )


def _columns(shape: Shape, node: Node | None, target: DataType, is_fit: Callable[[Any], bool]) -> Columns | None:
    """Without a node only the types count."""
    proven = json_layout.of_shape(shape) if node is None else json_layout.of_types(shape, node)
    if proven is not None:
        return Columns(proven, target, None)
    layout = json_layout.of_shape(shape)
    return None if layout is None else Columns(layout, target, is_fit)


def change_for(shape: Shape, target: DataType) -> Change | None:
    """What has to be done with a value before Arrow takes it as the target; None where nothing has."""
    match shape, target:
        case Text(), _:
            return _text
        case Items(item=item), ArrayType(elementType=element):
            inner = change_for(item, element)
            return None if inner is None else _each(inner)
        case Entries(value=value), MapType(valueType=element):
            return _entries(change_for(value, element))
        case Members(by_name=by_name), StructType(fields=fields):
            inside = {f.name: change_for(by_name[f.name], f.dataType) for f in fields if f.name in by_name}
            changes = {name: change for name, change in inside.items() if change is not None}
            return _members(changes) if changes or not shape.is_certain else None
    return None


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _each(change: Change) -> Change:
    return lambda items: [None if item is None else change(item) for item in items]


def _entries(change: Change | None) -> Change:
    if change is None:
        return lambda entries: list(entries.items())
    return lambda entries: [(key, None if value is None else change(value)) for key, value in entries.items()]


def _members(changes: Mapping[str, Change]) -> Change:
    pairs = tuple(changes.items())

    def changed(value: Any) -> Any:
        if value.__class__ is not dict:
            raise TypeError
        for name, change in pairs:
            inner = value.get(name)
            if inner is not None:
                value[name] = change(inner)
        return value

    return changed


_NAMES: dict[type[DataType], str] = {
    StringType: "string",
    BooleanType: "boolean",
    LongType: "integer",
    DoubleType: "number",
}


def _types_of(shape: Shape) -> Any:
    """A JSON Schema that looks at types alone."""
    match shape:
        case Leaf(type=type_):
            return {"type": [_NAMES[type(type_)], "null"]}
        case Items(item=item):
            return {"type": ["array", "null"], "items": _types_of(item)}
        case Entries(value=value):
            return {"type": ["object", "null"], "additionalProperties": _types_of(value)}
        case Members(by_name=by_name):
            properties = {name: _types_of(inner) for name, inner in by_name.items()}
            return {"type": ["object", "null"], "properties": properties}
    return True
