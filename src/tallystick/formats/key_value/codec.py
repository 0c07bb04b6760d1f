"""The bytes of a pair.

INLINE: length and bytes of the key, length and bytes of the value, each length four big-endian bytes, −1 for a half
that is not there. SEPARATED: two payloads, of which the key's travels as the record's key.
"""

import struct
from typing import Any

from tallystick.errors import InvalidRecord
from tallystick.finding import Finding, Place
from tallystick.formats.catalogue import format_of
from tallystick.formats.key_value.parse import KeyValueSchema
from tallystick.formats.key_value.source import Half
from tallystick.formats.key_value.validate import error_in_half, validate
from tallystick.model.key_value import KeyValue, KeyValueEncoding

UNREADABLE = "KEY_VALUE_PAYLOAD_UNREADABLE"
SEPARATED = "KEY_VALUE_PAYLOAD_SEPARATED"

_LENGTH = struct.Struct(">i")
_NOT_THERE = -1

Parts = tuple[bytes | None, bytes | None]
"""The payloads of key and value; None for a half that is not there."""


def encode(schema: KeyValueSchema, value: object) -> bytes:
    _require_inline(schema)
    return joined(encode_parts(schema, value))


def encode_parts(schema: KeyValueSchema, value: object) -> Parts:
    """The payloads of key and value, each for itself, whatever the schema's encoding is."""
    findings = validate(schema, value)
    if findings:
        raise InvalidRecord(findings[0].message, findings)
    assert isinstance(value, KeyValue)
    return _encoded(schema, "key", value.key), _encoded(schema, "value", value.value)


def decode(schema: KeyValueSchema, payload: bytes, reader: KeyValueSchema | None = None) -> KeyValue:
    _require_inline(schema)
    return decode_parts(schema, parted(payload), reader)


def decode_parts(schema: KeyValueSchema, parts: Parts, reader: KeyValueSchema | None = None) -> KeyValue:
    key, value = parts
    return KeyValue(_decoded(schema, "key", key, reader), _decoded(schema, "value", value, reader))


def joined(parts: Parts) -> bytes:
    """The payload of an INLINE pair."""
    return b"".join(_framed(part) for part in parts)


def parted(payload: bytes) -> Parts:
    """The parts of an INLINE pair; raises `InvalidRecord` for a payload that is none."""
    key, rest = _taken(payload, 0)
    value, rest = _taken(payload, rest)
    if rest != len(payload):
        raise _refused(UNREADABLE, f"{len(payload) - rest} bytes are left over after key and value")
    return key, value


def _require_inline(schema: KeyValueSchema) -> None:
    if schema.encoding is not KeyValueEncoding.INLINE:
        raise _refused(SEPARATED, "a SEPARATED pair is two payloads, and one alone does not hold it")


def _encoded(schema: KeyValueSchema, half: Half, value: Any) -> bytes | None:
    if value is None:
        return None
    inner = schema.half(half)
    try:
        return format_of(inner.definition.type).encode(inner, value)
    except InvalidRecord as e:
        raise error_in_half(schema, half, e) from e


def _decoded(schema: KeyValueSchema, half: Half, payload: bytes | None, reader: KeyValueSchema | None) -> Any:
    if payload is None:
        return None
    inner = schema.half(half)
    wanted = None if reader is None else reader.half(half)
    # By a schema of another type nothing is resolved: the half is then read as it was written.
    is_resolved = wanted is not None and wanted.definition.type == inner.definition.type
    try:
        return format_of(inner.definition.type).decode(inner, payload, wanted if is_resolved else None)
    except InvalidRecord as e:
        raise error_in_half(schema, half, e) from e


def _framed(part: bytes | None) -> bytes:
    return _LENGTH.pack(_NOT_THERE) if part is None else _LENGTH.pack(len(part)) + part


def _taken(payload: bytes, start: int) -> tuple[bytes | None, int]:
    """The part whose length stands at `start`, and where the next one begins."""
    begin = start + _LENGTH.size
    if len(payload) < begin:
        raise _refused(UNREADABLE, f"the length at offset {start} is cut off")
    (length,) = _LENGTH.unpack_from(payload, start)
    if length == _NOT_THERE:
        return None, begin
    if not 0 <= length <= len(payload) - begin:
        raise _refused(
            UNREADABLE, f"the length at offset {start} says {length}, but {len(payload) - begin} bytes follow"
        )
    return payload[begin : begin + length], begin + length


def _refused(check: str, reason: str) -> InvalidRecord:
    fix = {
        UNREADABLE: "write the pair with a KEY_VALUE schema of encoding INLINE",
        SEPARATED: "encode and decode its parts (encode_parts, decode_parts), or use the encoding INLINE",
    }[check]
    message = f"the payload is not a pair: {reason}" if check == UNREADABLE else reason
    return InvalidRecord(message, [Finding(rule=check, message=message, fix=fix, old=Place(""), new=Place(""))])
