"""The values of Avro: Python's own, but for enums, which are the names of their members."""

from collections.abc import Iterator
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from fastavro.read import LOGICAL_READERS

from tallystick.formats.avro.names import full_name
from tallystick.serde.derive.avro import scalar_type
from tallystick.serde.derive.dialect import Dialect, ScalarConversion
from tallystick.serde.derive.faults import At
from tallystick.serde.derive.shapes import NO_DEFAULT, Choice, Entries, Items, Record, Scalar, Shape

_LOGICAL = frozenset({datetime, date, time, Decimal, UUID})


def avro_dialect(record: Record, namespace: str | None) -> Dialect:
    def tag_of(shape: Shape) -> str | None:
        return full_name(shape.type.__name__, namespace or "") if isinstance(shape, Record) else None

    is_mixed = _has_logical_defaults(record)
    return Dialect(
        scalar_of=_from_a_default if is_mixed else lambda shape: None,
        symbol_of=lambda member: member.name,
        tag_of=tag_of,
        is_whole=True,
    )


def _has_logical_defaults(record: Record) -> bool:
    """Whether the schema has a default that stands for a time, a Decimal or a UUID."""
    records = (shape for shape in _shapes_in(record, set()) if isinstance(shape, Record))
    fields = (field for each in records for field in each.fields if _has_parts(field.default))
    return any(_is_logical(shape) for field in fields for shape in _shapes_in(field.shape, set()))


def _has_parts(default: object) -> bool:
    is_empty = isinstance(default, list | tuple | dict | set | frozenset) and not default
    return default is not NO_DEFAULT and default is not None and not is_empty


def _is_logical(shape: Shape) -> bool:
    return isinstance(shape, Scalar) and shape.type in _LOGICAL


def _shapes_in(shape: Shape, seen: set[Record]) -> Iterator[Shape]:
    yield shape
    match shape:
        case Items(item=inner) | Entries(values=inner):
            yield from _shapes_in(inner, seen)
        case Choice(branches=branches):
            for branch in branches:
                yield from _shapes_in(branch, seen)
        case Record() if shape not in seen:
            seen.add(shape)
            for field in shape.fields:
                yield from _shapes_in(field.shape, seen)


def _from_a_default(shape: Scalar) -> ScalarConversion | None:
    """Values come as Python's own, but what is filled in from a default comes as the plain type underneath."""
    if shape.type not in _LOGICAL:
        return None
    type_, kind = scalar_type(shape, At(object)), shape.type
    read = LOGICAL_READERS.get(f"{type_['type']}-{type_['logicalType']}") if isinstance(type_, dict) else None
    if read is None:
        return None

    def from_plain(value: Any) -> Any:
        return value if type(value) is kind else read(value, type_, None)

    return ScalarConversion(None, from_plain, kind)
