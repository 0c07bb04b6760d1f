"""Shapes → JSON Schema, draft 2020-12.

Objects are closed: what a record of the other format holds is all there is. Records, enums and fixed sizes stand under
`$defs` by their full names, the root in its place.
"""

import json
from typing import Any

from tallystick.formats.json_source import Path
from tallystick.translate import rule as rules
from tallystick.translate.fitting import Fitting
from tallystick.translate.from_json_schema import group_of
from tallystick.translate.json_texts import schema_of
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
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_LARGE = frozenset({Kind.INT64, Kind.UINT64})


class ForJsonSchema(Fitting):
    def scalar(self, scalar: Scalar, path: Path) -> Scalar:
        if scalar.kind in _LARGE:
            self.losses.add(rules.INT64_TO_NUMBER, path, str(scalar.kind), "an integer of JSON")
        if scalar.size is not None and scalar.kind is not Kind.BYTES:
            bare = Scalar(scalar.kind, None, scalar.precision, scalar.scale)
            return self.loss(rules.FIXED_SIZE_LOST, path, scalar, bare)
        return scalar

    def symbols(self, symbols: Symbols, path: Path) -> Shape:
        if symbols.default is not None:
            self.losses.add(rules.DEFAULT_LOST, path, f"the enum's default {symbols.default}")
        return Symbols(symbols.name, symbols.symbols, doc=symbols.doc)

    def choice(self, choice: Choice, path: Path) -> Shape:
        groups = [group_of(branch) for branch in choice.branches]
        if len(set(groups)) < len(groups):
            self.losses.add(rules.UNION_AMBIGUOUS, path, f"a union with branches that are {', '.join(groups)} in JSON")
        return super().choice(choice, path)


def text_of(root: Shape) -> str:
    return json.dumps(_Writing(root).whole(), ensure_ascii=False, indent=2)


class _Writing:
    def __init__(self, root: Shape) -> None:
        self._root = root
        self._defined: dict[str, Any] = {}

    def whole(self) -> dict[str, Any]:
        root = self._record(self._root) if isinstance(self._root, Record) else self._schema(self._root)
        return {"$schema": DIALECT, **root, **({"$defs": self._defined} if self._defined else {})}

    def _schema(self, shape: Shape) -> dict[str, Any]:
        match shape:
            case Scalar(name=name):
                return schema_of(shape) if name is None else self._define(name, {"title": name, **schema_of(shape)})
            case Symbols(name=name):
                return self._define(name, _enum(shape))
            case Items(item=item):
                return {"type": "array", "items": self._schema(item)}
            case Entries(value=value):
                return {"type": "object", "additionalProperties": self._schema(value)}
            case Nullable(inner=inner):
                return _or_null(self._schema(inner))
            case Choice(branches=branches):
                return {"anyOf": [self._schema(branch) for branch in branches]}
            case Record():
                return self._referred(shape)

    def _define(self, name: str, schema: dict[str, Any]) -> dict[str, Any]:
        self._defined.setdefault(name, schema)
        return _reference(name)

    def _referred(self, record: Record) -> dict[str, Any]:
        if record is self._root:
            return {"$ref": "#"}
        if record.name not in self._defined:
            self._defined[record.name] = {}  # it may hold itself
            self._defined[record.name] = self._record(record)
        return _reference(record.name)

    def _record(self, record: Record) -> dict[str, Any]:
        required = [field.name for field in record.fields if not field.is_optional]
        return {
            "title": record.name,
            **_doc(record.doc),
            "type": "object",
            "properties": {field.name: self._property(field) for field in record.fields},
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }

    def _property(self, field: Field) -> dict[str, Any]:
        default = {} if field.default is NO_DEFAULT else {"default": field.default}
        return {**self._schema(field.shape), **_doc(field.doc), **default}


def _enum(symbols: Symbols) -> dict[str, Any]:
    return {"title": symbols.name, **_doc(symbols.doc), "type": "string", "enum": list(symbols.symbols)}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in schema:
        return {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    if schema.keys() == {"type"}:
        return {"type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _doc(doc: str | None) -> dict[str, Any]:
    return {} if doc is None else {"description": doc}
