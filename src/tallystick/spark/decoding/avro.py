"""Avro on the JVM, by Spark's own `from_avro`: the writers' schemas resolved to the reader's, no byte left over."""

from collections.abc import Sequence
from functools import lru_cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.types import DataType

from tallystick.formats.avro.types import AvroSchema
from tallystick.spark.decoding import avro_checks, avro_unions
from tallystick.spark.decoding.avro_seal import new_seal
from tallystick.spark.decoding.avro_unions import Joint
from tallystick.spark.decoding.decoder import AvroDecoder, ColumnDecoder

_SEAL = new_seal()
_OPTIONS = {"mode": "PERMISSIVE", "datetimeRebaseMode": "CORRECTED"}
"""What does not fit is null; dates are those of the specification's calendar, whatever the session has."""


def type_of(any_frame: DataFrame, schema: AvroSchema) -> DataType:
    """The type of Spark that values of a schema have, as Spark itself says; `any_frame` is of its session."""
    text = avro_unions.reader_text(schema, is_bare=False)
    found = _TYPES.get(text)
    if found is None:
        nothing = from_avro(F.lit(None).cast("binary"), text, _OPTIONS).getField(avro_unions.VALUE)
        found = _TYPES[text] = any_frame.select(nothing.alias("v")).schema["v"].dataType
    return found


_TYPES: dict[str, DataType] = {}


def decoder(writer: AvroSchema, reader: AvroSchema) -> AvroDecoder:
    """Raises `Unsupported` for the few pairs that Spark cannot read, such as a record that holds itself."""
    _joints((writer,), reader)
    return AvroDecoder(writer, reader)


def alone(decoder: AvroDecoder) -> ColumnDecoder:
    """One writer by itself."""
    (joint,) = _joints((decoder.writer,), decoder.reader)
    (head,) = joint.heads().values()
    return ColumnDecoder(
        lambda payload, _: read(joint, F.lit(head), payload), wrong=lambda column: wrong(column, decoder.reader)
    )


def joints(decoders: Sequence[AvroDecoder]) -> list[Joint]:
    """Those of one reader, in as few schemas as can be."""
    return _joints(tuple(decoder.writer for decoder in decoders), decoders[0].reader)


@lru_cache(maxsize=1000)
def _joints(writers: tuple[AvroSchema, ...], reader: AvroSchema) -> list[Joint]:
    return avro_unions.join(writers, reader, _SEAL)


def read(joint: Joint, head: Column, payload: Column) -> Column:
    """A value, which is null, or `wrong`, where the bytes do not fit or there is no head."""
    whole = from_avro(
        F.concat(head, payload, F.lit(_SEAL.data)), joint.writer, {"avroSchema": joint.reader, **_OPTIONS}
    )
    return whole if joint.is_bare else whole.getField(avro_unions.VALUE)


def wrong(value: Column, reader: AvroSchema) -> Column | None:
    """Whether what was read does not fit."""
    certain = avro_unions.certain_field(reader)
    return avro_checks.wrong(value, reader.root, certain)
