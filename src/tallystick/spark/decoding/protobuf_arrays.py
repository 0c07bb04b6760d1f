"""Arrow arrays as `ptars` gives them → arrays of Spark's types, by the names of their fields.

Raises `pa.ArrowInvalid` where a value does not fit.
"""

import pyarrow as pa
import pyarrow.compute as pc

_MICROS_PER_SECOND = 1_000_000
_NANOS_PER_MICRO = 1000


def taken_as(array: pa.Array, type_: pa.DataType) -> pa.Array:
    if pa.types.is_struct(array.type) and (pa.types.is_timestamp(type_) or pa.types.is_duration(type_)):
        return _micros(array).cast(type_)
    if pa.types.is_struct(type_):
        own = {field.name for field in array.type}
        children = [
            taken_as(array.field(field.name), field.type) if field.name in own else pa.nulls(len(array), field.type)
            for field in type_
        ]
        return struct_of(children, type_, array)
    if pa.types.is_map(type_):
        keys, items = taken_as(array.keys, type_.key_type), taken_as(array.items, type_.item_type)
        return pa.MapArray.from_arrays(array.offsets, keys, items, type_, mask=_mask(array))
    if pa.types.is_list(type_):
        return pa.ListArray.from_arrays(
            array.offsets, taken_as(array.values, type_.value_type), type_, mask=_mask(array)
        )
    return array if array.type.equals(type_) else array.cast(type_)


def struct_of(children: list[pa.Array], type_: pa.StructType, like: pa.Array) -> pa.Array:
    """A struct that is null where another array is."""
    if not children:
        return pa.array([{} if valid else None for valid in like.is_valid().to_pylist()], type_)
    return pa.StructArray.from_arrays(children, fields=list(type_), mask=_mask(like))


def _mask(array: pa.Array) -> pa.Array | None:
    return array.is_null() if array.null_count else None


def _micros(array: pa.Array) -> pa.Array:
    """Of a Timestamp or a Duration."""
    seconds = pc.multiply_checked(array.field("seconds"), pa.scalar(_MICROS_PER_SECOND, pa.int64()))
    nanos = pc.divide(array.field("nanos").cast(pa.int64()), pa.scalar(_NANOS_PER_MICRO, pa.int64()))
    micros = pc.add_checked(seconds, nanos)
    return pc.if_else(array.is_valid(), micros, pa.scalar(None, pa.int64())) if array.null_count else micros
