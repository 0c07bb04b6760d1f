"""Shapes to JSON Schema.

The member of an enum is its value there, and properties that a schema does not name are let pass, as in pydantic's.
"""

import json
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from tallystick.serde.derive.faults import At
from tallystick.serde.derive.json_values import JSON
from tallystick.serde.derive.outward import Outward
from tallystick.serde.derive.shapes import (
    NO_DEFAULT,
    Choice,
    Entries,
    Field,
    Items,
    Literals,
    Record,
    Scalar,
    Shape,
    Symbols,
    takes,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_TYPES: dict[Any, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    bytes: {"type": "string", "contentEncoding": "base64"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    time: {"type": "string", "format": "time"},
    Decimal: {"type": "string", "pattern": "^-?[0-9]+(\\.[0-9]+)?$"},
    UUID: {"type": "string", "format": "uuid"},
}
_PLAIN = (str, int, float, bool, type(None))


def json_schema_text(record: Record) -> str:
    """The JSON Schema of a class; classes within it stand under `$defs`, by their names."""
    return json.dumps(_Writing(record).whole(), ensure_ascii=False)


class _Writing:
    def __init__(self, root: Record) -> None:
        self._root = root
        self._defined: dict[str, Any] = {}
        self._classes = {root.type.__name__: root.type}
        self._outward = Outward(JSON)

    def whole(self) -> dict[str, Any]:
        root = self._record(self._root)
        defined = {"$defs": self._defined} if self._defined else {}
        return {"$schema": DIALECT, **root, **defined}

    def _schema(self, shape: Shape, at: At) -> dict[str, Any]:
        match shape:
            case Scalar(type=kind):
                return _scalar(kind, at)
            case Literals(values=values):
                return {"enum": list(values)}
            case Symbols():
                return _enum(shape, at)
            case Items(item=item, make=make):
                unique = {"uniqueItems": True} if make in (set, frozenset) else {}
                return {"type": "array", "items": self._schema(item, at), **unique}
            case Entries(values=values):
                return {"type": "object", "additionalProperties": self._schema(values, at)}
            case Choice(branches=branches, is_optional=is_optional):
                null = [{"type": "null"}] if is_optional else []
                return {"anyOf": [*(self._schema(branch, at) for branch in branches), *null]}
            case Record():
                return self._referred(shape, at)

    def _referred(self, record: Record, at: At) -> dict[str, Any]:
        if record is self._root:
            return {"$ref": "#"}
        name = record.type.__name__
        if self._classes.setdefault(name, record.type) is not record.type:
            raise at.underivable(f"two classes are called {name!r}", "give one of them another name")
        if name not in self._defined:
            self._defined[name] = {}  # it may hold itself
            self._defined[name] = self._record(record)
        return {"$ref": f"#/$defs/{name}"}

    def _record(self, record: Record) -> dict[str, Any]:
        doc = {} if record.doc is None else {"description": record.doc}
        properties = {field.key: self._property(field, At(record.type, field.name)) for field in record.fields}
        required = [field.key for field in record.fields if field.is_required]
        asked = {"required": required} if required else {}
        return {"title": record.type.__name__, **doc, "type": "object", "properties": properties, **asked}

    def _property(self, field: Field, at: At) -> dict[str, Any]:
        schema = self._schema(field.shape, at)
        if field.default is not NO_DEFAULT:
            schema = {**schema, "default": self._default(field.shape, field.default, at)}
        elif field.is_optional:
            schema = {**schema, "default": None}
        return schema if field.doc is None else {**schema, "description": field.doc}

    def _default(self, shape: Shape, default: Any, at: At) -> Any:
        if not takes(shape, default):
            raise at.underivable(f"its default {default!r:.60} is not of its type", "change the default or the type")
        convert = self._outward.converter(shape)
        plain = default if convert is None else convert(default)
        try:
            json.dumps(plain, allow_nan=False)
        except ValueError as e:
            raise at.underivable(f"its default {default!r:.60} is no JSON: {e}", "leave the default out") from e
        # A set has no order, and the text must not change from one start of a program to the next.
        return sorted(plain, key=repr) if isinstance(default, set | frozenset) else plain


def _scalar(kind: Any, at: At) -> dict[str, Any]:
    if kind not in _TYPES:
        raise at.underivable(
            f"JSON Schema has no type for {getattr(kind, '__name__', kind)}", "use a type of JSON, or another schema"
        )
    return dict(_TYPES[kind])


def _enum(symbols: Symbols, at: At) -> dict[str, Any]:
    values = [member.value for member in symbols.type]
    if not all(isinstance(value, _PLAIN) for value in values):
        raise at.underivable(
            f"members of {symbols.type.__name__} have values that are not JSON", "give them texts or numbers"
        )
    return {"title": symbols.type.__name__, "enum": values}
