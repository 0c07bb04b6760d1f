"""A column of one type as a column of another: fields by their names, numbers as wider ones. See `taking`."""

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StructType


def conformed(column: Column, written: DataType, target: DataType) -> Column:
    """Of types that `taking.check` lets pass. Null stays null."""
    if written == target:
        return column
    match written, target:
        case StructType(), StructType():
            has = {field.name: field.dataType for field in written.fields}
            fields = [
                (conformed(column.getField(f.name), has[f.name], f.dataType) if f.name in has else F.lit(None))
                .cast(f.dataType)
                .alias(f.name)
                for f in target.fields
            ]
            return F.when(column.isNotNull(), F.struct(*fields))
        case ArrayType(elementType=inner), ArrayType(elementType=wanted):
            return F.transform(column, lambda item: conformed(item, inner, wanted))
        case MapType(valueType=inner), MapType(valueType=wanted):
            return F.transform_values(column, lambda _, item: conformed(item, inner, wanted))
    return column.cast(target)
