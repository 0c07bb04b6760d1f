"""The frame of a record inside a mesh: a status byte, then the schema frame."""

from dataclasses import dataclass

from tallystick.wire import schema_frame
from tallystick.wire.schema_frame import SchemaFrame

_NOT_YET = b"\x00"
_VALIDATED = b"\x01"


@dataclass(frozen=True, slots=True)
class MeshFrame:
    is_validated: bool
    frame: SchemaFrame


def write(mesh: MeshFrame) -> bytes:
    return (_VALIDATED if mesh.is_validated else _NOT_YET) + schema_frame.write(mesh.frame)


def read(data: bytes) -> MeshFrame:
    """Status and frame; raises `InvalidRecord` for bytes that are no mesh frame."""
    status = data[:1]
    if status not in (_NOT_YET, _VALIDATED):
        raise schema_frame.unreadable(f"a mesh frame starts with the byte 00 or 01, not {status.hex() or 'with none'}")
    return MeshFrame(status == _VALIDATED, schema_frame.read(data[1:]))
