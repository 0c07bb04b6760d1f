"""What Avro's Java library reads without a look at whether it fits: texts, dates, times, UUIDs.

Our codec refuses these, so they are refused here too.
"""

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


def wrong(value: Column, type_: AvroType) -> Column | None:
    """Whether something in a value does not fit, never null; None where there is nothing to look at."""
    match type_:
        case Primitive(kind="string"):
            fits = F.is_valid_utf8(value) if type_.logical is None else value.rlike(_UUID)
            return F.coalesce(~fits, F.lit(False))
        case Primitive(logical=logical) if logical is not None and logical.name in _RANGES:
            kind, first, last = _RANGES[logical.name]
            return F.coalesce((value < F.lit(first).cast(kind)) | (value > F.lit(last).cast(kind)), F.lit(False))
        case Array(items=items):
            return _any_wrong(value, items)
        case Map(values=values):
            return _either([_any_wrong(F.map_keys(value), _KEY), _any_wrong(F.map_values(value), values)])
        case Record(fields=fields):
            return _either([wrong(value.getField(f.name), f.type) for f in fields])
        case Union():
            return _either([wrong(part, branch) for part, branch in members(value, type_)])
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


def _any_wrong(values: Column, type_: AvroType) -> Column | None:
    if wrong(values, type_) is None:
        return None
    return F.coalesce(F.exists(values, lambda value: _required(wrong(value, type_))), F.lit(False))


def _required(column: Column | None) -> Column:
    assert column is not None
    return column


def _either(parts: list[Column | None]) -> Column | None:
    found = [part for part in parts if part is not None]
    return reduce(lambda a, b: a | b, found) if found else None


_KEY = Primitive("string")
