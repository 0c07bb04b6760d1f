"""Columns as `pyarrow.json` fills them, and columns of the target made of them.

It has no maps: for it, a map is a struct with a field for each of the keys that it is told.
"""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import ArrayType, BooleanType, DataType, DoubleType, LongType, MapType, StringType, StructType

from tallystick.spark.decoding.json_layout import INSIDE, Layout
from tallystick.spark.decoding.json_proofs import Mask

Keys = Mapping[Layout, Collection[str]]
"""Of each map, those that are known."""

_LEAVES: dict[type[DataType], pa.DataType] = {
    StringType: pa.string(),
    BooleanType: pa.bool_(),
    LongType: pa.int64(),
    DoubleType: pa.float64(),
}


def parsed(texts: pa.Array, layout: Layout, keys: Keys) -> pa.Array:
    """The objects that the texts hold, each of them one. Raises `ArrowInvalid`, too, where one has other keys."""
    # The end of the last line is the end of a block, so the last text needs one too.
    lines = pa.concat_arrays([texts, pa.array([""])])
    whole = pc.binary_join(pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines), "\n")[0].as_buffer()
    table = pj.read_json(
        pa.BufferReader(whole),
        # One block: objects do not lie between two of them, and the columns come in one piece.
        pj.ReadOptions(use_threads=False, block_size=whole.size + 1),
        pj.ParseOptions(explicit_schema=pa.schema(_parser_type(layout, keys)), unexpected_field_behavior="error"),
    )
    if table.num_rows != len(texts):
        raise pa.ArrowInvalid("the texts hold more objects, or fewer, than there are texts")
    return table.to_struct_array().combine_chunks()


def _parser_type(layout: Layout, keys: Keys) -> pa.DataType:
    match layout.type:
        case StructType():
            return pa.struct([pa.field(name, _parser_type(one, keys)) for name, one in layout.inner.items()])
        case MapType():
            value = _parser_type(layout.inner[INSIDE], keys)
            return pa.struct([pa.field(key, value) for key in keys.get(layout, ())])
        case ArrayType():
            return pa.list_(_parser_type(layout.inner[INSIDE], keys))
    return _LEAVES[type(layout.type)]


def is_doubtful(column: pa.Array, layout: Layout) -> Mask:
    """Where a value may differ from what the text says, or is not what the layout allows."""
    found = np.zeros(len(column), np.bool_)
    match layout.type:
        case DoubleType():
            numbers = np.frombuffer(column.buffers()[1], np.float64)[column.offset : column.offset + len(column)]
            # -0 is an integer, and has no sign.
            found = ~np.isfinite(numbers) | ((numbers == 0) & np.signbit(numbers))
        case StructType():
            for name, one in layout.inner.items():
                found |= is_doubtful(column.field(name), one)
                if one.is_required:
                    found |= _is_null(column.field(name))
        case MapType():
            for key in range(column.type.num_fields):
                found |= is_doubtful(column.field(key), layout.inner[INSIDE])
        case ArrayType():
            items = column.flatten()
            is_bad = is_doubtful(items, layout.inner[INSIDE])
            if not layout.inner[INSIDE].takes_null:
                is_bad |= _is_null(items)
            found[pc.list_parent_indices(column).to_numpy()[is_bad]] = True
    return found & ~_is_null(column)


def _is_null(column: pa.Array) -> Mask:
    found: Mask = column.is_null().to_numpy(zero_copy_only=False)
    return found


def taken(column: pa.Array, layout: Layout, target: DataType) -> pa.Array:
    """The column as the target: fields that it lacks are dropped, fields that only it has are null."""
    is_null = column.is_null() if column.null_count else None
    match layout.type, target:
        case StructType(), StructType(fields=fields):
            inner = [
                taken(column.field(f.name), layout.inner[f.name], f.dataType)
                if f.name in layout.inner
                else pa.nulls(len(column), to_arrow_type(f.dataType))
                for f in fields
            ]
            return pa.StructArray.from_arrays(inner, fields=list(to_arrow_type(target)), mask=is_null)
        case MapType(), MapType(valueType=value):
            values = [taken(column.field(i), layout.inner[INSIDE], value) for i in range(column.type.num_fields)]
            return _map([f.name for f in column.type], values, _is_null(column), to_arrow_type(target))
        case ArrayType(), ArrayType(elementType=element):
            items = taken(column.values, layout.inner[INSIDE], element)
            return pa.ListArray.from_arrays(column.offsets, items, type=to_arrow_type(target), mask=is_null)
    # An integer as a double is rounded, as the number that it is in JSON.
    return column.cast(to_arrow_type(target), safe=False)


def _map(keys: Sequence[str], values: Sequence[pa.Array], is_null: Mask, type_: pa.DataType) -> pa.Array:
    """A key without a value is not there."""
    if not keys:
        keys, values = [""], [pa.nulls(len(is_null), type_.item_type)]
    is_there = ~np.stack([_is_null(column) for column in values], axis=1)
    rows, which = np.nonzero(is_there)
    offsets = np.concatenate([[0], np.cumsum(is_there.sum(axis=1))]).astype(np.int32)
    entries = pa.concat_arrays(values).take(pa.array(which * len(is_null) + rows))
    starts = pa.array(offsets, mask=np.append(is_null, False))
    return pa.MapArray.from_arrays(starts, pa.array(keys).take(pa.array(which)), entries, type_)
