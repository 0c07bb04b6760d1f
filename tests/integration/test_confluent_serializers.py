"""Confluent's serializers and deserializers for Python, unmodified, against our server; they need no broker."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext, SerializationError
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2

from tests.servers import RunningRegistry, running_registry

ORDER = '{"type":"record","name":"shop.Order","fields":[{"name":"id","type":"long"}]}'
WITH_NOTE = (
    '{"type":"record","name":"shop.Order","fields":[{"name":"id","type":"long"},'
    '{"name":"note","type":"string","default":"none"}]}'
)
JSON_ORDER = '{"title":"Order","type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}'

ORDERS = SerializationContext("orders", MessageField.VALUE)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path) as running:
        yield running


@pytest.fixture
def client(server: RunningRegistry) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": server.confluent}) as ready:
        yield ready


def _fresh(server: RunningRegistry) -> SchemaRegistryClient:
    """A client that has nothing in its caches."""
    return SchemaRegistryClient({"url": server.confluent})


def test_avro(client: SchemaRegistryClient, server: RunningRegistry) -> None:
    payload = AvroSerializer(client, ORDER)({"id": 7}, ORDERS)
    assert payload[:5] == b"\x00\x00\x00\x00\x01"
    with _fresh(server) as reader:
        assert AvroDeserializer(reader)(payload, ORDERS) == {"id": 7}
        assert AvroDeserializer(reader, WITH_NOTE)(payload, ORDERS) == {"id": 7, "note": "none"}
    assert client.get_subjects() == ["orders-value"]


def test_avro_refuses_an_incompatible_schema(client: SchemaRegistryClient) -> None:
    AvroSerializer(client, ORDER)({"id": 7}, ORDERS)
    broken = ORDER.replace('"long"', '"string"')
    with pytest.raises(SchemaRegistryError) as refused:
        AvroSerializer(client, broken)({"id": "7"}, ORDERS)
    assert refused.value.http_status_code == 409


def test_avro_with_the_latest_version(client: SchemaRegistryClient, server: RunningRegistry) -> None:
    client.register_schema("orders-value", Schema(ORDER, "AVRO"))
    client.register_schema("orders-value", Schema(WITH_NOTE, "AVRO"))
    conf = {"auto.register.schemas": False, "use.latest.version": True}
    payload = AvroSerializer(client, ORDER, conf=conf)({"id": 7, "note": "n"}, ORDERS)
    assert payload[4] == 2
    with _fresh(server) as reader:
        assert AvroDeserializer(reader)(payload, ORDERS) == {"id": 7, "note": "n"}


def test_avro_normalized(client: SchemaRegistryClient) -> None:
    client.register_schema("orders-value", Schema(ORDER, "AVRO"))
    written_otherwise = '{"fields":[{"type":"long","name":"id"}],"namespace":"shop","name":"Order","type":"record"}'
    conf = {"normalize.schemas": True}
    assert AvroSerializer(client, written_otherwise, conf=conf)({"id": 7}, ORDERS)[4] == 1
    conf = {"auto.register.schemas": False, "normalize.schemas": True}
    assert AvroSerializer(client, written_otherwise, conf=conf)({"id": 7}, ORDERS)[4] == 1


def test_avro_without_registering_needs_a_registered_schema(client: SchemaRegistryClient) -> None:
    with pytest.raises(SchemaRegistryError) as refused:
        AvroSerializer(client, ORDER, conf={"auto.register.schemas": False})({"id": 7}, ORDERS)
    assert refused.value.error_code == 40401


def test_avro_with_a_reference(client: SchemaRegistryClient, server: RunningRegistry) -> None:
    client.register_schema("order", Schema(ORDER, "AVRO"))
    basket = Schema(
        '{"type":"record","name":"shop.Basket","fields":[{"name":"order","type":"shop.Order"}]}',
        "AVRO",
        [SchemaReference("shop.Order", "order", 1)],
    )
    payload = AvroSerializer(client, basket)({"order": {"id": 7}}, ORDERS)
    with _fresh(server) as reader:
        assert AvroDeserializer(reader)(payload, ORDERS) == {"order": {"id": 7}}


def test_avro_in_a_context(server: RunningRegistry) -> None:
    conf = {"url": f"{server.confluent}/contexts/.acme.sales"}
    with SchemaRegistryClient(conf) as writer, SchemaRegistryClient(conf) as reader:
        payload = AvroSerializer(writer, ORDER)({"id": 7}, ORDERS)
        assert AvroDeserializer(reader)(payload, ORDERS) == {"id": 7}
    with _fresh(server) as outside, pytest.raises(SchemaRegistryError):
        AvroDeserializer(outside)(payload, ORDERS)


def test_json(client: SchemaRegistryClient, server: RunningRegistry) -> None:
    payload = JSONSerializer(JSON_ORDER, client)({"id": 7}, ORDERS)
    with _fresh(server) as reader:
        assert JSONDeserializer(None, schema_registry_client=reader)(payload, ORDERS) == {"id": 7}
    with pytest.raises(SerializationError):
        JSONSerializer(JSON_ORDER, client)({"id": "seven"}, ORDERS)


def test_json_with_a_reference(client: SchemaRegistryClient, server: RunningRegistry) -> None:
    client.register_schema("order", Schema(JSON_ORDER, "JSON"))
    basket = Schema(
        '{"title":"Basket","type":"object","properties":{"order":{"$ref":"order.json"}}}',
        "JSON",
        [SchemaReference("order.json", "order", 1)],
    )
    payload = JSONSerializer(basket, client)({"order": {"id": 7}}, ORDERS)
    with _fresh(server) as reader:
        assert JSONDeserializer(None, schema_registry_client=reader)(payload, ORDERS) == {"order": {"id": 7}}


def _messages() -> tuple[Any, Any]:
    """Two generated message classes; the second one uses the first, and one of Protobuf's own."""
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    customer = descriptor_pb2.FileDescriptorProto(name="shop/customer.proto", package="shop", syntax="proto3")
    message = customer.message_type.add(name="Customer")
    message.field.add(name="name", number=1, type="TYPE_STRING", label="LABEL_OPTIONAL")
    order = descriptor_pb2.FileDescriptorProto(
        name="shop/order.proto",
        package="shop",
        syntax="proto3",
        dependency=["shop/customer.proto", "google/protobuf/timestamp.proto"],
    )
    message = order.message_type.add(name="Order")
    message.field.add(name="id", number=1, type="TYPE_INT64", label="LABEL_OPTIONAL")
    message.field.add(
        name="customer", number=2, type="TYPE_MESSAGE", type_name=".shop.Customer", label="LABEL_OPTIONAL"
    )
    message.field.add(
        name="at", number=3, type="TYPE_MESSAGE", type_name=".google.protobuf.Timestamp", label="LABEL_OPTIONAL"
    )
    for file in (customer, order):
        pool.AddSerializedFile(file.SerializeToString())
    find = pool.FindMessageTypeByName
    return (
        message_factory.GetMessageClass(find("shop.Customer")),
        message_factory.GetMessageClass(find("shop.Order")),
    )


