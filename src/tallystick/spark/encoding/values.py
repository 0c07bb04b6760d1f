"""Values of Spark's types → values as our codecs take them: the way back of `decoding`."""

import datetime as dt
import json
import uuid
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from tallystick.formats.avro.types import Array, AvroSchema, AvroType, Fixed, Map, Primitive, Record, Union
from tallystick.formats.json_schema import JsonSchema
from tallystick.formats.primitive import PrimitiveSchema
from tallystick.formats.protobuf import ProtobufSchema
from tallystick.formats.protobuf.schema import Field
from tallystick.formats.protobuf.types import Types
from tallystick.model import schema_type as types
from tallystick.model.temporal import LocalTime
from tallystick.spark.types.json_schema import Entries, Items, Members, Shape, Text, shape_of

Change = Callable[[Any], Any]


class Misfit(Exception):
    """A value that cannot be what the schema asks for."""


def python_values(array: pa.Array) -> list[Any]:
    """Structs as dicts, maps as lists of pairs, times as Python's with their zone."""
    found: list[Any] = array.to_pylist()
    return found


def for_json_schema(schema: JsonSchema) -> Change:
    shape, is_valid = shape_of(schema), schema.validator.is_valid

    def changed(value: Any) -> Any:
        # Where null is as good as nothing, nothing is what most readers expect; only the schema can tell.
        bare = _json(shape, value, keeps_null=False)
        return bare if is_valid(bare) else _json(shape, value, keeps_null=True)

    return changed


def _json(shape: Shape, value: Any, *, keeps_null: bool) -> Any:
    if value is None:
        return None
    match shape:
        case Text():
            return _loaded(value)
        case Items(item=item):
            return [_json(item, inner, keeps_null=keeps_null) for inner in value]
        case Entries(value=inner):
            return {key: _json(inner, item, keeps_null=keeps_null) for key, item in value}
        case Members(by_name=by_name):
            found = {
                name: _json(by_name.get(name, _ANY), inner, keeps_null=keeps_null) for name, inner in value.items()
            }
            return {name: inner for name, inner in found.items() if keeps_null or inner is not None}
    return value


_ANY = Text()


def _loaded(text: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError) as e:
        raise Misfit from e


def for_avro(schema: AvroSchema) -> Change:
    return lambda value: _avro(schema.root, value)


def _avro(type_: AvroType, value: Any) -> Any:
    if value is None:
        return None
    match type_:
        case Union(branches=branches):
            real = [branch for branch in branches if branch.kind != "null"]
            return _avro(real[0], value) if len(real) == 1 else value
        case Record(by_name=by_name) if isinstance(value, dict):
            return {
                name: _avro(by_name[name].type, inner) if name in by_name else inner
                for name, inner in value.items()
                if inner is not None or name not in by_name or by_name[name].default is None
            }
        case Array(items=items) if isinstance(value, list):
            return [_avro(items, item) for item in value]
        case Map(values=values) if isinstance(value, list):
            return {key: _avro(values, item) for key, item in value}
        case Primitive(logical=logical) | Fixed(logical=logical) if logical is not None:
            return _avro_logical(f"{type_.kind}-{logical.name}", value)
    return value


def _avro_logical(name: str, value: Any) -> Any:
    match name, value:
        case "int-time-millis", int():
            return _time(value * 1000)
        case "long-time-micros", int():
            return _time(value)
        case "string-uuid", str():
            try:
                return uuid.UUID(value)
            except ValueError as e:
                raise Misfit from e
    return value


def _time(micros: int) -> dt.time:
    if not 0 <= micros < 86_400_000_000:
        raise Misfit
    return LocalTime(micros * 1000).as_time()


def for_protobuf(schema: ProtobufSchema) -> Change:
    assert schema.root is not None
    root = schema.root
    return lambda value: _message(schema.types, root, value)


def _message(types_: Types, name: str, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    fields = types_.message(name).by_name
    return {
        own: _field(types_, fields[own], inner) if own in fields else inner
        for own, inner in value.items()
        if inner is not None
    }


def _field(types_: Types, field: Field, value: Any) -> Any:
    if field.entry is not None:
        return {key: _single(types_, field.entry[1], item) for key, item in value}
    if field.is_repeated:
        return [_single(types_, field, item) for item in value]
    return _single(types_, field, value)


def _single(types_: Types, field: Field, value: Any) -> Any:
    if field.is_message and field.type_full_name is not None:
        return _message(types_, field.type_full_name, value)
    if field.kind in ("uint64", "fixed64"):
        return int(value)
    if field.kind == "enum" and isinstance(value, str) and value.removeprefix("-").isdecimal():
        return int(value)
    return value


def for_primitive(schema: PrimitiveSchema) -> Change:
    kind = schema.definition.type
    if kind == types.TIME:
        return lambda millis: _time(millis * 1000)
    if kind == types.LOCAL_TIME:
        return LocalTime
    return lambda value: value
