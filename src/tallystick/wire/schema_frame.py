"""The frame of a record: a zero byte, the schema id as four big-endian bytes, the payload."""

import struct
from dataclasses import dataclass

from tallystick.errors import InvalidRecord
from tallystick.finding import Finding, Place
from tallystick.model.subject import SchemaId

UNREADABLE = "SCHEMA_FRAME_UNREADABLE"

_MAGIC = 0
_HEAD = struct.Struct(">BI")


@dataclass(frozen=True, slots=True)
class SchemaFrame:
    schema_id: SchemaId
    payload: bytes


def write(frame: SchemaFrame) -> bytes:
    return _HEAD.pack(_MAGIC, frame.schema_id) + frame.payload


def read(data: bytes) -> SchemaFrame:
    """Id and payload; raises `InvalidRecord` for bytes that are no frame."""
    if len(data) < _HEAD.size:
        raise unreadable(f"a frame has at least {_HEAD.size} bytes, this one has {len(data)}")
    magic, schema_id = _HEAD.unpack_from(data)
    if magic != _MAGIC:
        raise unreadable(f"a frame starts with the byte 00, this one with {magic:02x}")
    return SchemaFrame(SchemaId(schema_id), data[_HEAD.size :])


def unreadable(reason: str) -> InvalidRecord:
    finding = Finding(
        rule=UNREADABLE,
        message=reason,
        fix="write the record with a serializer that puts the schema id first, or change the topic's framing",
        old=Place(""),
        new=Place(""),
    )
    return InvalidRecord(f"the record is not framed: {reason}", [finding])
