"""Pairs → a struct of both halves."""

from pyspark.sql.types import DataType, StructField, StructType

KEY, VALUE = "key", "value"


def type_of(key: DataType, value: DataType) -> StructType:
    """The type of pairs whose halves have these types. A half that is not there is null."""
    return StructType([StructField(KEY, key), StructField(VALUE, value)])
