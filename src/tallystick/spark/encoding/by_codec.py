"""Values → payloads in Python workers, each by our own codec: what fits the schema, and only that, becomes bytes.

For JSON_SCHEMA, PULSAR_JSON, PROTOBUF, PROTOBUF_NATIVE, PULSAR_PROTOBUF and the types without a text. A null in a
struct is a field that is not written, unless the schema asks for null there. JSON text in a column whose schema has no
one type is written as the JSON that it is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
from pyspark.sql.types import DataType

from tallystick.errors import InvalidRecord, Unsupported
from tallystick.formats import catalogue
from tallystick.formats.avro.types import AvroSchema
from tallystick.formats.format import Schema
from tallystick.formats.json_schema import JsonSchema
from tallystick.formats.primitive import PrimitiveSchema
from tallystick.formats.protobuf import ProtobufSchema
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.spark.encoding import values
from tallystick.spark.encoding.encoder import ArrowEncoder, Misfit
from tallystick.wire import confluent_frame

_Frozen = tuple[tuple[Any, SchemaDefinition], ...]


def encoder(
    schema: Schema, source: DataType, *, references: References = NO_REFERENCES, is_framed: bool = False
) -> ArrowEncoder:
    """`source` is the type of the values. A framed payload of Protobuf begins with the path to its message."""
    if isinstance(schema, ProtobufSchema) and schema.root is None:
        raise Unsupported("the schema has no message that a record could be")
    writing = _Writing(schema.definition, tuple(references.items()), is_framed)
    return ArrowEncoder(writing.payloads, writing.misfits)


@dataclass(frozen=True, slots=True)
class _Writing:
    definition: SchemaDefinition
    references: _Frozen
    is_framed: bool

    def payloads(self, array: pa.Array) -> pa.Array:
        return pa.array([self._payload(value) for value in values.python_values(array)], pa.binary())

    def misfits(self, array: pa.Array) -> list[Misfit]:
        return [self._misfit(value) for value in values.python_values(array)]

    def _payload(self, value: Any) -> bytes | None:
        try:
            return _writing(self.definition, self.references, self.is_framed)(value)
        except (InvalidRecord, values.Misfit):
            return None

    def _misfit(self, value: Any) -> Misfit:
        try:
            _writing(self.definition, self.references, self.is_framed)(value)
        except InvalidRecord as e:
            found = e.findings[0] if e.findings else None
            if found is not None:
                return Misfit(found.message, found.new.path if found.new else "")
        except values.Misfit as e:
            return Misfit(str(e), "")
        return Misfit("", "")


@lru_cache(maxsize=256)
def _writing(definition: SchemaDefinition, references: _Frozen, is_framed: bool) -> Callable[[Any], bytes]:
    """Raises `InvalidRecord` or `values.Misfit` for a value that does not fit."""
    schema = catalogue.parse(definition, dict(references), is_lenient=True)
    encode, change = catalogue.encoder_of(schema), _change(schema)
    prefix = b""
    if is_framed and isinstance(schema, ProtobufSchema) and schema.root is not None and not schema.is_native:
        prefix = confluent_frame.path_bytes(schema.index_of(schema.root))
    return lambda value: prefix + encode(change(value))


def _change(schema: Schema) -> Callable[[Any], Any]:
    match schema:
        case JsonSchema():
            return values.for_json_schema(schema)
        case AvroSchema():
            return values.for_avro(schema)
        case ProtobufSchema():
            return values.for_protobuf(schema)
        case PrimitiveSchema():
            return values.for_primitive(schema)
    raise Unsupported(f"{schema.definition.type} cannot be written on Spark")
