"""Payloads read one by one by our own codec: for what has no faster way, or must not leave Python on its way."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType

from tallystick.errors import InvalidRecord, Unsupported
from tallystick.formats import catalogue
from tallystick.formats.avro.types import AvroSchema
from tallystick.formats.primitive import PrimitiveSchema
from tallystick.formats.pulsar_protobuf.descriptor import Undescribed, message_class
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.schema_type import PULSAR_PROTOBUF
from tallystick.model.temporal import Instant, LocalDateTime, LocalTime
from tallystick.spark.decoding import avro_values, json_rows, taking
from tallystick.spark.decoding.decoder import ArrowDecoder
from tallystick.spark.types import primitive as primitive_types

_Frozen = tuple[tuple[Any, SchemaDefinition], ...]


def decoder(
    writer: AvroSchema | PrimitiveSchema,
    reader: AvroSchema | PrimitiveSchema,
    target: DataType,
    *,
    references: References = NO_REFERENCES,
) -> ArrowDecoder:
    """For a type without a text, or Avro's text: AVRO, PULSAR_JSON, PULSAR_PROTOBUF; both schemas are of one kind.

    Raises `Unsupported` where the payloads are not described or the reader's values are no column.
    """
    if isinstance(reader, AvroSchema):
        avro_values.change_for(reader.root)
    elif isinstance(writer, PrimitiveSchema):
        taking.check(primitive_types.type_of(writer), target)
    if isinstance(writer, AvroSchema) and writer.definition.type == PULSAR_PROTOBUF:
        try:
            message_class(writer)
        except Undescribed as e:
            raise Unsupported(f"{e}: describe a flat message there, or use PROTOBUF_NATIVE or PROTOBUF") from e
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
    ours, theirs = (catalogue.parse(one, dict(references), is_lenient=True) for one in (writer, reader))
    change: Callable[[Any], Any] | None = _primitive
    if isinstance(theirs, AvroSchema):
        decode = catalogue.decoder_of(ours, theirs)
        change = avro_values.change_for(theirs.root)
    else:
        decode = catalogue.decoder_of(ours)

    def value_of(payload: bytes) -> Any:
        try:
            value = decode(payload)
            return value if change is None or value is None else change(value)
        except (InvalidRecord, OverflowError):
            return None

    return value_of


def _primitive(value: Any) -> Any:
    """As `types.primitive` has it."""
    match value:
        case Instant():
            return value.epoch_second * 1_000_000 + value.nano // 1000
        case LocalDateTime():
            return value.as_datetime()
        case LocalTime():
            return value.nano_of_day
        case dt.time():
            return LocalTime.of(value).nano_of_day // 1_000_000
    return value
