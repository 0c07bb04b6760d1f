"""Batches: a payload that holds several messages, each after its size and its own metadata."""

import struct
from collections.abc import Iterable, Iterator

from tallystick.wire.pulsar import messages
from tallystick.wire.pulsar.faults import MalformedFrame
from tallystick.wire.pulsar.pulsar_pb2 import SingleMessageMetadata

_SIZE = struct.Struct(">I")


def split(payload: bytes | memoryview, count: int) -> Iterator[tuple[SingleMessageMetadata, memoryview]]:
    """The `count` messages of an uncompressed payload; `MalformedFrame` where it holds fewer."""
    view = memoryview(payload)
    start = 0
    for number in range(1, count + 1):
        if start + _SIZE.size > len(view):
            raise MalformedFrame(f"a batch of {count} messages ends before message {number}")
        (size,) = _SIZE.unpack_from(view, start)
        begin = start + _SIZE.size + int(size)
        if begin > len(view):
            raise MalformedFrame(
                f"the metadata of message {number} in a batch says it has {size} bytes, more than left"
            )
        metadata = messages.read(
            SingleMessageMetadata,
            bytes(view[start + _SIZE.size : begin]),
            f"the metadata of message {number} in a batch",
        )
        start = begin + metadata.payload_size
        if not begin <= start <= len(view):
            raise MalformedFrame(
                f"message {number} in a batch says it has {metadata.payload_size} bytes, more than left"
            )
        yield metadata, view[begin:start]


def join(batch: Iterable[tuple[SingleMessageMetadata, bytes | memoryview]]) -> bytes:
    """The payload of these messages, not yet compressed. Their `payload_size` is set here."""
    parts: list[bytes | memoryview] = []
    for metadata, payload in batch:
        metadata.payload_size = len(payload)
        data = metadata.SerializeToString()
        parts += (_SIZE.pack(len(data)), data, payload)
    return b"".join(parts)
