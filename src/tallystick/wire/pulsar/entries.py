"""Entries: a message or a batch of them with its metadata, as SEND brings and MESSAGE delivers it.

An entry is the magic `0x0e01`, the CRC32-C of all that follows it, the metadata's size, the metadata
(`MessageMetadata`) and the payload. Brokers may put a block of their own before it: `0x0e02`, a size and a
`BrokerEntryMetadata`.
"""

import struct
from dataclasses import dataclass

from crc32c import crc32c

from tallystick.wire.pulsar import messages
from tallystick.wire.pulsar.faults import ChecksumMismatch, MalformedFrame
from tallystick.wire.pulsar.pulsar_pb2 import MessageMetadata

_CHECKSUM_MAGIC = 0x0E01
_BROKER_MAGIC = 0x0E02
_HEAD = struct.Struct(">HII")
_CHECKSUM = struct.Struct(">HI")
_SIZE = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class ParsedEntry:
    metadata: MessageMetadata
    payload: memoryview
    """Compressed and encrypted as the producer left it; where the metadata counts messages, a batch."""


def parse_entry(entry: bytes | memoryview, *, verify: bool = True) -> ParsedEntry:
    """Metadata and payload; raises `MalformedFrame`, and `ChecksumMismatch` where it is to be verified."""
    view = memoryview(entry)
    try:
        start = _after_broker_block(view)
        magic, stated, size = _HEAD.unpack_from(view, start)
    except struct.error as e:
        raise MalformedFrame(f"an entry of {len(view)} bytes is cut off before its metadata") from e
    if magic != _CHECKSUM_MAGIC:
        raise MalformedFrame("an entry has no checksum; use a client of protocol version 6 or later")
    if verify and (computed := crc32c(view[start + _CHECKSUM.size :])) != stated:
        raise ChecksumMismatch(stated, computed)
    begin = start + _HEAD.size
    payload = begin + size
    if payload > len(view):
        raise MalformedFrame(f"an entry's metadata says it has {size} bytes, more than there are")
    return ParsedEntry(
        messages.read(MessageMetadata, bytes(view[begin:payload]), "an entry's metadata"), view[payload:]
    )


def _after_broker_block(view: memoryview) -> int:
    magic, size = _CHECKSUM.unpack_from(view)
    return _CHECKSUM.size + int(size) if magic == _BROKER_MAGIC else 0


def build_entry(metadata: MessageMetadata, payload: bytes | memoryview) -> bytes:
    """The entry of a payload, with its checksum."""
    data = metadata.SerializeToString()
    head = _SIZE.pack(len(data)) + data
    checksum = crc32c(payload, crc32c(head))
    return b"".join((_CHECKSUM.pack(_CHECKSUM_MAGIC, checksum), head, payload))