def test_protobuf(client: SchemaRegistryClient, server: RunningRegistry) -> None:
    customer, _ = _messages()
    payload = ProtobufSerializer(customer, client)(customer(name="Zoë"), ORDERS)
    with _fresh(server) as reader:
        read = ProtobufDeserializer(customer, schema_registry_client=reader)(payload, ORDERS)
    assert read.name == "Zoë"


@pytest.mark.parametrize("settings", [{}, {"schema.id.serializer": header_schema_id_serializer}])
def test_protobuf_by_the_client_that_wrote_it(
    client: SchemaRegistryClient, server: RunningRegistry, settings: dict[str, Any]
) -> None:
    """It keeps what it was answered when it registered, and reads that as a descriptor."""
    context = SerializationContext("orders", MessageField.VALUE, [])
    customer, _ = _messages()
    payload = ProtobufSerializer(customer, client, settings)(customer(name="Zoë"), context)
    assert ProtobufDeserializer(customer, {}, client)(payload, context).name == "Zoë"
    with _fresh(server) as other:
        asking = {**settings, "auto.register.schemas": False}
        again = ProtobufSerializer(customer, other, asking)(customer(name="Ada"), context)
        assert ProtobufDeserializer(customer, {}, other)(again, context).name == "Ada"


def test_protobuf_with_imports(client: SchemaRegistryClient, server: RunningRegistry) -> None:
    customer, order = _messages()
    value = order(id=7, customer=customer(name="Zoë"))
    value.at.seconds = 5
    payload = ProtobufSerializer(order, client)(value, ORDERS)
    assert client.get_subjects() == ["orders-value", "shop/customer.proto"]
    latest = client.get_latest_version("orders-value")
    assert [reference.name for reference in latest.schema.references or []] == ["shop/customer.proto"]
    with _fresh(server) as reader:
        read = ProtobufDeserializer(order, schema_registry_client=reader)(payload, ORDERS)
    assert (read.id, read.customer.name, read.at.seconds) == (7, "Zoë", 5)
