import pytest

from tallystick.errors import InvalidRecord
from tallystick.formats.catalogue import parse
from tallystick.formats.protobuf import FORMAT
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import PROTOBUF

TEXT = """
syntax = "proto2";
message Record {
  optional Inner inner = 6; repeated Inner list = 7; map<string, Inner> by_name = 8; map<string, int32> numbers = 5;
}
message Inner { required int32 x = 1; }
"""


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        (b"\x32\x00", "inner.x"),
        (b"\x3a\x02\x08\x01\x3a\x00", r"list\[1\].x"),
        (b"\x42\x05\x0a\x01k\x12\x00", r"by_name\[k\].x"),
    ],
)
def test_a_missing_required_field_is_named_by_its_path(payload: bytes, path: str) -> None:
    schema = parse(SchemaDefinition(PROTOBUF, TEXT))
    with pytest.raises(InvalidRecord, match=f"required fields are missing: {path}$"):
        FORMAT.decode(schema, payload)


def test_a_map_of_numbers_beside_it_does_not_end_the_process() -> None:
    schema = parse(SchemaDefinition(PROTOBUF, TEXT))
    with pytest.raises(InvalidRecord, match=r"required fields are missing: inner\.x$"):
        FORMAT.decode(schema, b"\x2a\x04\x0a\x00\x10\x00\x32\x00")


def test_the_key_of_a_map_that_is_no_utf8_is_refused() -> None:
    schema = parse(SchemaDefinition(PROTOBUF, TEXT))
    with pytest.raises(InvalidRecord, match=r"the string Record\.NumbersEntry\.key is no UTF-8"):
        FORMAT.decode(schema, b"\x2a\x05\x0a\x01\xff\x10\x00")
