"""Types without a text → types of Spark.

Points in time and days are Spark's own, which count microseconds: nanoseconds below those are cut off. Times of day are
numbers, as Spark has them from Avro: milliseconds of TIME, nanoseconds of LOCAL_TIME.
"""

from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    TimestampNTZType,
    TimestampType,
)

from tallystick.formats.primitive import PrimitiveSchema
from tallystick.model import schema_type as types
from tallystick.model.schema_type import SchemaType

_TYPES: dict[SchemaType, type[DataType]] = {
    types.EXTERNAL: BinaryType,
    types.BYTES: BinaryType,
    types.NONE: BinaryType,
    types.STRING: StringType,
    types.BOOLEAN: BooleanType,
    types.INT8: ByteType,
    types.INT16: ShortType,
    types.INT32: IntegerType,
    types.INT64: LongType,
    types.FLOAT: FloatType,
    types.DOUBLE: DoubleType,
    types.DATE: TimestampType,
    types.TIMESTAMP: TimestampType,
    types.TIME: IntegerType,
    types.INSTANT: TimestampType,
    types.LOCAL_DATE: DateType,
    types.LOCAL_TIME: LongType,
    types.LOCAL_DATE_TIME: TimestampNTZType,
}


def type_of(schema: PrimitiveSchema) -> DataType:
    return _TYPES[schema.definition.type]()
