"""Which decoder reads the payloads of one schema as another's values."""

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

from tallystick.errors import Unsupported
from tallystick.formats.avro.types import AvroSchema, Union
from tallystick.spark.decoding import avro
from tallystick.spark.decoding.decoder import Decoder
from tallystick.spark.decoding.schemas import Known


def type_of(any_frame: DataFrame, reader: Known) -> DataType:
    """The type of Spark that values of a schema have. Raises `Unsupported` where Spark has none."""
    schema = reader.parsed
    if isinstance(schema, AvroSchema):
        if _may_be_null(schema):
            raise Unsupported("a value that may be null as a whole cannot be told from one that does not fit")
        return avro.type_of(any_frame, schema)
    raise Unsupported(f"{reader.definition.type} cannot be read on Spark")


def decoder(writer: Known, reader: Known, target: DataType, *, is_framed: bool) -> Decoder:
    """Raises `Unsupported` for a pair that Spark cannot read, `IncompatibleSchema` for one that nobody can."""
    ours, theirs = writer.parsed, reader.parsed
    if isinstance(ours, AvroSchema) and isinstance(theirs, AvroSchema):
        return avro.decoder(ours, theirs, target)
    raise Unsupported(f"{writer.definition.type} cannot be read as {reader.definition.type} on Spark")


def _may_be_null(schema: AvroSchema) -> bool:
    branches = schema.root.branches if isinstance(schema.root, Union) else (schema.root,)
    return any(branch.kind == "null" for branch in branches)
