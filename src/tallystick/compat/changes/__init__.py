"""What changed between two schemas of one format, whether it breaks anything or not. Loaded as the rules are."""

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any

from tallystick.compat.change import Change
from tallystick.compat.rules import MODULES
from tallystick.model.schema_type import SchemaType


@cache
def changes_of(schema_type: SchemaType) -> Callable[[Any, Any], Iterable[Change]] | None:
    """`changes(old, new)` of the type; None for a type whose definitions have no parts."""
    if schema_type not in MODULES:
        return None
    module = import_module(f"tallystick.compat.changes.{MODULES[schema_type]}")
    changes: Callable[[Any, Any], Iterable[Change]] = module.changes
    return changes
