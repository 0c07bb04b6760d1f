"""Marks of schemas in Confluent's frames and headers: byte for byte what Confluent's own code writes, and back."""

from typing import Any
from uuid import UUID

import pytest
from confluent_kafka.schema_registry import (
    SchemaRegistryClient,
    dual_schema_id_deserializer,
    header_schema_id_serializer,
    prefix_schema_id_serializer,
)
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.schema_registry.serde import SchemaId as ConfluentSchemaId
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InvalidRecord
from tallystick.formats import parse
from tallystick.formats.protobuf.types import ProtobufSchema
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import PROTOBUF
from tallystick.model.subject import SchemaId
from tallystick.wire import confluent_frame, schema_frame
from tallystick.wire.confluent_frame import KEY_HEADER, VALUE_HEADER, SchemaMark
from tallystick.wire.schema_frame import SchemaFrame

GUID = UUID("6d7a1b9c-0d4e-4b83-9a50-0f1e2d3c4b5a")
PATHS = st.lists(st.integers(0, 2**20), min_size=1, max_size=6).map(tuple)
IDS = st.integers(0, 2**32 - 1).map(SchemaId)
MARKS = st.builds(SchemaMark, IDS | st.uuids(), st.none() | PATHS)


def theirs(mark: SchemaMark, field: MessageField = MessageField.VALUE) -> tuple[bytes, list[Any]]:
    """The payload "pay" and its headers as Confluent's code writes them."""
    kind = "AVRO" if mark.message is None else "PROTOBUF"
    path = None if mark.message is None else list(mark.message)
    headers: list[Any] = []
    context = SerializationContext("orders", field, headers)
    if isinstance(mark.schema, UUID):
        said = ConfluentSchemaId(kind, None, str(mark.schema), path)
        return header_schema_id_serializer(b"pay", context, said), headers
    return prefix_schema_id_serializer(b"pay", context, ConfluentSchemaId(kind, mark.schema, None, path)), headers


@pytest.mark.parametrize(
    ("mark", "written"),
    [
        (SchemaMark(SchemaId(258)), "00 00000102"),
        (SchemaMark(SchemaId(258), (0,)), "00 00000102 00"),
        (SchemaMark(SchemaId(258), (1,)), "00 00000102 02 02"),
        (SchemaMark(SchemaId(258), (1, 0)), "00 00000102 04 02 00"),
        (SchemaMark(SchemaId(258), (64,)), "00 00000102 02 8001"),
        (SchemaMark(GUID), "01 6d7a1b9c0d4e4b839a500f1e2d3c4b5a"),
        (SchemaMark(GUID, (0,)), "01 6d7a1b9c0d4e4b839a500f1e2d3c4b5a 00"),
    ],
)
def test_the_bytes_of_a_mark(mark: SchemaMark, written: str) -> None:
    assert confluent_frame.write(mark) == bytes.fromhex(written)


@given(MARKS)
def test_we_write_what_confluent_writes(mark: SchemaMark) -> None:
    payload, headers = theirs(mark)
    if isinstance(mark.schema, UUID):
        assert (payload, headers) == (b"pay", [(VALUE_HEADER, confluent_frame.write(mark))])
    else:
        assert (payload, headers) == (confluent_frame.write(mark) + b"pay", [])


def test_key_and_value_have_headers_of_their_own() -> None:
    ((name, _),) = theirs(SchemaMark(GUID), MessageField.KEY)[1]
    assert name == KEY_HEADER


@given(MARKS, st.booleans())
def test_confluent_reads_what_we_write(mark: SchemaMark, in_header: bool) -> None:
    kind = "AVRO" if mark.message is None else "PROTOBUF"
    written = confluent_frame.write(mark)
    headers: list[Any] = [(VALUE_HEADER, written)] if in_header else []
    found = ConfluentSchemaId(kind)
    context = SerializationContext("orders", MessageField.VALUE, headers)
    rest = dual_schema_id_deserializer(b"pay" if in_header else written + b"pay", context, found)
    schema = found.guid if isinstance(mark.schema, UUID) else found.id
    path = None if found.message_indexes is None else tuple(found.message_indexes)
    assert (schema, path, rest.read()) == (mark.schema, mark.message, b"pay")


