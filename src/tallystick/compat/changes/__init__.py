"""What changed between two schemas of one format, whether it breaks anything or not. Loaded as the rules are."""

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any

from tallystick.compat.change import Change
from tallystick.model import schema_type as types
from tallystick.model.schema_type import SchemaType

_MODULES = {
    types.AVRO: "avro",
    types.PULSAR_JSON: "avro",
    types.PULSAR_PROTOBUF: "avro",
    types.JSON_SCHEMA: "json_schema",
    types.PROTOBUF: "protobuf",
    types.PROTOBUF_NATIVE: "protobuf",
}


@cache
def changes_of(schema_type: SchemaType) -> Callable[[Any, Any], Iterable[Change]] | None:
    """`changes(old, new)` of the type; None for a type whose definitions have no parts."""
    if schema_type not in _MODULES:
        return None
    module = import_module(f"tallystick.compat.changes.{_MODULES[schema_type]}")
    changes: Callable[[Any, Any], Iterable[Change]] = module.changes
    return changes
