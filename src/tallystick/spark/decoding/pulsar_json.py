"""PULSAR_JSON: JSON that an Avro schema describes, read in Python workers, whole batches at a time.

Most payloads are proven in native code, by a JSON Schema that takes less than the Avro schema does, and need little
more than their defaults. All others, and those of schemas that have no such proof (bytes, decimals, other unions than
with null, a reader that differs in more than its fields) are read by our codec.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jsonschema_rs
import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType

from tallystick.formats import catalogue
from tallystick.formats.avro import defaults, resolution
from tallystick.formats.avro.types import Array, AvroSchema, AvroType, Enum, Field, Map, Primitive, Record, Union
from tallystick.formats.pulsar_json.codec import decode
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.spark.decoding import json_rows
from tallystick.spark.decoding.avro_values import Change, change_for
from tallystick.spark.decoding.decoder import ArrowDecoder

_Frozen = tuple[tuple[Any, SchemaDefinition], ...]


def decoder(
    writer: AvroSchema, reader: AvroSchema, target: DataType, *, references: References = NO_REFERENCES
) -> ArrowDecoder:
    """`references` are those of both schemas. Raises `Unsupported` where the reader's values are no column."""
    change_for(reader.root)
    return ArrowDecoder(_Values(writer.definition, reader.definition, tuple(references.items()), target))


@dataclass(frozen=True, slots=True)
class _Values:
    writer: SchemaDefinition
    reader: SchemaDefinition
    references: _Frozen
    target: DataType

    def __call__(self, payloads: pa.Array, keys: pa.Array) -> pa.Array:
        value_of = _reading(self.writer, self.reader, self.references)
        return json_rows.read(payloads, value_of, to_arrow_type(self.target))


@lru_cache(maxsize=256)
def _reading(writer: SchemaDefinition, reader: SchemaDefinition, references: _Frozen) -> Callable[[bytes], Any]:
    schemas = [catalogue.parse(one, dict(references), is_lenient=True) for one in (writer, reader)]
    ours, theirs = schemas
    assert isinstance(ours, AvroSchema)
    assert isinstance(theirs, AvroSchema)
    change = change_for(theirs.root)

    def exactly(payload: bytes) -> Any:
        value = decode(ours, payload, theirs)
        return value if change is None else change(value)

    try:
        proof = _proof(ours.root, theirs.root, 0)
    except _NoProof:
        return json_rows.only_exactly(exactly)
    # Draft 4: 1.0 is no integer there, as in Avro.
    is_proven = jsonschema_rs.Draft4Validator(proof.schema).is_valid
    return json_rows.reading(is_proven, exactly, proof.change, is_last_word=False)


class _NoProof(Exception):
    pass


@dataclass(frozen=True, slots=True)
class _Proof:
    schema: dict[str, Any]
    """JSON that it takes is a value of the writer's type."""
    change: Change | None = None
    """What is left to do for the reader's value."""


_MOST_DEEP = 32
_RANGES = {
    "int": {"minimum": -(2**31), "maximum": 2**31 - 1},
    "long": {"minimum": -(2**63), "maximum": 2**63 - 1},
    "date": {"minimum": -719_162, "maximum": 2_932_896},
    "timestamp-millis": {"minimum": -62_135_596_800_000, "maximum": 253_402_300_799_999},
    "timestamp-micros": {"minimum": -62_135_596_800_000_000, "maximum": 253_402_300_799_999_999},
}
_PRIMITIVES: dict[str, dict[str, Any]] = {
    "null": {"type": "null"},
    "boolean": {"type": "boolean"},
    "string": {"type": "string"},
    "int": {"type": "integer", **_RANGES["int"]},
    "long": {"type": "integer", **_RANGES["long"]},
    "double": {"type": "number"},
}


