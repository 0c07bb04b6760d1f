"""Batches again, for those who write and read many of them: what most messages have is written and read by hand.

Most messages of a batch have a size and a sequence id and nothing else. All else goes through the protobuf library, or
is put together here from its parts; both ways mean the same bytes.
"""

import struct
from base64 import b64encode
from collections.abc import Mapping, Sequence

from tallystick.wire.pulsar import messages
from tallystick.wire.pulsar.faults import MalformedFrame
from tallystick.wire.pulsar.pulsar_pb2 import SingleMessageMetadata

_SIZE = struct.Struct(">I")
_NULL_VALUE = b"\x48\x01"
_KEY_IS_BASE64 = b"\x30\x01"
_MORE = [bytes((low | 0x80,)) for low in range(128)]
_LAST = [bytes((low,)) for low in range(128)]
_read_size = _SIZE.unpack_from


def varint(number: int) -> bytes:
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def _field(tag: int, data: bytes) -> bytes:
    return bytes((tag,)) + varint(len(data)) + data


def fields(
    *,
    is_null: bool = False,
    key: bytes | None = None,
    is_key_text: bool = True,
    properties: Mapping[str, str] | None = None,
    event_time_ms: int | None = None,
    ordering_key: bytes | None = None,
) -> bytes:
    """What the metadata of one message has beside its size and its sequence id."""
    parts = [_property(name, value) for name, value in properties.items()] if properties else []
    if key is not None:
        parts.append(_field(0x12, key if is_key_text else b64encode(key)))
        if not is_key_text:
            parts.append(_KEY_IS_BASE64)
    if event_time_ms is not None:
        parts.append(b"\x28" + varint(event_time_ms))
    if ordering_key is not None:
        parts.append(_field(0x3A, ordering_key))
    if is_null:
        parts.append(_NULL_VALUE)
    return b"".join(parts)


def _property(name: str, value: str) -> bytes:
    return _field(0x0A, _field(0x0A, name.encode()) + _field(0x12, value.encode()))


def join_singles(payloads: Sequence[bytes], first_sequence_id: int, more: Mapping[int, bytes]) -> bytes:
    """The payload of a batch whose sequence ids follow each other. `more` has other fields by index."""
    parts: list[bytes] = []
    add = parts.append
    heads: dict[int, bytes] = {}
    number, upper, upper_bytes, lower = first_sequence_id, -1, b"", _LAST
    for index, payload in enumerate(payloads):
        if number >> 7 != upper:
            # Only the first byte of the sequence id changes until here again.
            upper = number >> 7
            upper_bytes, lower = (varint(upper), _MORE) if upper else (b"", _LAST)
            heads = {}
        head = heads.get(len(payload))
        if head is None:
            own = b"\x18" + varint(len(payload)) + b"\x40"
            head = heads[len(payload)] = _SIZE.pack(len(own) + 1 + len(upper_bytes)) + own
        if more and index in more:
            extra = more[index]
            (size,) = _SIZE.unpack_from(head)
            head = _SIZE.pack(size + len(extra)) + extra + head[_SIZE.size :]
        add(head + lower[number & 0x7F] + upper_bytes)
        add(payload)
        number += 1
    return b"".join(parts)


Single = tuple[int, int, int | None, SingleMessageMetadata | None]
"""A message of a batch: where its payload starts and ends, its sequence id, and its metadata where it has more."""


def split_singles(data: bytes, count: int) -> list[Single]:
    """The messages of an uncompressed batch; `MalformedFrame` where it holds fewer.

    A metadata that differs from an earlier one of the batch by the next sequence id alone is not parsed again.
    """
    found: list[Single] = []
    begin, length = 0, len(data)
    sizes: dict[bytes, int] = {}
    sequence_id: int | None = None
    tail, upper_bytes, lower, cut = b"", b"", _LAST, None
    for number in range(1, count + 1):
        start = begin + 4
        if start > length:
            raise MalformedFrame(f"a batch of {count} messages ends before message {number}")
        end = start + _read_size(data, begin)[0]
        own, metadata = data[start:end], None
        if sequence_id is not None:
            sequence_id += 1
            if not sequence_id & 0x7F:
                upper_bytes, lower = varint(sequence_id >> 7), _MORE
                cut = -1 - len(upper_bytes)
            tail = lower[sequence_id & 0x7F] + upper_bytes
        size = sizes.get(own[:cut]) if own.endswith(tail) else None
        if size is None:
            metadata = messages.read(SingleMessageMetadata, own, f"the metadata of message {number} in a batch")
            size = metadata.payload_size
            sequence_id, tail, upper_bytes, lower, cut = None, b"", b"", _LAST, None
            if metadata.HasField("sequence_id"):
                sequence_id = metadata.sequence_id
                if sequence_id >> 7:
                    upper_bytes, lower = varint(sequence_id >> 7), _MORE
                cut = -1 - len(upper_bytes)
                tail = b"\x40" + lower[sequence_id & 0x7F] + upper_bytes
            if own == b"\x18" + varint(max(size, 0)) + tail:
                metadata = None
                sizes[own[:cut]] = size
        begin = end + size
        if not end <= begin <= length:
            raise MalformedFrame(f"message {number} in a batch says it has {size} bytes, more than left")
        found.append((end, begin, sequence_id, metadata))
    return found
