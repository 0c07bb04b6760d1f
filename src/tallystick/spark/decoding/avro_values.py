"""Values as our Avro codec gives them → values that Arrow takes as Spark's types of the same schema."""

import datetime as dt
import uuid
from collections.abc import Callable
from typing import Any

from tallystick.errors import Unsupported
from tallystick.formats.avro.types import Array, AvroType, Fixed, Map, Primitive, Record, Union, describe
from tallystick.model.temporal import LocalTime

Change = Callable[[Any], Any]


def change_for(type_: AvroType) -> Change | None:
    """None where Arrow takes a value as it is. Raises `Unsupported` for unions that are several columns in Spark."""
    match type_:
        case Record(fields=fields):
            changes = {f.name: change for f in fields if (change := change_for(f.type)) is not None}
            return _members(changes) if changes else None
        case Array(items=items):
            change = change_for(items)
            return None if change is None else lambda value: [_of(change, item) for item in value]
        case Map(values=values):
            inner = change_for(values) or (lambda value: value)
            return lambda value: [(key, _of(inner, item)) for key, item in value.items()]
        case Union():
            return change_for(only_branch(type_))
        case Primitive() | Fixed() if type_.logical is not None:
            return _LOGICAL.get(f"{type_.kind}-{type_.logical.name}")
    return None


def only_branch(union: Union) -> AvroType:
    """The branch that is not null, or the wider one of two numbers, as Spark takes them."""
    real = [branch for branch in union.branches if branch.kind != "null"]
    kinds = {branch.kind for branch in real}
    if len(real) > 1 and kinds in ({"int", "long"}, {"float", "double"}):
        return next(branch for branch in real if branch.kind in ("long", "double"))
    if len(real) != 1:
        raise Unsupported(f"a {describe(union)} has no type of its own in Spark; give it one branch beside null")
    return real[0]


def _members(changes: dict[str, Change]) -> Change:
    pairs = tuple(changes.items())

    def changed(value: dict[str, Any]) -> dict[str, Any]:
        return {**value, **{name: _of(change, value[name]) for name, change in pairs if name in value}}

    return changed


def _of(change: Change, value: Any) -> Any:
    return None if value is None else change(value)


def _micros(time: dt.time) -> int:
    return LocalTime.of(time).nano_of_day // 1000


# Spark leaves times of day as the numbers that they are, and UUIDs as texts.
_LOGICAL: dict[str, Change] = {
    "int-time-millis": lambda time: _micros(time) // 1000,
    "long-time-micros": _micros,
    "string-uuid": str,
    "fixed-uuid": lambda value: value.bytes if isinstance(value, uuid.UUID) else value,
}
