"""Defaults of Python as the JSON that an Avro text has for them."""

import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

from fastavro.write import LOGICAL_WRITERS

from tallystick.serde.derive.faults import At
from tallystick.serde.derive.shapes import (
    Choice,
    Entries,
    Items,
    Literals,
    Record,
    Scalar,
    Shape,
    Symbols,
    takes,
)


class AvroDefaults:
    def __init__(self, scalar_type: Callable[[Scalar, At], Any], at: At) -> None:
        self._scalar_type = scalar_type
        self._at = at

    def json_of(self, shape: Shape, value: Any) -> Any:
        if not takes(shape, value):
            raise self._at.underivable(
                f"its default {value!r:.60} is not of its type", "change the default or the type"
            )
        match shape:
            case Scalar():
                return self._scalar(shape, value)
            case Literals():
                return value
            case Symbols():
                return value.name
            case Items(item=item):
                return [self.json_of(item, part) for part in in_order(value)]
            case Entries(values=values):
                return {key: self.json_of(values, part) for key, part in value.items()}
            case Choice(branches=branches):
                if value is None:
                    return None
                return self.json_of(next(branch for branch in branches if takes(branch, value)), value)
            case Record(fields=fields):
                return {field.key: self.json_of(field.shape, getattr(value, field.name)) for field in fields}

    def _scalar(self, shape: Scalar, value: Any) -> Any:
        plain = self._plain(self._scalar_type(shape, self._at), value)
        if isinstance(plain, bytes):
            return plain.decode("latin-1")  # Avro's own way to write bytes in JSON
        if isinstance(plain, float) and not math.isfinite(plain):
            raise self._at.underivable(f"its default {plain} is no number in JSON", "leave the default out")
        return plain

    def _plain(self, type_: Any, value: Any) -> Any:
        logical = type_.get("logicalType") if isinstance(type_, dict) else None
        if logical is None:
            return value
        if isinstance(value, datetime) and value.tzinfo is None and logical.startswith("timestamp"):
            raise self._at.underivable("its default has no time zone", "give it one, such as tzinfo=datetime.UTC")
        write = LOGICAL_WRITERS.get(f"{type_['type']}-{logical}")
        try:
            return value if write is None else write(value, type_)
        except ValueError as e:
            raise self._at.underivable(f"its default does not fit: {e}", "change the default or the type") from e


def in_order(items: Any) -> list[Any]:
    """A set has no order, and the text of a schema must not change from one start of a program to the next."""
    return sorted(items, key=repr) if isinstance(items, set | frozenset) else list(items)
