"""Frames before payloads, taken off and put on for whole columns."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tallystick.spark.source.options import SourceFraming

_LONGEST = 2**31 - 1
_HEAD = 5
"""A zero byte and the id in four."""


class Framed(NamedTuple):
    """Payloads without their frames, and what these said; None where the framing has nothing of the kind."""

    payload: pa.Array
    schema_id: pa.Array | None = None
    schema_mark: pa.Array | None = None
    """No bytes at all where there is no frame, and null where there is one, or no payload."""
    status: pa.Array | None = None


def unframed(framing: SourceFraming, payload: pa.Array) -> Framed:
    """What has no frame keeps its payload as it came."""
    if framing is SourceFraming.TRANSPORT:
        return Framed(payload)
    has_status = framing is SourceFraming.MESH
    head = _HEAD + has_status
    heads, is_framed = _heads(payload, head)
    is_framed &= heads[:, head - _HEAD] == 0
    if has_status:
        is_framed &= heads[:, 0] <= 1
    numbers = np.ascontiguousarray(heads[:, head - 4 :]).view(">u4").reshape(-1).astype(np.int64)
    framed = pa.array(is_framed)
    # Arrow miscounts what it needs for slices without an end.
    bare = pc.if_else(framed, pc.binary_slice(payload, head, _LONGEST), payload)
    no_frame = pc.and_(pc.invert(framed), pc.is_valid(payload))
    return Framed(
        bare,
        pa.array(numbers, mask=~is_framed),
        pc.if_else(no_frame, pa.scalar(b"", pa.binary()), pa.scalar(None, pa.binary())),
        pa.array(heads[:, 0].astype(np.int32), mask=~is_framed) if has_status else None,
    )


def _heads(
    payload: pa.Array, size: int
) -> "tuple[np.ndarray[tuple[int, int], np.dtype[np.uint8]], np.ndarray[tuple[int], np.dtype[np.bool_]]]":
    """The first bytes of each payload, and where there are so many."""
    is_long = pc.fill_null(pc.greater_equal(pc.binary_length(payload), size), False)
    padded = pc.if_else(is_long, pc.binary_slice(payload, 0, size), pa.scalar(b"\xff" * size, pa.binary()))
    fixed = padded.cast(pa.binary(size))
    raw = np.frombuffer(fixed.buffers()[1], np.uint8, len(fixed) * size, fixed.offset * size)
    return raw.reshape(-1, size), is_long.to_numpy(zero_copy_only=False).copy()


def framed(framing: SourceFraming, payload: pa.Array, schema_id: pa.Array, status: pa.Array) -> pa.Array:
    """The payloads with their frames. What has no id goes as it is, and so does null."""
    if framing is SourceFraming.TRANSPORT:
        return payload
    count = len(payload)
    frame = np.zeros((count, _HEAD), np.uint8)
    numbers = pc.fill_null(schema_id, 0).to_numpy(zero_copy_only=False).astype(">u4")
    frame[:, 1:] = numbers.view(np.uint8).reshape(-1, 4)
    parts = [frame]
    if framing is SourceFraming.MESH:
        parts.insert(0, pc.fill_null(status, 0).to_numpy(zero_copy_only=False).astype(np.uint8).reshape(-1, 1))
    heads = np.ascontiguousarray(np.hstack(parts))
    width = heads.shape[1]
    head = pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), count, [None, pa.py_buffer(heads)]).cast(pa.binary())
    whole = pc.binary_join_element_wise(head, payload, pa.scalar(b"", pa.binary()))
    return pc.if_else(pc.is_valid(schema_id), whole, payload)
