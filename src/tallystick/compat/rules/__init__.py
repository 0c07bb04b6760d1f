"""The rules of each format.

The modules are loaded when a schema of their type is compared: a check of Avro does without the Protobuf libraries.
"""

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any

from tallystick.compat.options import Options
from tallystick.compat.rule import CATALOGUE, Rule
from tallystick.finding import Direction, Finding
from tallystick.model import schema_type as types
from tallystick.model.schema_type import SchemaType

Comparison = Callable[[Any, Any, Direction, Options], Iterable[Finding]]

MODULES = {
    types.AVRO: "avro",
    types.PULSAR_JSON: "avro",
    types.PULSAR_PROTOBUF: "avro",
    types.JSON_SCHEMA: "json_schema",
    types.PROTOBUF: "protobuf",
    types.PROTOBUF_NATIVE: "protobuf",
}
"""Where the rules of a type are, and under the same name in `compat.changes` its changes."""
_ACROSS_TYPES = ("key_value", "primitive", "type_change")


@cache
def comparison_of(schema_type: SchemaType) -> Comparison | None:
    """`compare(old, new, direction, options)` of the type's rules; None for a type without rules of its own."""
    if schema_type not in MODULES:
        return None
    compare: Comparison = _load(MODULES[schema_type]).compare
    return compare


def catalogue() -> dict[str, Rule]:
    """Every rule by its id."""
    for name in {*MODULES.values(), *_ACROSS_TYPES}:
        _load(name)
    return dict(sorted(CATALOGUE.items()))


def _load(name: str) -> Any:
    return import_module(f"tallystick.compat.rules.{name}")
