"""The id of a schema of a third-party registry, as the metadata of a message carries it (PIP-420: "a byte array").

Four big-endian bytes for ids below 2³¹, which is what other clients write, eight for the few above; those begin with
four zero bytes. A Protobuf payload is bare here: of a file's messages it is the first one, or else the path to it
follows the id, as in Confluent's frames.
"""

import struct
from dataclasses import dataclass

from tallystick.errors import InvalidArgument, InvalidRecord
from tallystick.model.subject import SchemaId
from tallystick.wire.confluent_frame import FIRST_MESSAGE, MessagePath, path_bytes, read_path

_SHORT = struct.Struct(">I")
_LONG = struct.Struct(">Q")
_ZEROS = bytes(4)
_SHORT_BELOW = 2**31
_LONG_BELOW = 2**32


@dataclass(frozen=True, slots=True)
class ExternalId:
    schema: SchemaId
    message: MessagePath = FIRST_MESSAGE
    """Of Protobuf's files; it says nothing for other schemas."""


def write(id_: ExternalId) -> bytes:
    """Raises `InvalidArgument` for an id that no frame of Kafka could hold."""
    if not 0 < id_.schema < _LONG_BELOW:
        raise InvalidArgument("schema id", f"{id_.schema} does not fit into 32 bits; use a registry with smaller ids")
    number = (_SHORT if id_.schema < _SHORT_BELOW else _LONG).pack(id_.schema)
    return number if id_.message == FIRST_MESSAGE else number + path_bytes(id_.message)


def read(data: bytes) -> ExternalId:
    """Raises `InvalidArgument` for bytes that are no such id: other registries may have ids of other kinds."""
    layout = _LONG if data[:4] == _ZEROS else _SHORT
    if len(data) < layout.size:
        raise _unknown(data)
    (number,) = layout.unpack_from(data)
    message, end = FIRST_MESSAGE, layout.size
    if len(data) > end:
        try:
            message, end = read_path(data, end)
        except InvalidRecord as e:
            raise _unknown(data) from e
    if number == 0 or end != len(data):
        raise _unknown(data)
    return ExternalId(SchemaId(number), message)


def _unknown(data: bytes) -> InvalidArgument:
    shown = data[:16].hex(" ") + (" …" if len(data) > 16 else "")
    return InvalidArgument("schema id", f"{shown or 'no bytes'} is not the number of a schema in four or eight bytes")
