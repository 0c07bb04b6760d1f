"""A value that fits its Avro type, as plain JSON."""

import base64
import json
import math
from typing import Any

from fastavro.write import LOGICAL_WRITERS

from tallystick.formats.avro import defaults
from tallystick.formats.avro.types import Array, AvroType, Enum, Fixed, Map, Named, Primitive, Record, Union
from tallystick.formats.avro.validate import check_of
from tallystick.formats.pulsar_json.depth import MAX_VALUE_DEPTH, TooDeep


def json_of(type_: AvroType, value: Any, depth: int = 0) -> Any:
    """Raises `TooDeep` for a value nested deeper than `MAX_VALUE_DEPTH`."""
    if depth > MAX_VALUE_DEPTH:
        raise TooDeep
    match type_:
        case Record(fields=fields):
            return {
                f.name: json_of(f.type, value[f.name], depth + 1) if f.name in value else _default(f.type, f.default)
                for f in fields
            }
        case Array(items=items):
            return [json_of(items, item, depth + 1) for item in value]
        case Map(values=values):
            return {key: json_of(values, item, depth + 1) for key, item in value.items()}
        case Union(branches=branches):
            branch, inner = _chosen(branches, value)
            return json_of(branch, inner, depth)
        case Enum():
            return value
        case Primitive() | Fixed():
            return _leaf(type_, value)


def _default(type_: AvroType, default: str | None) -> Any:
    return json_of(type_, defaults.python_value(type_, json.loads(default or "null")))


def _chosen(branches: tuple[AvroType, ...], value: Any) -> tuple[AvroType, Any]:
    fitting = next((branch for branch in branches if check_of(branch)(value)), None)
    if fitting is not None:
        return fitting, value
    name, inner = value
    return next(b for b in branches if (b.name if isinstance(b, Named) else b.kind) == name), inner


def _leaf(type_: Primitive | Fixed, value: Any) -> Any:
    plain = _plain(type_, value)
    if isinstance(plain, bytes | bytearray):
        return base64.b64encode(plain).decode()
    if isinstance(plain, float) and not math.isfinite(plain):
        return "NaN" if math.isnan(plain) else "Infinity" if plain > 0 else "-Infinity"
    return plain


def _plain(type_: Primitive | Fixed, value: Any) -> Any:
    """The value underneath a logical type."""
    logical = type_.logical
    if logical is None:
        return value
    if logical.name == "uuid" and isinstance(type_, Fixed):
        return value if isinstance(value, bytes | bytearray) else value.bytes
    write = LOGICAL_WRITERS.get(f"{type_.kind}-{logical.name}")
    if write is None:
        return value
    facts = {"precision": logical.precision, "scale": logical.scale}
    return write(value, {**facts, "size": type_.size, "name": type_.name} if isinstance(type_, Fixed) else facts)
