"""What the bytes of JSON payloads show before anybody parses them, whole batches at a time.

`pyarrow.json` fills columns and leaves the rest unsaid: it reads objects one after the other, wherever one payload
ends and the next begins, dies where a null comes first, and lets null and absent look the same. Here the payloads are
found to which that makes no difference. To miss a harmless one costs time, nothing else.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Mask = npt.NDArray[np.bool_]
_Bytes = npt.NDArray[np.uint8]
_Places = npt.NDArray[np.int64]

_OPEN, _CLOSE, _COLON, _BACKSLASH, _N, _U = b"{}:\\nu"
_SPACE = 32


def are_plain(payloads: pa.Array, may_be_null: Iterable[str] | None) -> Mask:
    """Which payloads hold one object and nothing around it, if they hold JSON, and no null but of these properties.

    White space behind a brace, or several spaces before a null, are not looked through: such a payload is not plain.
    Without `may_be_null` nulls are not looked for.
    """
    offsets, data = _parts(payloads)
    if len(data) == 0:
        return np.zeros(len(payloads), np.bool_)
    starts, ends = offsets[:-1], offsets[1:]
    found: Mask = (ends - starts >= 2) & (data[np.minimum(starts, len(data) - 1)] == _OPEN) & (data[ends - 1] == _CLOSE)
    if payloads.null_count:
        found &= payloads.is_valid().to_numpy(zero_copy_only=False)
    found[_rows(_going_on(data, offsets), offsets)] = False
    if may_be_null is not None:
        found[_rows(_other_nulls(data, may_be_null), offsets)] = False
    return found


def _parts(payloads: pa.Array) -> tuple[_Places, _Bytes]:
    _, places, content = payloads.buffers()
    offsets = np.frombuffer(places, np.int32)[payloads.offset : payloads.offset + len(payloads) + 1].astype(np.int64)
    data = np.frombuffer(content, np.uint8) if content is not None else np.zeros(0, np.uint8)
    return offsets - offsets[0], data[offsets[0] : offsets[-1]]


def _rows(places: _Places, offsets: _Places) -> _Places:
    return np.searchsorted(offsets, places, "right") - 1


def _going_on(data: _Bytes, offsets: _Places) -> _Places:
    """Where after a brace there may be more than the parser refuses: white space, an object, or a null."""
    after = np.flatnonzero(data == _CLOSE) + 1
    is_end = np.zeros(len(data) + 1, np.bool_)
    is_end[offsets] = True
    after = after[~is_end[after]]
    what = data[after]
    going_on: _Places = after[(what <= _SPACE) | (what == _OPEN) | (what == _N)]
    return going_on


def _other_nulls(data: _Bytes, may_be_null: Iterable[str]) -> _Places:
    """Where a null follows a colon that does not stand behind one of these names."""
    places = np.flatnonzero(data[:-1] == _N)
    places = places[(places >= 2) & (data[places + 1] == _U)]
    before, earlier = data[places - 1], data[places - 2]
    is_spaced = before <= _SPACE
    is_odd = is_spaced & (earlier <= _SPACE)
    colons = np.concatenate([places[before == _COLON] - 1, places[is_spaced & (earlier == _COLON)] - 2])
    for name in may_be_null:
        colons = colons[~_stands_before(colons, name, data)]
    return np.concatenate([places[is_odd], colons])


def _stands_before(colons: _Places, name: str, data: _Bytes) -> Mask:
    quoted = np.frombuffer(f'"{name}"'.encode(), np.uint8)
    starts = colons - len(quoted)
    found = starts > 0
    starts = starts[found]
    # A quote behind a backslash opens nothing: the name goes on before it.
    is_opened = data[starts - 1] != _BACKSLASH
    found[found] = is_opened & (data[starts[:, None] + np.arange(len(quoted))] == quoted).all(axis=1)
    return found
