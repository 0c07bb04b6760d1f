"""What Avro's Java library reads without a look at whether it fits: texts, dates, times, UUIDs.

Our codec refuses these, so they are refused here too.
"""

from collections.abc import Iterator
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from tallystick.formats.avro.types import Array, AvroType, Map, Primitive, Record, Union

_UUID = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
_RANGES = {
    "date": ("date", "0001-01-01", "9999-12-31"),
    "timestamp-millis": ("timestamp", "0001-01-01 00:00:00+00:00", "9999-12-31 23:59:59.999999+00:00"),
    "timestamp-micros": ("timestamp", "0001-01-01 00:00:00+00:00", "9999-12-31 23:59:59.999999+00:00"),
    "local-timestamp-millis": ("timestamp_ntz", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"),
    "local-timestamp-micros": ("timestamp_ntz", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"),
    "time-millis": ("int", "0", "86399999"),
    "time-micros": ("long", "0", "86399999999"),
}
"""What the logical types can say: their type on Spark, the first and the last value."""


def wrong(value: Column, type_: AvroType, certain: str | None = None) -> Column | None:
    """Whether something in a value does not fit, never null; None where there is nothing to look at.

    `certain` is a field that is null only where a record could not be read.
    """
    unread = None if certain is None else value.isNotNull() & value.getField(certain).isNull()
    return _either([unread, _wrong_text(value, type_), _out_of_range(value, type_)])


def _wrong_text(value: Column, type_: AvroType) -> Column | None:
    """Whether a text is no UTF-8. Those in arrays are looked at as one, which is UTF-8 only if each of them is: between
    them stands a comma, so that no two halves of a character meet.
    """
    texts = list(_texts(value, type_))
    single = [text for text, is_array in texts if not is_array]
    many = [text for text, is_array in texts if is_array]
    whole = [*single, F.concat_ws(",", *many)] if many else single
    return _either([F.coalesce(~F.is_valid_utf8(text), F.lit(False)) for text in whole])


def _texts(value: Column, type_: AvroType) -> Iterator[tuple[Column, bool]]:
    """Texts and arrays of texts, and whether it is an array."""
    match type_:
        case Primitive(kind="string", logical=None):
            yield value, False
        case Array(items=items):
            yield from ((texts, True) for texts in _texts_of_many(value, items))
        case Map(values=values):
            yield F.map_keys(value), True
            yield from ((texts, True) for texts in _texts_of_many(F.map_values(value), values))
        case Record(fields=fields):
            for f in fields:
                yield from _texts(value.getField(f.name), f.type)
        case Union():
            for part, branch in members(value, type_):
                yield from _texts(part, branch)


def _texts_of_many(values: Column, type_: AvroType) -> Iterator[Column]:
    """Of an array of values. A field of an array of structs is the array of the fields: no function is called."""
    match type_:
        case Primitive(kind="string", logical=None):
            yield values
        case Array(items=items):
            yield from _texts_of_many(_flat(values), items)
        case Map(values=inner):
            yield _flat(F.transform(values, F.map_keys))
            yield from _texts_of_many(_flat(F.transform(values, F.map_values)), inner)
        case Record(fields=fields):
            for f in fields:
                yield from _texts_of_many(values.getField(f.name), f.type)
        case Union():
            for part, branch in members(values, type_):
                yield from _texts_of_many(part, branch)


def _flat(arrays: Column) -> Column:
    # One null among them would make the whole null.
    return F.flatten(F.filter(arrays, lambda one: one.isNotNull()))


def _out_of_range(value: Column, type_: AvroType) -> Column | None:
    """Whether a UUID, a date or a time in a value is none."""
    match type_:
        case Primitive(kind="string", logical=logical) if logical is not None:
            return F.coalesce(~value.rlike(_UUID), F.lit(False))
        case Primitive(logical=logical) if logical is not None and logical.name in _RANGES:
            kind, first, last = _RANGES[logical.name]
            return F.coalesce((value < F.lit(first).cast(kind)) | (value > F.lit(last).cast(kind)), F.lit(False))
        case Array(items=items):
            return _any_out_of_range(value, items)
        case Map(values=values):
            return _any_out_of_range(F.map_values(value), values)
        case Record(fields=fields):
            return _either([_out_of_range(value.getField(f.name), f.type) for f in fields])
        case Union():
            return _either([_out_of_range(part, branch) for part, branch in members(value, type_)])
    return None


def members(value: Column, union: Union) -> list[tuple[Column, AvroType]]:
    """The parts of a union's value, each with its branch, as Spark lays them out."""
    branches = [branch for branch in union.branches if branch.kind != "null"]
    if len(branches) == 1:
        return [(value, branches[0])]
    if is_one_number(union):
        return []
    return [(value.getField(f"member{i}"), branch) for i, branch in enumerate(branches)]


def is_one_number(union: Union) -> bool:
    """Whether Spark makes one type of its branches: the wider one."""
    kinds = sorted(branch.kind for branch in union.branches if branch.kind != "null")
    return kinds in (["int", "long"], ["double", "float"])


def _any_out_of_range(values: Column, type_: AvroType) -> Column | None:
    if _out_of_range(values, type_) is None:
        return None
    return F.coalesce(F.exists(values, lambda value: _required(_out_of_range(value, type_))), F.lit(False))


def _required(column: Column | None) -> Column:
    assert column is not None
    return column


def _either(parts: list[Column | None]) -> Column | None:
    found = [part for part in parts if part is not None]
    return reduce(lambda a, b: a | b, found) if found else None
