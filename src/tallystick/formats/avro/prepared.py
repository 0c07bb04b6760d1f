"""Types as `fastavro` wants them."""

from functools import lru_cache
from typing import Any

import fastavro

from tallystick.formats.avro import logical
from tallystick.formats.avro.defaults import Defaults
from tallystick.formats.avro.names import qualified
from tallystick.formats.avro.types import (
    Array,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    Named,
    Primitive,
    Record,
    Union,
    every_type,
)

WHOLE = "value"
"""The field that holds the value."""


@lru_cache(maxsize=4096)
def prepared(root: AvroType) -> Any:
    """A type as `fastavro` wants it, with defaults as Python values.

    It stands as the only field of a record, which takes no bytes: `fastavro` parses anything else anew for each value.
    """
    named: dict[str, Any] = {}
    whole = {"type": "record", "name": WHOLE, "fields": [{"name": WHOLE, "type": as_json(root, {})}]}
    parsed = fastavro.parse_schema(whole, named)
    defaults = Defaults()
    for type_ in every_type(root):
        if isinstance(type_, Record):
            for field, target in zip(type_.fields, named[qualified(type_.name)]["fields"], strict=True):
                if field.default is not None:
                    target["default"] = defaults.value_of(field)
        elif isinstance(type_, Enum):
            named[qualified(type_.name)].update(_symbols(type_))
    return parsed


def as_json(type_: AvroType, written: dict[str, AvroType]) -> Any:
    if isinstance(type_, Named):
        if type_.name in written:
            return qualified(type_.name)
        written[type_.name] = type_
    match type_:
        case Primitive(kind=kind):
            return kind if type_.logical is None else {"type": kind, **logical.attributes(type_)}
        case Array(items=items):
            return {"type": "array", "items": as_json(items, written)}
        case Map(values=values):
            return {"type": "map", "values": as_json(values, written)}
        case Union(branches=branches):
            return [as_json(branch, written) for branch in branches]
        case Fixed(size=size):
            return {"type": "fixed", **_heading(type_), "size": size, **logical.attributes(type_)}
        case Enum(symbols=symbols):
            # `fastavro` refuses symbols that Pulsar's brokers take; it gets the true ones once it has parsed these.
            return {"type": "enum", **_heading(type_), "symbols": [f"_{number}" for number in range(len(symbols))]}
        case Record(fields=fields):
            return {"type": "record", **_heading(type_), "fields": [_field(f, written) for f in fields]}


def _symbols(enum: Enum) -> dict[str, Any]:
    return {"symbols": list(enum.symbols), **({} if enum.default is None else {"default": enum.default})}


def _heading(type_: Named) -> dict[str, Any]:
    return {"name": qualified(type_.name), "aliases": [qualified(alias) for alias in type_.aliases]}


def _field(field: Field, written: dict[str, AvroType]) -> dict[str, Any]:
    return {"name": field.name, "type": as_json(field.type, written), "aliases": list(field.aliases)}
