"""The defaults of fields, as the target writes them."""

import json
from dataclasses import replace
from typing import Any

from tallystick.errors import InvalidRecord
from tallystick.formats.json_source import Path
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF, SchemaType
from tallystick.translate import leaves
from tallystick.translate import rule as rules
from tallystick.translate.branches import fits
from tallystick.translate.convert import converter
from tallystick.translate.losses import Losses
from tallystick.translate.shape import (
    NO_DEFAULT,
    Choice,
    Entries,
    Field,
    Items,
    Nullable,
    Record,
    Scalar,
    Shape,
    Symbols,
)

Pairs = list[tuple[Record, Record, Path]]


def carry(pairs: Pairs, from_type: SchemaType, to_type: SchemaType, losses: Losses) -> None:
    """Gives the fields of the target's records the defaults of the source's, as far as the target can say them."""
    for source, target, path in pairs:
        fields = []
        for was, now in zip(source.fields, target.fields, strict=True):
            carried = _carried(was, now, from_type, to_type)
            if carried is _LOST:
                losses.add(rules.DEFAULT_LOST, (*path, was.name), f"the default {was.default!r:.60}")
            fields.append(now if carried is _LOST else replace(now, default=carried))
        target.fields = tuple(fields)


_LOST = object()


def _carried(was: Field, now: Field, from_type: SchemaType, to_type: SchemaType) -> Any:
    if was.default is NO_DEFAULT:
        return NO_DEFAULT
    if to_type != JSON_SCHEMA and now.is_optional:
        return NO_DEFAULT if was.default is None else _LOST
    try:
        value = converter(was.shape, now.shape, from_type, to_type)(was.default)
    except InvalidRecord:
        return _LOST
    if to_type == PROTOBUF:
        return NO_DEFAULT if _is_zero(now, value) else _LOST
    if to_type == AVRO:
        return _as_avro(now, value)
    return value if _is_json(value) else _LOST


def _is_zero(field: Field, value: Any) -> bool:
    """Whether a reader of proto3 sees the default anyway."""
    return bool(value == field.shape.symbols[0]) if isinstance(field.shape, Symbols) else not value


def _as_avro(field: Field, value: Any) -> Any:
    inner = field.shape.inner if isinstance(field.shape, Nullable) else field.shape
    # A default of null is what an optional field has, and one of a union may be of several branches.
    if value is None or isinstance(inner, Choice) or not fits(inner, value):
        return _LOST
    written = _avro_json(inner, value)
    return written if _is_json(written) else _LOST


def _avro_json(shape: Shape, value: Any) -> Any:
    """A value of Avro's codec as a schema writes it: bytes as text, logical types as what is underneath."""
    if value is None:
        return None
    match shape:
        case Scalar():
            plain = leaves.avro_underlying(shape, value)
            return plain.decode("latin-1") if isinstance(plain, bytes) else plain
        case Items(item=item):
            return [_avro_json(item, inner) for inner in value]
        case Entries(value=inner):
            return {key: _avro_json(inner, each) for key, each in value.items()}
        case Record(fields=fields):
            return {field.name: _avro_json(field.shape, value[field.name]) for field in fields}
        case Nullable(inner=inner):
            return _avro_json(inner, value)
    return value


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, TypeError):
        return False
    return True