def _proof(writer: AvroType, reader: AvroType, depth: int) -> _Proof:
    if depth > _MOST_DEEP:
        raise _NoProof
    match writer, reader:
        case Primitive(), Primitive() if writer == reader or (writer.kind, writer.logical) == (
            reader.kind,
            reader.logical,
        ):
            return _primitive(writer)
        case Enum(), Enum() if set(writer.symbols) <= set(reader.symbols) and resolution.matches(reader, writer):
            return _Proof({"enum": list(writer.symbols)})
        case Array(), Array():
            inner = _proof(writer.items, reader.items, depth + 1)
            return _Proof({"type": "array", "items": inner.schema}, _each(inner.change))
        case Map(), Map():
            inner = _proof(writer.values, reader.values, depth + 1)
            return _Proof({"type": "object", "additionalProperties": inner.schema}, _entries(inner.change))
        case Union(), Union():
            return _optional(writer, reader, depth)
        case Record(), Record() if resolution.matches(reader, writer):
            return _record(writer, reader, depth)
    raise _NoProof


def _primitive(type_: Primitive) -> _Proof:
    if type_.logical is not None:
        change = {"timestamp-millis": lambda millis: millis * 1000}.get(type_.logical.name)
        if type_.logical.name not in _RANGES:
            raise _NoProof
        return _Proof({"type": "integer", **_RANGES[type_.logical.name]}, change)
    if type_.kind not in _PRIMITIVES:
        raise _NoProof
    return _Proof(_PRIMITIVES[type_.kind])


def _optional(writer: Union, reader: Union, depth: int) -> _Proof:
    branches = [[branch for branch in union.branches if branch.kind != "null"] for union in (writer, reader)]
    if any(len(real) != 1 or len(union.branches) != 2 for real, union in zip(branches, (writer, reader), strict=True)):
        raise _NoProof
    inner = _proof(branches[0][0], branches[1][0], depth + 1)
    change = inner.change
    return _Proof(
        {"anyOf": [{"type": "null"}, inner.schema]},
        None if change is None else lambda value: None if value is None else change(value),
    )


def _record(writer: Record, reader: Record, depth: int) -> _Proof:
    """Fields keep the writer's names until the end, where those of the reader's aliases are given the reader's."""
    sources = {f.name: resolution.source_of(f, reader, writer) for f in reader.fields}
    proofs = {name: _proof(f.type, _taker(name, sources, reader, f), depth + 1) for name, f in writer.by_name.items()}
    required = [f.name for f in writer.fields if f.default is None and not _takes_null(f.type)]
    schema = {"type": "object", "properties": {name: proof.schema for name, proof in proofs.items()}}
    if required:
        schema["required"] = required
    steps = [_step(f, sources[f.name], proofs, writer) for f in reader.fields]
    needed = [step for step in steps if step is not None]
    return _Proof(schema, _members(needed) if needed else None)


def _taker(name: str, sources: dict[str, str | None], reader: Record, field: Field) -> AvroType:
    """What reads a field of the writer: the reader's type, or its own where nobody reads it."""
    return next((reader.by_name[own].type for own, source in sources.items() if source == name), field.type)


_Step = tuple[str, str, Change | None, Any]
"""Field of the reader, field of the writer, what to do with its value, and the value where there is none."""


def _step(field: Field, source: str | None, proofs: dict[str, _Proof], writer: Record) -> _Step | None:
    if source is None:
        if field.default is None:
            raise _NoProof
        return field.name, "", None, _default(field)
    own = writer.by_name[source]
    default = None if own.default is None else _default(own)
    change = proofs[source].change
    return (
        None if change is None and default is None and source == field.name else (field.name, source, change, default)
    )


def _default(field: Field) -> Any:
    value = defaults.python_value(field.type, json.loads(field.default or "null"))
    change = change_for(field.type)
    return value if change is None or value is None else change(value)


def _takes_null(type_: AvroType) -> bool:
    branches = type_.branches if isinstance(type_, Union) else (type_,)
    return any(branch.kind == "null" for branch in branches)


_ABSENT = object()


def _members(steps: list[_Step]) -> Change:
    def changed(value: dict[str, Any]) -> dict[str, Any]:
        found = dict(value)
        for name, source, change, default in steps:
            inner = value.get(source, _ABSENT)
            if inner is _ABSENT:
                found[name] = default
            else:
                found[name] = inner if change is None or inner is None else change(inner)
        return found

    return changed


def _each(change: Change | None) -> Change | None:
    return None if change is None else lambda items: [None if item is None else change(item) for item in items]


def _entries(change: Change | None) -> Change:
    if change is None:
        return lambda entries: list(entries.items())
    return lambda entries: [(key, None if item is None else change(item)) for key, item in entries.items()]
