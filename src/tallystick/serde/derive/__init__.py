"""Schemas from dataclasses and pydantic models.

`avro` and `json_schema` give the text that describes a class, and the conversion between its instances and the values
that the text describes. What no schema can hold raises `InvalidSchema` with the class, the field and the fix.
"""

from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from tallystick.serde.conversion import Conversion
from tallystick.serde.derive.avro import avro_text
from tallystick.serde.derive.avro_values import avro_dialect
from tallystick.serde.derive.classes import is_model, is_record_class
from tallystick.serde.derive.hints import record_of
from tallystick.serde.derive.inward import Inward
from tallystick.serde.derive.json_schema import json_schema_text
from tallystick.serde.derive.json_values import JSON
from tallystick.serde.derive.markers import Avro, Precision
from tallystick.serde.derive.models import model_conversion, model_text
from tallystick.serde.derive.outward import Outward

__all__ = ["Avro", "Derived", "Precision", "avro", "is_record_class", "json_schema"]

T = TypeVar("T")


class Derived(NamedTuple, Generic[T]):
    text: str
    conversion: Conversion[T]


def avro(cls: type[T], namespace: str | None = None) -> Derived[T]:
    """Avro text; also what PULSAR_JSON is described by."""
    any_class: Any = cls
    return _avro(any_class, namespace)


def json_schema(cls: type[T]) -> Derived[T]:
    """A model's schema and values are pydantic's own."""
    any_class: Any = cls
    return _json_schema(any_class)


@lru_cache(maxsize=1024)
def _avro(cls: Any, namespace: str | None) -> Derived[Any]:
    record = record_of(cls)
    text, dialect = avro_text(record, namespace), avro_dialect(record, namespace)
    return Derived(text, Conversion(cls, Outward(dialect).record(record), Inward(dialect).record(record)))


@lru_cache(maxsize=1024)
def _json_schema(cls: Any) -> Derived[Any]:
    if is_model(cls):
        return Derived(model_text(cls), model_conversion(cls))
    record = record_of(cls)
    return Derived(json_schema_text(record), Conversion(cls, Outward(JSON).record(record), Inward(JSON).record(record)))
