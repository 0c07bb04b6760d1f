"""Shapes to Avro text."""

import json
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from tallystick.formats.avro.names import STRICT
from tallystick.serde.derive.avro_defaults import AvroDefaults
from tallystick.serde.derive.faults import At
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

_LOGICAL = {
    "date": "int",
    "time-millis": "int",
    "time-micros": "long",
    "timestamp-millis": "long",
    "timestamp-micros": "long",
    "timestamp-nanos": "long",
    "local-timestamp-millis": "long",
    "local-timestamp-micros": "long",
    "local-timestamp-nanos": "long",
    "uuid": "string",
}
_TYPES: dict[Any, str] = {
    bool: "boolean",
    int: "long",
    float: "double",
    str: "string",
    bytes: "bytes",
    datetime: "timestamp-micros",
    date: "date",
    time: "time-micros",
    UUID: "uuid",
}


def avro_text(record: Record, namespace: str | None = None) -> str:
    """The Avro text of a class. Records and enums have the names of their classes, in the namespace if there is one."""
    whole = _Writing().type_of(record, At(record.type))
    if namespace is not None:
        whole = {"type": whole["type"], "name": whole["name"], "namespace": namespace, **whole}
    return json.dumps(whole, ensure_ascii=False)


class _Writing:
    def __init__(self) -> None:
        self._named: dict[str, object] = {}
        """What each name stands for: a class, or what a marker says of a fixed or enum."""

    def type_of(self, shape: Shape, at: At) -> Any:
        match shape:
            case Scalar():
                return self._scalar(shape, at)
            case Literals(type=kind):
                return _TYPES[kind]
            case Symbols(type=cls):
                return self._once(cls.__name__, cls, at, lambda: _enum(shape, at))
            case Items(item=item):
                return {"type": "array", "items": self.type_of(item, at)}
            case Entries(values=values):
                return {"type": "map", "values": self.type_of(values, at)}
            case Choice(branches=branches, is_optional=is_optional):
                return self._union([*([None] if is_optional else []), *branches], at)
            case Record(type=cls):
                return self._once(cls.__name__, cls, at, lambda: self._record(shape))

    def _once(self, name: str, meant: object, at: At, write: Callable[[], Any]) -> Any:
        """The definition where a name is used first, the name after that."""
        if name in self._named:
            if self._named[name] != meant:
                raise at.underivable(f"two types are called {name!r}", "give one of them another name")
            return name
        if not STRICT.is_simple_name(name):
            raise at.underivable(f"{name!r} is not a name in Avro", f"use {STRICT.told}")
        self._named[name] = meant
        return write()

    def _scalar(self, shape: Scalar, at: At) -> Any:
        whole = scalar_type(shape, at)
        if isinstance(whole, dict) and isinstance(name := whole.get("name"), str):
            return self._once(name, whole, at, lambda: whole)
        return whole

    def _record(self, record: Record) -> Any:
        doc = {} if record.doc is None else {"doc": record.doc}
        fields = [self._field(field, At(record.type, field.name)) for field in record.fields]
        return {"type": "record", "name": record.type.__name__, **doc, "fields": fields}

    def _field(self, field: Field, at: At) -> Any:
        if not STRICT.is_simple_name(field.key):
            raise at.underivable(f"{field.key!r} is not a name in Avro", f"use {STRICT.told}")
        default = None if field.is_optional and field.default is NO_DEFAULT else field.default
        type_: Any
        if isinstance(field.shape, Choice):
            type_ = self._union(_in_order(field.shape, default, at), at)
        else:
            type_ = self.type_of(field.shape, at)
        parts = {"name": field.key, "type": type_}
        if default is not NO_DEFAULT:
            parts["default"] = AvroDefaults(scalar_type, at).json_of(field.shape, default)
        return parts if field.doc is None else {**parts, "doc": field.doc}

    def _union(self, branches: list[Shape | None], at: At) -> list[Any]:
        types = ["null" if branch is None else self.type_of(branch, at) for branch in branches]
        seen: set[str] = set()
        for type_ in types:
            tag = type_ if isinstance(type_, str) else type_.get("name", type_["type"])
            if tag in seen:
                raise at.underivable(
                    f"two types of its union are {tag!r} in Avro", "leave one out, or put each into a dataclass"
                )
            seen.add(tag)
        return types


def _in_order(choice: Choice, default: object, at: At) -> list[Shape | None]:
    """The branch of the default comes first, as Avro asks of unions."""
    if default is None or default is NO_DEFAULT:
        return [*([None] if choice.is_optional else []), *choice.branches]
    first = next((branch for branch in choice.branches if takes(branch, default)), None)
    if first is None:
        raise at.underivable(f"its default {default!r:.60} is of no type that it has", "change the default or the type")
    rest = [branch for branch in choice.branches if branch is not first]
    return [first, *rest, *([None] if choice.is_optional else [])]


def _enum(symbols: Symbols, at: At) -> Any:
    names = [member.name for member in symbols.type]
    for name in names:
        if not STRICT.is_simple_name(name):
            raise at.underivable(
                f"the member {name!r} of {symbols.type.__name__} is not a name in Avro", f"use {STRICT.told}"
            )
    return {"type": "enum", "name": symbols.type.__name__, "symbols": names}


def scalar_type(shape: Scalar, at: At) -> Any:
    """The type of a value without parts: a name, or an object where there is more to say."""
    if shape.avro is not None:
        exact = shape.avro.type
        return dict(exact) if isinstance(exact, Mapping) else _named_type(exact)
    if shape.type is Decimal:
        if shape.precision is None:
            raise at.underivable(
                "Avro wants to know how many digits a Decimal has",
                "say it: Annotated[Decimal, Precision(digits, scale)]",
            )
        digits, scale = shape.precision.digits, shape.precision.scale
        return {"type": "bytes", "logicalType": "decimal", "precision": digits, "scale": scale}
    return _named_type(_TYPES[shape.type])


def _named_type(name: str) -> Any:
    return {"type": _LOGICAL[name], "logicalType": name} if name in _LOGICAL else name
