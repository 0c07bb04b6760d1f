"""Texts that are no UTF-8: Spark takes any bytes as a string."""

from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructType

_BETWEEN = ","


def has_wrong_text(value: Column, type_: DataType) -> Column | None:
    """Whether some text in a value is no UTF-8; None where the type has no text.

    All texts are looked at as one, which is UTF-8 only if each of them is: with a comma between them, no two halves of
    a character meet.
    """
    found = list(_texts(value, type_))
    return ~F.is_valid_utf8(F.concat_ws(_BETWEEN, *found)) if found else None


def _texts(value: Column, type_: DataType) -> Iterator[Column]:
    """Texts and arrays of texts, which `concat_ws` takes both."""
    match type_:
        case StringType():
            yield value
        case StructType(fields=fields):
            for f in fields:
                yield from _texts(value.getField(f.name), f.dataType)
        case ArrayType(elementType=element):
            yield from _texts_of_many(value, element)
        case MapType(keyType=key, valueType=inner):
            yield from _texts_of_many(F.map_keys(value), key)
            yield from _texts_of_many(F.map_values(value), inner)


def _texts_of_many(values: Column, type_: DataType) -> Iterator[Column]:
    """The same of an array: a field of an array of structs is the array of the fields, made without a function call."""
    match type_:
        case StringType():
            yield values
        case StructType(fields=fields):
            for f in fields:
                yield from _texts_of_many(values.getField(f.name), f.dataType)
        case ArrayType(elementType=element):
            yield from _texts_of_many(_flat(values), element)
        case MapType(keyType=key, valueType=inner):
            yield from _texts_of_many(_flat(F.transform(values, F.map_keys)), key)
            yield from _texts_of_many(_flat(F.transform(values, F.map_values)), inner)


def _flat(arrays: Column) -> Column:
    # One null among them would make the whole null.
    return F.flatten(F.filter(arrays, lambda one: one.isNotNull()))
