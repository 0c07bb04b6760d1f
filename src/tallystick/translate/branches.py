"""Which branch of a union a value is of. The codecs give it bare, so its type has to tell."""

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from tallystick.model.schema_type import AVRO, SchemaType
from tallystick.translate.from_json_schema import group_of
from tallystick.translate.leaves import Misfit, as_float
from tallystick.translate.shape import (
    FLOAT_MAX,
    INTEGERS,
    Choice,
    Entries,
    Items,
    Kind,
    Nullable,
    Record,
    Scalar,
    Shape,
    Symbols,
)
from tallystick.translate.to_avro import branch_name

_TYPES: dict[Kind, tuple[type, ...]] = {
    Kind.BOOLEAN: (bool,),
    Kind.DOUBLE: (float,),
    Kind.STRING: (str,),
    Kind.DECIMAL: (Decimal,),
    Kind.DATE: (dt.date,),
    Kind.TIME: (dt.time,),
    Kind.TIMESTAMP: (dt.datetime,),
    Kind.LOCAL_TIMESTAMP: (dt.datetime,),
}
_JSON_GROUPS: dict[type, str] = {bool: "boolean", int: "number", float: "number", str: "text", list: "list"}


def branch_of(choice: Choice, from_type: SchemaType) -> Callable[[Any], tuple[int, Any]]:
    """A function that answers with the number of the branch and the bare value."""
    return _of_avro(choice) if from_type == AVRO else _of_json(choice)


def _of_json(choice: Choice) -> Callable[[Any], tuple[int, Any]]:
    numbers = {group_of(branch): number for number, branch in enumerate(choice.branches)}

    def chosen(value: Any) -> tuple[int, Any]:
        group = _JSON_GROUPS.get(type(value), "object")
        if group not in numbers:
            raise Misfit(f"{value!r:.60} is of no branch of the union")
        return numbers[group], value

    return chosen


def _of_avro(choice: Choice) -> Callable[[Any], tuple[int, Any]]:
    """The first branch that a value fits, or the one that it names."""
    names = {branch_name(branch): number for number, branch in enumerate(choice.branches)}

    def chosen(value: Any) -> tuple[int, Any]:
        if isinstance(value, tuple) and len(value) == 2 and value[0] in names:
            return names[value[0]], value[1]
        for number, branch in enumerate(choice.branches):
            if fits(branch, value):
                return number, value
        raise Misfit(f"{value!r:.60} is of no branch of the union")

    return chosen


def fits(shape: Shape, value: Any) -> bool:
    """Whether a value is one that Avro's codec gives for a shape."""
    match shape:
        case Scalar():
            return _is_scalar(shape, value)
        case Symbols(symbols=symbols):
            return isinstance(value, str) and value in symbols
        case Items(item=item):
            return isinstance(value, list) and all(fits(item, inner) for inner in value)
        case Entries(value=inner):
            return isinstance(value, Mapping) and all(fits(inner, each) for each in value.values())
        case Nullable(inner=inner):
            return value is None or fits(inner, value)
        case Choice(branches=branches):
            return any(fits(branch, value) for branch in branches)
        case Record(fields=fields):
            return (
                isinstance(value, Mapping)
                and value.keys() == {field.name for field in fields}
                and all(
                    fits(field.shape, value[field.name]) or (field.is_optional and value[field.name] is None)
                    for field in fields
                )
            )


def _is_scalar(scalar: Scalar, value: Any) -> bool:
    kind = scalar.kind
    if kind is Kind.NULL:
        return value is None
    if kind in INTEGERS:
        return type(value) is int and value in INTEGERS[kind]
    if kind is Kind.BYTES or (kind is Kind.UUID and scalar.size is not None):
        return isinstance(value, bytes | bytearray) and scalar.size in (None, len(value))
    if kind is Kind.UUID:
        return isinstance(value, UUID)
    if kind is Kind.FLOAT:
        return type(value) is float and (value - value != 0 or (abs(value) <= FLOAT_MAX and as_float(value) == value))
    if scalar.digits == 9:
        return type(value) is int
    # A datetime is a date for Python, and a bool an int.
    return isinstance(value, _TYPES[kind]) and (kind is not Kind.DATE or not isinstance(value, dt.datetime))