@given(MARKS)
def test_what_is_written_is_read(mark: SchemaMark) -> None:
    is_protobuf = mark.message is not None
    data = confluent_frame.write(mark) + b"pay"
    found, begin = confluent_frame.read(data, is_protobuf=is_protobuf)
    assert (found, data[begin:]) == (mark, b"pay")
    assert confluent_frame.read_header(confluent_frame.write(mark), is_protobuf=is_protobuf) == mark


@given(IDS, st.binary(max_size=20))
def test_an_id_before_a_payload_is_a_schema_frame(schema_id: SchemaId, payload: bytes) -> None:
    frame = schema_frame.write(SchemaFrame(schema_id, payload))
    assert frame == confluent_frame.write(SchemaMark(schema_id)) + payload


def test_the_first_message_may_be_written_out() -> None:
    found, begin = confluent_frame.read(b"\x00\x00\x00\x00\x07\x02\x00pay", is_protobuf=True)
    assert (found, begin) == (SchemaMark(SchemaId(7), (0,)), 7)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "at least 5 bytes, this one has 0"),
        (b"\x00\x00\x00\x01", "at least 5 bytes, this one has 4"),
        (b"\x01" + GUID.bytes[:15], "at least 17 bytes, this one has 16"),
        (b'{"id":7}', "starts with the byte 00 or 01, this one with 7b"),
        (b"\x00\x00\x00\x00\x07", "cut off"),
        (b"\x00\x00\x00\x00\x07\x04\x02", "cut off"),
        (b"\x00\x00\x00\x00\x07\xff\xff\xff\xff\xff\x01", "no path"),
        (b"\x00\x00\x00\x00\x07\x01", "at most 100 steps, this one -1"),
        (b"\x00\x00\x00\x00\x07\xca\x01", "at most 100 steps, this one 101"),
        (b"\x00\x00\x00\x00\x07\x02\x01", "counts from 0, -1 is less"),
    ],
)
def test_bytes_without_a_mark_are_a_finding(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidRecord, match=reason) as caught:
        confluent_frame.read(data, is_protobuf=True)
    assert [finding.rule for finding in caught.value.findings] == [schema_frame.UNREADABLE]


# What the whole serializers write, with an in-memory registry of Confluent's.


@pytest.fixture
def registry() -> SchemaRegistryClient:
    return SchemaRegistryClient.new_client({"url": "mock://frames"})


def test_the_avro_serializer(registry: SchemaRegistryClient) -> None:
    framed = AvroSerializer(registry, '"long"')(7, SerializationContext("orders", MessageField.VALUE))
    mark, begin = confluent_frame.read(framed)
    assert (mark.message, framed[begin:]) == (None, b"\x0e")
    assert registry.get_schema(int(mark.schema)).schema_str == '{"type":"long"}'


PROTO = """syntax = "proto3";
package shop;
message Order { int64 id = 1; message Line { string what = 1; message Gift { int32 of = 1; } } }
message Parcel { int64 id = 1; }
"""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shop.Order", {"id": 7}),
        ("shop.Parcel", {"id": 7}),
        ("shop.Order.Line", {"what": "tea"}),
        ("shop.Order.Line.Gift", {"of": 3}),
    ],
)
@pytest.mark.parametrize("in_header", [False, True])
def test_the_protobuf_serializer(
    registry: SchemaRegistryClient, name: str, value: dict[str, Any], in_header: bool
) -> None:
    schema = parse(SchemaDefinition(PROTOBUF, PROTO))
    assert isinstance(schema, ProtobufSchema)
    record = _generated(schema, name)(**value)
    conf = {"schema.id.serializer": header_schema_id_serializer} if in_header else {}
    headers: list[Any] = []
    framed = ProtobufSerializer(type(record), registry, conf)(
        record, SerializationContext("orders", MessageField.VALUE, headers)
    )
    data = headers[0][1] if in_header else framed
    mark, begin = confluent_frame.read(data, is_protobuf=True)
    assert mark.message == schema.index_of(name)
    assert confluent_frame.write(mark) == data[:begin]
    assert (framed if in_header else framed[begin:]) == record.SerializeToString()


def _generated(schema: ProtobufSchema, name: str) -> Any:
    pool = descriptor_pool.DescriptorPool()
    file = descriptor_pb2.FileDescriptorProto()
    file.CopyFrom(schema.types.main)
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
