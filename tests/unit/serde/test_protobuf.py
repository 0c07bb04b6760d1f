"""Protobuf from texts and generated classes, as `.proto` texts and as Pulsar's descriptor sets."""

import base64
import json
from typing import Any, assert_type

import pytest
from google.protobuf.api_pb2 import Api, Method
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.timestamp_pb2 import Timestamp

from tallystick.errors import InvalidArgument, InvalidRecord, InvalidSchema
from tallystick.formats import parse
from tallystick.formats.protobuf import ProtobufSchema as ParsedProtobuf
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import PROTOBUF, PROTOBUF_NATIVE
from tallystick.serde import AvroSchema, ProtobufNativeSchema, ProtobufSchema
from tallystick.wire.pulsar.pulsar_pb2 import MessageIdData

SHOP = """
syntax = "proto3";
package shop;
message Order { int64 id = 1; repeated Line lines = 2; }
message Line { string sku = 1; }
"""
GROWN = SHOP.replace("int64 id = 1;", "int64 id = 1; string note = 3;")
REQUIRED = 'syntax = "proto2"; message Order { required int64 id = 1; }'


def generated(text: str, name: str) -> Any:
    """A message class as protoc generates it."""
    schema = parse(SchemaDefinition(PROTOBUF, text))
    assert isinstance(schema, ParsedProtobuf)
    return schema.types.record_class(name)


def test_what_is_read_is_what_the_source_says() -> None:
    assert_type(ProtobufSchema(SHOP), ProtobufSchema[dict[str, Any]])
    assert_type(ProtobufSchema(Timestamp), ProtobufSchema[Timestamp])
    assert_type(ProtobufNativeSchema(Timestamp), ProtobufNativeSchema[Timestamp])


def test_dicts_are_values_of_texts() -> None:
    schema, value = ProtobufSchema(SHOP), {"id": 7, "lines": [{"sku": "a"}]}
    assert schema.decode("t", schema.to_payload(value), None) == value


def test_a_text_with_several_messages_is_told_which() -> None:
    schema = ProtobufSchema(SHOP, message="shop.Line")
    assert schema.decode("t", schema.to_payload({"sku": "a"}), None) == {"sku": "a"}
    with pytest.raises(InvalidSchema, match="which is no message of the text"):
        ProtobufSchema(SHOP, message="shop.Lime").to_payload({})


@pytest.mark.parametrize("make", [ProtobufSchema, ProtobufNativeSchema])
def test_instances_of_generated_classes_survive(make: Any) -> None:
    schema = make(Api)
    api = Api(name="orders", methods=[Method(name="get", request_type_url="x")], version="1")
    read = schema.decode("t", schema.to_payload(api), None)
    assert type(read) is Api
    assert read == api


@pytest.mark.parametrize("make", [ProtobufSchema, ProtobufNativeSchema])
def test_classes_take_dicts_too(make: Any) -> None:
    schema = make(MessageIdData)
    assert schema.decode("t", schema.to_payload({"ledgerId": 3, "entryId": 4}), None) == MessageIdData(
        ledgerId=3, entryId=4
    )


def test_other_messages_have_findings() -> None:
    for schema in (ProtobufSchema(Timestamp), ProtobufNativeSchema(Timestamp)):
        with pytest.raises(InvalidRecord) as refused:
            schema.encode("t", Method(name="get"))  # type: ignore[arg-type]
        assert [finding.rule for finding in refused.value.findings] == ["PROTOBUF_VALUE_WRONG_MESSAGE"]


@pytest.mark.parametrize("make", [ProtobufSchema, ProtobufNativeSchema])
def test_required_fields_that_are_missing_have_findings(make: Any) -> None:
    order = generated(REQUIRED, "Order")
    schema = make(order)
    with pytest.raises(InvalidRecord, match="the required field id is missing"):
        schema.encode("t", order())
    with pytest.raises(InvalidRecord, match="required fields are missing: id"):
        schema.decode("t", b"", None)


@pytest.mark.parametrize("make", [ProtobufSchema, ProtobufNativeSchema])
def test_payloads_that_are_none_have_findings(make: Any) -> None:
    with pytest.raises(InvalidRecord) as refused:
        make(Timestamp).decode("t", b"\xff\xff", None)
    assert [finding.rule for finding in refused.value.findings] == ["PROTOBUF_PAYLOAD_CORRUPT"]


def test_a_class_becomes_the_descriptor_of_its_file() -> None:
    schema = ProtobufSchema(generated(SHOP, "shop.Line"))
    parsed = schema.parsed
    assert isinstance(parsed, ParsedProtobuf)
    assert parsed.root == "shop.Line"
    assert parsed.types.has_message("shop.Order")


