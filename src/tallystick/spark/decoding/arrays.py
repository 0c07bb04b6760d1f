"""Python values → one Arrow array, where a value that does not fit is null and spoils no other."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

_REFUSALS = (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, TypeError, UnicodeEncodeError)


def array_of(values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    """A batch with a value that does not fit is cut in half until that value stands alone."""
    try:
        return pa.array(values, type_)
    except _REFUSALS:
        if len(values) == 1:
            return _alone(values[0], type_)
        middle = len(values) // 2
        return pa.concat_arrays([array_of(values[:middle], type_), array_of(values[middle:], type_)])


def _alone(value: Any, type_: pa.DataType) -> pa.Array:
    """Arrow refuses integers as floats where that rounds them; for JSON's numbers that is what a double means."""
    try:
        return pa.array([_rounded(value, type_)], type_)
    except _REFUSALS:
        return pa.nulls(1, type_)


def _rounded(value: Any, type_: pa.DataType) -> Any:
    if value is None:
        return None
    if pa.types.is_floating(type_) and type(value) is int:
        return float(value)
    if pa.types.is_struct(type_) and isinstance(value, dict):
        return {f.name: _rounded(value.get(f.name), f.type) for f in type_}
    if pa.types.is_list(type_) and isinstance(value, list):
        return [_rounded(item, type_.value_type) for item in value]
    if pa.types.is_map(type_) and isinstance(value, list):
        return [(key, _rounded(item, type_.item_type)) for key, item in value]
    return value
