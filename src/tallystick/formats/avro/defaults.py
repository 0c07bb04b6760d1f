"""Default values: JSON in the schema, of the type that the field has."""

import json
from collections.abc import Iterable
from typing import Any

from tallystick.formats.avro import logical
from tallystick.formats.avro.types import Array, AvroType, Enum, Field, Fixed, Map, Primitive, Record, Union, describe

_INT = range(-(2**31), 2**31)
_LONG = range(-(2**63), 2**63)

MAX_SIZE = 100_000
"""How many values one default may stand for, with all that is filled in from the defaults of its records."""


class Defaults:
    """What defaults stand for.

    The default of a union may be of any branch (Avro 1.12; earlier versions wanted the first). Each question is
    answered once: a small text can fill in the same records a billion times, or without end.
    """

    def __init__(self) -> None:
        self._sizes: dict[tuple[int, int], int | str] = {}
        self._filled: dict[Field, Any] = {}
        self._asked: list[object] = []  # keeps the ids of the questions in use

    def problem(self, type_: AvroType, default: Any) -> str | None:
        """Why a JSON value is no default of a type; None when it is one."""
        size = self._size(type_, default)
        if isinstance(size, str):
            return size
        return f"it stands for more than {MAX_SIZE} values" if size > MAX_SIZE else None

    def value(self, type_: AvroType, default: Any) -> Any:
        """The value that a default stands for, as readers give it: records have their own defaults filled in."""
        match type_:
            case Union(branches=branches):
                return self.value(next(b for b in branches if self.problem(b, default) is None), default)
            case Array(items=items):
                return [self.value(items, item) for item in default]
            case Map(values=values):
                return {key: self.value(values, value) for key, value in default.items()}
            case Record(fields=fields):
                return {
                    f.name: self.value(f.type, default[f.name] if f.name in default else self._of(f)) for f in fields
                }
            case Fixed() | Primitive(kind="bytes"):
                return logical.converted(type_, default.encode("latin-1"))
            case Primitive(kind="float" | "double"):
                return float(default)
            case Primitive():
                return logical.converted(type_, default)
        return default

    def value_of(self, field: Field) -> Any:
        return self.value(field.type, self._of(field))

    def _of(self, field: Field) -> Any:
        if field not in self._filled:
            self._filled[field] = json.loads(field.default or "null")
        return self._filled[field]

    def _size(self, type_: AvroType, default: Any) -> int | str:
        """The number of values that a default stands for, or why it is none."""
        if isinstance(type_, Primitive | Enum | Fixed):
            return 1 if _fits(type_, default) else _misfit(type_, default)
        question = (id(type_), id(default))
        if question not in self._sizes:
            self._asked.append((type_, default))
            self._sizes[question] = "it fills itself in without end"
            self._sizes[question] = self._size_of_parts(type_, default)
        return self._sizes[question]

    def _size_of_parts(self, type_: AvroType, default: Any) -> int | str:
        match type_:
            case Union(branches=branches):
                sizes = (self._size(branch, default) for branch in branches)
                return next((size for size in sizes if isinstance(size, int)), _misfit(type_, default))
            case Array(items=items) if isinstance(default, list):
                return _sum(self._size(items, item) for item in default)
            case Map(values=values) if isinstance(default, dict):
                return _sum(self._size(values, value) for value in default.values())
            case Record(fields=fields) if isinstance(default, dict):
                return _sum(self._field_size(type_, field, default) for field in fields)
        return _misfit(type_, default)

    def _field_size(self, record: Record, field: Field, default: dict[str, Any]) -> int | str:
        if field.name in default:
            return self._size(field.type, default[field.name])
        if field.default is None:
            return f"field {field.name!r} of record {record.name!r} is missing in it"
        return self._size(field.type, self._of(field))


def python_value(type_: AvroType, default: Any) -> Any:
    """The value that a default stands for, as `Defaults.value`."""
    return Defaults().value(type_, default)


def _sum(sizes: Iterable[int | str]) -> int | str:
    total = 1
    for size in sizes:
        if isinstance(size, str):
            return size
        total += size
    return total


def _misfit(type_: AvroType, default: Any) -> str:
    return f"{shown(default)} is not of type {describe(type_)}"


def shown(value: object) -> str:
    """A JSON value for people, cut short. Half a character stays an escape: no output could take it."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= 40 else text[:37] + "…"


def _fits(type_: Primitive | Enum | Fixed, default: Any) -> bool:
    match type_:
        case Enum(symbols=symbols):
            return isinstance(default, str) and default in symbols
        case Fixed(size=size):
            return _is_byte_text(default) and len(default) == size
    match type_.kind:
        case "null":
            return default is None
        case "boolean":
            return isinstance(default, bool)
        case "int" | "long":
            return type(default) is int and default in (_INT if type_.kind == "int" else _LONG)
        case "float" | "double":
            return type(default) is float or (type(default) is int and abs(default) < 2**1023)
        case "string":
            return isinstance(default, str) and not any("\ud800" <= character <= "\udfff" for character in default)
    return _is_byte_text(default)


def _is_byte_text(default: Any) -> bool:
    """Bytes are written as text of the characters U+0000 to U+00FF."""
    return isinstance(default, str) and all(ord(character) < 256 for character in default)
