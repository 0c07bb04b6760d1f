"""Avro on the JVM, by Spark's own `from_avro`: the writer's schema resolved to the reader's, no byte left over."""

from functools import lru_cache

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.types import DataType

from tallystick.formats.avro.types import AvroSchema
from tallystick.spark.decoding import avro_checks, avro_texts
from tallystick.spark.decoding.decoder import ColumnDecoder

_SEAL = avro_texts.new_seal()
_OPTIONS = {"mode": "PERMISSIVE", "datetimeRebaseMode": "CORRECTED"}
"""What does not fit is null; dates are those of the specification's calendar, whatever the session has."""


def type_of(any_frame: DataFrame, schema: AvroSchema) -> DataType:
    """The type of Spark that values of a schema have, as Spark itself says; `any_frame` is of its session."""
    text = avro_texts.reader_text(schema)
    found = _TYPES.get(text)
    if found is None:
        nothing = from_avro(F.lit(None).cast("binary"), text, _OPTIONS).getField(avro_texts.VALUE)
        found = _TYPES[text] = any_frame.select(nothing.alias("v")).schema["v"].dataType
    return found


_TYPES: dict[str, DataType] = {}


def decoder(writer: AvroSchema, reader: AvroSchema) -> ColumnDecoder:
    """Raises `Unsupported` for the few pairs that Spark cannot read, such as a record that holds itself."""
    return _decoder(_texts(writer, reader), reader)


@lru_cache(maxsize=10_000)
def _texts(writer: AvroSchema, reader: AvroSchema) -> tuple[str, str]:
    return avro_texts.writer_text(writer, reader, _SEAL), avro_texts.reader_text(reader)


def _decoder(texts: tuple[str, str], schema: AvroSchema) -> ColumnDecoder:
    writer, reader = texts

    def value(payload: Column, _: Column) -> Column:
        sealed = F.concat(payload, F.lit(_SEAL.data))
        return from_avro(sealed, writer, {"avroSchema": reader, **_OPTIONS}).getField(avro_texts.VALUE)

    return ColumnDecoder(value, key=texts, wrong=lambda column: avro_checks.wrong(column, schema.root))
