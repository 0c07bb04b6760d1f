"""Shapes → Avro."""

import json
from dataclasses import replace
from typing import Any

from tallystick.formats.avro.names import PRIMITIVES
from tallystick.formats.json_source import Path
from tallystick.model.schema_type import PROTOBUF, SchemaType
from tallystick.translate import rule as rules
from tallystick.translate.fitting import Fitting
from tallystick.translate.from_avro import LOGICAL
from tallystick.translate.losses import Losses
from tallystick.translate.names import free, unqualified
from tallystick.translate.shape import (
    NO_DEFAULT,
    Choice,
    Entries,
    Field,
    Items,
    Kind,
    Nullable,
    Record,
    Scalar,
    Shape,
    Symbols,
    type_names,
)

_PLAIN = {
    Kind.NULL: "null",
    Kind.BOOLEAN: "boolean",
    Kind.INT32: "int",
    Kind.INT64: "long",
    Kind.FLOAT: "float",
    Kind.DOUBLE: "double",
    Kind.STRING: "string",
    Kind.BYTES: "bytes",
}
_LOGICAL = {scalar: name for name, scalar in LOGICAL.items()}
_UNDERLYING = {"date": "int", "time-millis": "int", "uuid": "string"}


class ForAvro(Fitting):
    def __init__(self, losses: Losses, source: SchemaType) -> None:
        super().__init__(losses)
        self._is_protobuf = source == PROTOBUF
        self._is_mixed = False
        self._names: dict[str, str] = {}

    def root(self, shape: Shape) -> Shape:
        names = type_names(shape)
        # A name without namespace cannot be written inside a namespace, so either all have one or none.
        self._is_mixed = any("." in name for name in names) and any("." not in name for name in names)
        return super().root(shape)

    def scalar(self, scalar: Scalar, path: Path) -> Scalar:
        match scalar.kind:
            case Kind.UINT32:
                return self.loss(rules.UINT32_TO_INT64, path, scalar, Scalar(Kind.INT64))
            case Kind.UINT64:
                return self.loss(rules.UINT64_TO_DECIMAL, path, scalar, Scalar(Kind.DECIMAL, precision=20, scale=0))
            case Kind.DECIMAL if scalar.precision is None:
                return self.loss(rules.DECIMAL_TO_STRING, path, scalar, Scalar(Kind.STRING))
            case Kind.TIMESTAMP if scalar.digits == 9 and self._is_protobuf:
                return self.loss(rules.TIME_TO_MICROS, path, scalar, Scalar(Kind.TIMESTAMP, 6))
            case Kind.TIME if scalar.digits == 9:
                return self.loss(rules.TIME_TO_MICROS, path, scalar, Scalar(Kind.TIME, 6))
        return scalar if scalar.name is None else replace(scalar, name=self._name(scalar.name, path))

    def symbols(self, symbols: Symbols, path: Path) -> Shape:
        return self.as_text(symbols, path) or replace(symbols, name=self._name(symbols.name, path))

    def record_name(self, record: Record, path: Path) -> str:
        return self._name(record.name, path)

    def _name(self, name: str, path: Path) -> str:
        if name not in self._names:
            bare = unqualified(name) if self._is_mixed else name
            found = self._names[name] = free(f"{bare}_" if bare in PRIMITIVES else bare, self._names.values())
            if found != name and (self._is_protobuf or found != bare):
                self.losses.add(rules.NAME_CHANGED, path, name, found)
        return self._names[name]

    def choice(self, choice: Choice, path: Path) -> Shape:
        fitted = Choice(tuple(self.shape(branch, path) for branch in choice.branches))
        names = [branch_name(branch) for branch in fitted.branches]
        if len(set(names)) < len(names):
            self.losses.add(rules.UNION_AMBIGUOUS, path, f"a union with branches that are {', '.join(names)} in Avro")
        return fitted

    def field_names(self, record: Record, made: Record, path: Path) -> list[str]:
        return self.names(record, path, set())

    def field(self, field: Field, name: str, path: Path) -> Field:
        fitted = super().field(field, name, path)
        if not (fitted.is_optional and isinstance(fitted.shape, Nullable)):
            return fitted
        self.losses.add(rules.ABSENT_AND_NULL_MERGED, path, "absent or null", "null")
        return Field(name, fitted.shape.inner, is_optional=True, doc=field.doc)


def text_of(root: Shape) -> str:
    return json.dumps(_Writing().type(root), ensure_ascii=False, indent=2)


class _Writing:
    def __init__(self) -> None:
        self._written: set[str] = set()

    def type(self, shape: Shape) -> Any:
        match shape:
            case Scalar():
                return self._scalar(shape)
            case Symbols(name=name, symbols=symbols):
                default = {} if shape.default is None else {"default": shape.default}
                return self._named(name, {"type": "enum", **_doc(shape.doc), "symbols": list(symbols), **default})
            case Items(item=item):
                return {"type": "array", "items": self.type(item)}
            case Entries(value=value):
                return {"type": "map", "values": self.type(value)}
            case Nullable(inner=inner):
                return ["null", *self._branches(inner)]
            case Choice():
                return self._branches(shape)
            case Record():
                return self._record(shape)

    def _branches(self, shape: Shape) -> list[Any]:
        return [self.type(branch) for branch in (shape.branches if isinstance(shape, Choice) else (shape,))]

    def _scalar(self, scalar: Scalar) -> Any:
        logical: dict[str, Any] = {}
        if scalar.kind is Kind.DECIMAL:
            logical = {"logicalType": "decimal", "precision": scalar.precision, "scale": scalar.scale}
        elif scalar.kind not in _PLAIN:
            logical = {"logicalType": _LOGICAL[Scalar(scalar.kind, scalar.digits)]}
        if scalar.size is not None and scalar.name is not None:
            return self._named(scalar.name, {"type": "fixed", "size": scalar.size, **logical})
        if scalar.kind is Kind.DECIMAL:
            return {"type": "bytes", **logical}
        if logical:
            return {"type": _UNDERLYING.get(logical["logicalType"], "long"), **logical}
        return _PLAIN[scalar.kind]

    def _named(self, name: str, definition: dict[str, Any]) -> Any:
        if name in self._written:
            return name
        self._written.add(name)
        return {"type": definition.pop("type"), **heading(name), **definition}

    def _record(self, record: Record) -> Any:
        if record.name in self._written:
            return record.name
        self._written.add(record.name)
        fields = [self._field(field) for field in record.fields]
        return {"type": "record", **heading(record.name), **_doc(record.doc), "fields": fields}

    def _field(self, field: Field) -> dict[str, Any]:
        type_ = ["null", *self._branches(field.shape)] if field.is_optional else self.type(field.shape)
        default = {} if field.default is NO_DEFAULT else {"default": field.default}
        if field.is_optional:
            default = {"default": None}
        elif default and isinstance(field.shape, Nullable) and field.default is not None:
            type_ = [*type_[1:], "null"]
        return {"name": field.name, **_doc(field.doc), "type": type_, **default}


def heading(name: str) -> dict[str, str]:
    """The namespace is always said: the one around it would hold else."""
    namespace, _, unqualified = name.rpartition(".")
    return {"name": unqualified, "namespace": namespace}


def _doc(doc: str | None) -> dict[str, str]:
    return {} if doc is None else {"doc": doc}


def branch_name(shape: Shape) -> str:
    """What Avro calls a branch of a union."""
    match shape:
        case Record(name=name) | Symbols(name=name):
            return name
        case Scalar(name=name) if name is not None:
            return name
    written = _Writing().type(shape)
    return str(written["type"] if isinstance(written, dict) else written)
