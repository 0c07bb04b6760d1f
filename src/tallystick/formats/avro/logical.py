"""Logical types as `fastavro` reads them: the Python value of the number, text or bytes underneath."""

from typing import Any

from fastavro.read import LOGICAL_READERS

from tallystick.formats.avro.types import Fixed, Primitive

_NO_ROUNDING = 10**17
"""The precision that `fastavro` is told, as it rounds what is longer. Values are checked before they are written."""


def attributes(type_: Primitive | Fixed) -> dict[str, Any]:
    """What a type's JSON says of its logical type."""
    if type_.logical is None:
        return {}
    named = {"logicalType": type_.logical.name}
    if type_.logical.precision is None:
        return named
    precision = type_.logical.precision if isinstance(type_, Fixed) else _NO_ROUNDING
    return {**named, "precision": precision, "scale": type_.logical.scale}


def converted(type_: Primitive | Fixed, plain: Any) -> Any:
    """The value that stands for a plain one; the plain one itself where there is no such value."""
    convert = None if type_.logical is None else LOGICAL_READERS.get(f"{type_.kind}-{type_.logical.name}")
    if convert is None:
        return plain
    try:
        return convert(plain, attributes(type_), None)
    except (ValueError, ArithmeticError):
        return plain
