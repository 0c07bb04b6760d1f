"""Schema frames and mesh frames: bytes that are none are told why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InvalidRecord
from tallystick.model.subject import SchemaId
from tallystick.wire import mesh_frame, schema_frame
from tallystick.wire.mesh_frame import MeshFrame
from tallystick.wire.schema_frame import UNREADABLE, SchemaFrame

FRAMES = st.builds(SchemaFrame, st.integers(0, 2**32 - 1).map(SchemaId), st.binary(max_size=50))


def test_a_frame_is_a_zero_byte_the_id_and_the_payload() -> None:
    assert schema_frame.write(SchemaFrame(SchemaId(258), b"pay")) == b"\x00\x00\x00\x01\x02pay"


def test_a_mesh_frame_has_its_status_first() -> None:
    frame = SchemaFrame(SchemaId(7), b"x")
    assert mesh_frame.write(MeshFrame(True, frame)) == b"\x01\x00\x00\x00\x00\x07x"
    assert mesh_frame.write(MeshFrame(False, frame)) == b"\x00\x00\x00\x00\x00\x07x"


@given(FRAMES, st.booleans())
def test_what_is_written_is_read(frame: SchemaFrame, is_validated: bool) -> None:
    assert schema_frame.read(schema_frame.write(frame)) == frame
    mesh = MeshFrame(is_validated, frame)
    assert mesh_frame.read(mesh_frame.write(mesh)) == mesh


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"", "5 bytes"), (b"\x00\x00\x00\x01", "5 bytes"), (b'{"a":1}', "with 7b")],
)
def test_a_record_without_a_frame_is_a_finding(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidRecord, match=reason) as caught:
        schema_frame.read(data)
    assert [finding.rule for finding in caught.value.findings] == [UNREADABLE]


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"", "with none"), (b"\x02\x00\x00\x00\x00\x07", "not 02"), (b"\x01", "5 bytes"), (b"\x01\x05xxxx", "with 05")],
)
def test_a_record_without_a_mesh_frame_is_a_finding(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidRecord, match=reason):
        mesh_frame.read(data)