def test_a_class_is_read_with_its_text_and_back() -> None:
    line = generated(SHOP, "shop.Line")
    of_class, of_text = ProtobufSchema(line), ProtobufSchema(SHOP, message="Line")
    payload = of_class.to_payload(line(sku="a"))
    assert of_text.reader_of("t", of_class.definition, None)(payload, None) == {"sku": "a"}
    assert of_class.reader_of("t", of_text.definition, None)(payload, None) == line(sku="a")


def test_pulsars_text_names_root_and_file() -> None:
    parts = json.loads(ProtobufNativeSchema(Api).definition.text)
    assert list(parts) == ["fileDescriptorSet", "rootMessageTypeName", "rootFileDescriptorName"]
    assert parts["rootMessageTypeName"] == "google.protobuf.Api"
    files = FileDescriptorSet.FromString(base64.b64decode(parts["fileDescriptorSet"]))
    assert [file.name for file in files.file][-1] == parts["rootFileDescriptorName"] == "google/protobuf/api.proto"
    assert {needed for file in files.file for needed in file.dependency} < {file.name for file in files.file}


def test_the_writers_fields_are_read_by_the_readers_message() -> None:
    order = generated(SHOP, "shop.Order")
    writer = ProtobufSchema(GROWN)
    payload = writer.to_payload({"id": 1, "note": "n", "lines": []})
    assert ProtobufSchema(order).reader_of("t", writer.definition, None)(payload, None).id == 1
    assert ProtobufSchema(SHOP).reader_of("t", writer.definition, None)(payload, None) == {"id": 1, "lines": []}


def test_a_message_that_the_writer_does_not_have_is_told() -> None:
    read = ProtobufSchema(Timestamp).reader_of("t", ProtobufSchema(SHOP).definition, None)
    with pytest.raises(
        InvalidRecord, match=r"written as shop\.Order, and is read as google\.protobuf\.Timestamp"
    ) as refused:
        read(b"", None)
    assert [finding.rule for finding in refused.value.findings] == ["READER_MESSAGE_DIFFERS"]


def test_a_writer_that_says_it_sent_another_message_is_believed() -> None:
    line = generated(SHOP, "shop.Line")
    said = SchemaDefinition(PROTOBUF, SHOP, properties={"message": "shop.Order"})
    with pytest.raises(InvalidRecord, match=r"written as shop\.Order, and is read as shop\.Line"):
        ProtobufSchema(line).reader_of("t", said, None)(b"", None)
    silent = SchemaDefinition(PROTOBUF, SHOP)
    assert ProtobufSchema(line).reader_of("t", silent, None)(line(sku="a").SerializeToString(), None) == line(sku="a")


def test_pulsars_roots_are_read_whatever_their_names() -> None:
    grown = generated(GROWN.replace("package shop", "package trade"), "trade.Order")
    order = generated(SHOP, "shop.Order")
    writer, reader = ProtobufNativeSchema(grown), ProtobufNativeSchema(order)
    assert writer.definition.type == PROTOBUF_NATIVE
    read = reader.reader_of("t", writer.definition, None)
    assert read(writer.to_payload(grown(id=4, note="n")), None).id == 4


def test_imports_are_references_or_part_of_the_set() -> None:
    money = SchemaDefinition(PROTOBUF, 'syntax = "proto3"; message Money { int64 cents = 1; }')
    text = 'syntax = "proto3"; import "money.proto"; message Price { Money money = 1; }'
    references = {Reference("money.proto", "money", 1): money}
    schema = parse(SchemaDefinition(PROTOBUF, text, tuple(references)), references)
    assert isinstance(schema, ParsedProtobuf)
    price: Any = schema.types.record_class("Price")
    with pytest.raises(InvalidSchema, match=r"imports money\.proto.*ProtobufNativeSchema"):
        ProtobufSchema(price)
    for of_class in (ProtobufSchema(price, references=references), ProtobufNativeSchema(price)):
        value = price(money={"cents": 5})
        assert of_class.decode("t", of_class.to_payload(value), None) == value


@pytest.mark.parametrize("make", [ProtobufSchema, ProtobufNativeSchema])
def test_other_sources_are_refused(make: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"int is not .*a class that protoc generated"):
        make(int)


def test_other_types_of_schemas_are_told() -> None:
    read = ProtobufSchema(SHOP).reader_of("t", AvroSchema('"string"').definition, None)
    with pytest.raises(InvalidRecord, match="type AVRO, and is read with one of type PROTOBUF"):
        read(b"", None)
