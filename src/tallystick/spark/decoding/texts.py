"""Texts that are no UTF-8: Spark takes any bytes as a string."""

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructType


def has_wrong_text(value: Column, type_: DataType) -> Column | None:
    """Whether some text in a value is no UTF-8 (null where there is no text to look at); None if the type has none."""
    match type_:
        case StringType():
            return ~F.is_valid_utf8(value)
        case StructType(fields=fields):
            parts = [has_wrong_text(value.getField(f.name), f.dataType) for f in fields]
        case ArrayType(elementType=element):
            if has_wrong_text(value, element) is None:
                return None
            return F.exists(value, lambda item: F.coalesce(_required(item, element), F.lit(False)))
        case MapType(keyType=key, valueType=inner):
            keys = has_wrong_text(F.map_keys(value), ArrayType(key))
            parts = [keys, has_wrong_text(F.map_values(value), ArrayType(inner))]
        case _:
            return None
    found = [F.coalesce(part, F.lit(False)) for part in parts if part is not None]
    if not found:
        return None
    wrong = found[0]
    for part in found[1:]:
        wrong = wrong | part
    return wrong


def _required(item: Column, type_: DataType) -> Column:
    wrong = has_wrong_text(item, type_)
    assert wrong is not None
    return wrong
