"""Which decoder reads the payloads of one schema as another's values.

Avro's writers are resolved to an Avro reader by Avro's rules. Between formats, values are taken by the names and types
of Spark: see `taking`.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructType

from tallystick.errors import Unsupported
from tallystick.formats.avro.types import AvroSchema, Union
from tallystick.formats.json_schema import JsonSchema
from tallystick.formats.key_value import KeyValueSchema
from tallystick.formats.primitive import PrimitiveSchema
from tallystick.formats.protobuf.types import ProtobufSchema
from tallystick.model.key_value import KeyValueEncoding
from tallystick.model.schema_type import AVRO, PULSAR_JSON
from tallystick.spark.decoding import avro, by_codec, json_schema, key_value, primitive, protobuf, pulsar_json, taking
from tallystick.spark.decoding.conforming import conformed
from tallystick.spark.decoding.decoder import ArrowDecoder, AvroDecoder, ColumnDecoder, Decoder
from tallystick.spark.decoding.schemas import Known
from tallystick.spark.types import json_schema as json_schema_types
from tallystick.spark.types import key_value as key_value_types
from tallystick.spark.types import primitive as primitive_types
from tallystick.spark.types import protobuf as protobuf_types


def type_of(any_frame: DataFrame, reader: Known) -> DataType:
    """The type of Spark that values of a schema have. Raises `Unsupported` where Spark has none."""
    match reader.parsed:
        case AvroSchema() as schema:
            if _may_be_null(schema):
                raise Unsupported("a value that may be null as a whole cannot be told from one that does not fit")
            return avro.type_of(any_frame, schema)
        case JsonSchema() as schema:
            return json_schema_types.type_of(schema)
        case ProtobufSchema() as schema:
            return protobuf_types.type_of(schema)
        case PrimitiveSchema() as schema:
            return primitive_types.type_of(schema)
        case KeyValueSchema() as pair:
            return key_value_types.type_of(*(type_of(any_frame, half) for half in _halves(reader, pair)))
    raise Unsupported(f"{reader.definition.type} cannot be read on Spark")


def decoder(any_frame: DataFrame, writer: Known, reader: Known, target: DataType, *, is_framed: bool) -> Decoder:
    """Raises `Unsupported` for a pair that Spark cannot read, `IncompatibleSchema` for one that nobody can."""
    references = {**writer.references, **reader.references}
    match writer.parsed, reader.parsed:
        case AvroSchema() as ours, AvroSchema() as theirs if writer.definition.type == AVRO:
            return avro.decoder(ours, theirs)
        case AvroSchema() as ours, AvroSchema() as theirs if writer.definition.type == PULSAR_JSON:
            return pulsar_json.decoder(ours, theirs, target, references=references)
        case AvroSchema() as ours, AvroSchema() as theirs:
            return by_codec.decoder(ours, theirs, target, references=references)
        case AvroSchema() as ours, _ if writer.definition.type == AVRO:
            return _avro_as_other(any_frame, ours, target)
        case JsonSchema() as ours, _:
            return json_schema.decoder(ours, target, references=writer.references)
        case ProtobufSchema() as ours, ProtobufSchema() as theirs:
            return protobuf.decoder(ours, target, reader=theirs, is_framed=is_framed)
        case ProtobufSchema() as ours, _:
            return protobuf.decoder(ours, target, is_framed=is_framed)
        case PrimitiveSchema() as ours, PrimitiveSchema() as theirs:
            return primitive.decoder(ours, target, reader=theirs)
        case PrimitiveSchema() as ours, _:
            return primitive.decoder(ours, target)
        case KeyValueSchema() as ours, KeyValueSchema() as theirs if isinstance(target, StructType):
            types = [field.dataType for field in target.fields]
            halves = list(zip(_halves(writer, ours), _halves(reader, theirs), types, strict=True))
            return _pair(any_frame, ours.encoding, halves)
    raise Unsupported(f"{writer.definition.type} cannot be read as {reader.definition.type} on Spark")


def _avro_as_other(any_frame: DataFrame, writer: AvroSchema, target: DataType) -> ColumnDecoder:
    own = avro.type_of(any_frame, writer)
    taking.check(own, target)
    inner = avro.alone(avro.decoder(writer, writer))

    def value(payload: Column, key: Column) -> Column:
        read = inner.value(payload, key)
        wrong = None if inner.wrong is None else inner.wrong(read)
        return conformed(read if wrong is None else F.when(~wrong, read), own, target)

    return ColumnDecoder(value)


def _halves(whole: Known, pair: KeyValueSchema) -> tuple[Known, Known]:
    key, value = (Known(half.definition, whole.references, half) for half in (pair.key, pair.value))
    return key, value


def _pair(any_frame: DataFrame, encoding: KeyValueEncoding, halves: Sequence[tuple[Known, Known, DataType]]) -> Decoder:
    key, value = (_half(any_frame, *half) for half in halves)
    # Where one half needs a Python worker, the other one goes there too.
    if isinstance(key, ColumnDecoder) and isinstance(value, ArrowDecoder):
        key = _in_batches(halves[0])
    elif isinstance(key, ArrowDecoder) and isinstance(value, ColumnDecoder):
        value = _in_batches(halves[1])
    return key_value.decoder(encoding, key, value, halves[0][2], halves[1][2])


def _half(any_frame: DataFrame, ours: Known, theirs: Known, type_: DataType) -> ColumnDecoder | ArrowDecoder:
    found = decoder(any_frame, ours, theirs, type_, is_framed=False)
    if isinstance(found, AvroDecoder):
        return avro.alone(found)
    if not isinstance(ours.parsed, KeyValueSchema):
        return found
    if ours.parsed.encoding is KeyValueEncoding.SEPARATED:
        raise Unsupported("a SEPARATED pair within a pair is two payloads, and there is only one for it")
    return key_value.within_pair(found) if isinstance(found, ColumnDecoder) else found


def _in_batches(half: tuple[Known, Known, DataType]) -> ArrowDecoder:
    ours, theirs, type_ = half
    writer, reader = ours.parsed, theirs.parsed
    if not isinstance(writer, AvroSchema | PrimitiveSchema) or not isinstance(reader, AvroSchema | PrimitiveSchema):
        raise Unsupported(f"{ours.definition.type} cannot be read as {theirs.definition.type} in a pair on Spark")
    return by_codec.decoder(writer, reader, type_, references={**ours.references, **theirs.references})


def _may_be_null(schema: AvroSchema) -> bool:
    branches = schema.root.branches if isinstance(schema.root, Union) else (schema.root,)
    return any(branch.kind == "null" for branch in branches)
