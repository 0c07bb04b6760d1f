"""How Confluent's serializers say which schema a record of Kafka has.

A magic byte and the schema: `00` and its id as four big-endian bytes, or `01` and the 16 bytes of its GUID. For
Protobuf the path to the message follows, from the messages of the file inwards. All of this stands before the payload,
or alone in the header of the key or of the value; then the payload is bare. By default Confluent's serializers write
ids before payloads and GUIDs into headers; their deserializers read both in both places, and so do we.
"""

import struct
from dataclasses import dataclass
from uuid import UUID

from tallystick.model.subject import SchemaId
from tallystick.wire.schema_frame import unreadable

KEY_HEADER = "__key_schema_id"
VALUE_HEADER = "__value_schema_id"

MessagePath = tuple[int, ...]
"""(1, 0) is the first message inside the second one of the file."""

FIRST_MESSAGE: MessagePath = (0,)

_ID = struct.Struct(">BI")
_ID_MAGIC, _GUID_MAGIC = 0, 1
_GUID_END = 1 + 16
_DEEPEST = 100
_LONGEST_VARINT = 5


@dataclass(frozen=True, slots=True)
class SchemaMark:
    """Which schema, and for Protobuf which message of it."""

    schema: SchemaId | UUID
    message: MessagePath | None = None


def write(mark: SchemaMark) -> bytes:
    """What stands before the payload, or in a header."""
    path = b"" if mark.message is None else path_bytes(mark.message)
    if isinstance(mark.schema, UUID):
        return bytes([_GUID_MAGIC]) + mark.schema.bytes + path
    return _ID.pack(_ID_MAGIC, mark.schema) + path


def read(data: bytes, *, is_protobuf: bool = False) -> tuple[SchemaMark, int]:
    """The mark and where the payload begins; raises `InvalidRecord` for bytes that have none.

    Only the schema tells whether it is of Protobuf: who does not know it yet reads the schema first, and then all.
    """
    schema, end = _schema(data)
    if not is_protobuf:
        return SchemaMark(schema), end
    message, end = read_path(data, end)
    return SchemaMark(schema, message), end


def read_header(value: bytes, *, is_protobuf: bool = False) -> SchemaMark:
    """The mark in a header. Bytes after it are ignored, as Confluent's deserializers do."""
    return read(value, is_protobuf=is_protobuf)[0]


def _schema(data: bytes) -> tuple[SchemaId | UUID, int]:
    magic = data[0] if data else None
    if magic == _ID_MAGIC and len(data) >= _ID.size:
        return SchemaId(_ID.unpack_from(data)[1]), _ID.size
    if magic == _GUID_MAGIC and len(data) >= _GUID_END:
        return UUID(bytes=data[1:_GUID_END]), _GUID_END
    if magic == _ID_MAGIC or magic is None:
        raise unreadable(f"a frame has at least {_ID.size} bytes, this one has {len(data)}")
    if magic == _GUID_MAGIC:
        raise unreadable(f"a frame with a GUID has at least {_GUID_END} bytes, this one has {len(data)}")
    raise unreadable(f"a frame starts with the byte 00 or 01, this one with {magic:02x}")


def path_bytes(path: MessagePath) -> bytes:
    """The path alone, as it stands in a mark."""
    # The first message is the rule, so it has a short form: a path of no steps.
    return b"\x00" if path == FIRST_MESSAGE else b"".join(map(_varint, (len(path), *path)))


def read_path(data: bytes, start: int) -> tuple[MessagePath, int]:
    """The path that begins at `start`, and where it ends; raises `InvalidRecord` where there is none."""
    steps, at = _read_varint(data, start)
    if not 0 <= steps <= _DEEPEST:
        raise unreadable(f"a path to a message has at most {_DEEPEST} steps, this one {steps}")
    path = []
    for _ in range(steps):
        step, at = _read_varint(data, at)
        if step < 0:
            raise unreadable(f"a step of the path to a message counts from 0, {step} is less")
        path.append(step)
    return tuple(path) or FIRST_MESSAGE, at


def _varint(number: int) -> bytes:
    """Zigzag, as Confluent writes counts and steps; neither is ever negative."""
    rest, out = number << 1, bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    out.append(rest)
    return bytes(out)


def _read_varint(data: bytes, start: int) -> tuple[int, int]:
    value = 0
    for i, byte in enumerate(data[start : start + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << 7 * i
        if not byte & 0x80:
            return (value >> 1) ^ -(value & 1), start + i + 1
    raise unreadable("the path to the message is cut off, or no path")
