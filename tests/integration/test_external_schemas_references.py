"""Schemas that refer to others, in a third-party registry."""

from collections.abc import Iterator
from typing import Any

import pytest

from tallystick.connect.registries import ConfluentSchemas, OpenSchemas, RegistrySchemas
from tallystick.errors import SchemaSerializationError
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF, SchemaType
from tallystick.rest import RegistryClient
from tests.integration import external_orders as orders
from tests.servers import RunningRegistry, running_registry

ADDRESS = '{"type":"record","name":"shop.Address","fields":[{"name":"city","type":"string"}]}'
CUSTOMER = """{"type":"record","name":"shop.Customer","fields":[
    {"name":"name","type":"string"},{"name":"home","type":"shop.Address"}]}"""
ORDER = """{"type":"record","name":"shop.Order","fields":[
    {"name":"id","type":"long"},{"name":"by","type":"shop.Customer"}]}"""
VALUE = {"id": 7, "by": {"name": "Zoë", "home": {"city": "Ulm"}}}

CITY_JSON = '{"$id":"https://shop.example/city.json","type":"string","minLength":2}'
ORDER_JSON = '{"type":"object","properties":{"city":{"$ref":"https://shop.example/city.json"}}}'

ADDRESS_PROTO = 'syntax = "proto3"; package shop; message Address { string city = 1; }'
CUSTOMER_PROTO = """syntax = "proto3"; package shop; import "shop/address.proto";
message Customer { string name = 1; Address home = 2; }"""
ORDER_PROTO = """syntax = "proto3"; package shop; import "shop/customer.proto";
import "google/protobuf/timestamp.proto";
message Order { int64 id = 1; Customer by = 2; google.protobuf.Timestamp at = 3; }"""
FILES = {"shop/address.proto": ADDRESS_PROTO, "shop/customer.proto": CUSTOMER_PROTO, "shop/order.proto": ORDER_PROTO}


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.fixture(params=["confluent", "openschema"])
def schemas(request: pytest.FixtureRequest, server: RunningRegistry) -> Iterator[RegistrySchemas]:
    with ConfluentSchemas(server.confluent) if request.param == "confluent" else OpenSchemas(server.http) as made:
        yield made


@pytest.fixture
def registry(server: RunningRegistry) -> Iterator[RegistryClient]:
    with RegistryClient(server.confluent, "confluent") as client:
        yield client


def registered(registry: RegistryClient, kind: SchemaType, *chain: tuple[str, str, str]) -> list[Reference]:
    """A chain of schemas, each of which refers to the one before it: name, subject, text. The last one's reference."""
    references: tuple[Reference, ...] = ()
    for name, subject, text in chain:
        found = registry.register(subject, SchemaDefinition(kind, text, references))
        references = (Reference(name, subject, found.version),)
    return list(references)


def test_what_is_registered_is_fetched(schemas: RegistrySchemas, registry: RegistryClient) -> None:
    customer = registered(
        registry, AVRO, ("shop.Address", "addresses", ADDRESS), ("shop.Customer", "customers", CUSTOMER)
    )
    encoded = schemas.avro(ORDER, references=customer).encode("orders", VALUE)
    assert registry.by_version("orders-value").definition.references == tuple(customer)
    assert schemas.avro(ORDER, references=customer).decode("orders", encoded.data or b"", encoded.schema_id) == VALUE


def test_a_reader_without_the_references_fetches_the_writers(
    schemas: RegistrySchemas, registry: RegistryClient
) -> None:
    customer = registered(
        registry, AVRO, ("shop.Address", "addresses", ADDRESS), ("shop.Customer", "customers", CUSTOMER)
    )
    encoded = schemas.avro(ORDER, references=customer).encode("orders", VALUE)
    reader = schemas.avro(orders.AVRO_1)
    assert reader.decode("orders", encoded.data or b"", encoded.schema_id) == {"id": 7}


def test_what_is_not_registered_is_registered_first(schemas: RegistrySchemas, registry: RegistryClient) -> None:
    other = ("shop.Customer", "customers", CUSTOMER.replace("]}", ',{"name":"vip","type":"boolean"}]}'))
    registered(registry, AVRO, ("shop.Address", "addresses", ADDRESS), other)
    address, customer = Reference("shop.Address", "addresses", 1), Reference("shop.Customer", "customers", 1)
    known = {address: SchemaDefinition(AVRO, ADDRESS), customer: SchemaDefinition(AVRO, CUSTOMER, (address,))}
    encoded = schemas.avro(ORDER, references=known).encode("orders", VALUE)
    # The version is the registry's own, whatever the program said.
    assert registry.by_version("orders-value").definition.references == (Reference("shop.Customer", "customers", 2),)
    assert registry.by_version("customers", 2).definition == known[customer]
    assert schemas.avro(ORDER, references=known).decode("orders", encoded.data or b"", encoded.schema_id) == VALUE


def test_references_of_json_schema(schemas: RegistrySchemas, registry: RegistryClient) -> None:
    city = registered(registry, JSON_SCHEMA, ("https://shop.example/city.json", "cities", CITY_JSON))
    schema = schemas.json(ORDER_JSON, references=city)
    encoded = schema.encode("orders", {"city": "Ulm"})
    assert schema.decode("orders", encoded.data or b"", encoded.schema_id) == {"city": "Ulm"}
    with pytest.raises(SchemaSerializationError, match="/city"):
        schema.encode("orders", {"city": "U"})


def test_imports_of_protobuf_text(schemas: RegistrySchemas, registry: RegistryClient) -> None:
    chain = [(name, name, text) for name, text in FILES.items()]
    customer = registered(registry, PROTOBUF, *chain[:2])
    schema = schemas.protobuf(ORDER_PROTO, references=customer)
    encoded = schema.encode("orders", VALUE)
    assert schema.decode("orders", encoded.data or b"", encoded.schema_id) == VALUE


def test_imports_of_a_generated_class_are_registered(schemas: RegistrySchemas, registry: RegistryClient) -> None:
    order_class: Any = orders.generated(FILES, "shop.Order")
    value = order_class(id=7, by={"name": "Zoë", "home": {"city": "Ulm"}})
    encoded = schemas.protobuf(order_class).encode("orders", value)
    assert sorted(registry.subjects()) == ["orders-value", "shop/address.proto", "shop/customer.proto"]
    assert schemas.protobuf(order_class).decode("orders", encoded.data or b"", encoded.schema_id) == value
    customer = registered(registry, PROTOBUF, *[(name, name, text) for name, text in list(FILES.items())[:2]])
    by_text = schemas.protobuf(ORDER_PROTO, references=customer)
    assert by_text.decode("orders", encoded.data or b"", encoded.schema_id) == VALUE


def test_references_in_another_namespace(schemas: RegistrySchemas, registry: RegistryClient) -> None:
    topic = "persistent://acme/shop/orders"
    order_class: Any = orders.generated(FILES, "shop.Order")
    encoded = schemas.protobuf(order_class).encode(topic, order_class(id=7))
    assert sorted(registry.subjects(":.acme.shop:")) == [
        ":.acme.shop:orders-value",
        ":.acme.shop:shop/address.proto",
        ":.acme.shop:shop/customer.proto",
    ]
    assert schemas.protobuf(order_class).decode(topic, encoded.data or b"", encoded.schema_id) == order_class(id=7)


def test_a_reference_that_is_not_there(schemas: RegistrySchemas) -> None:
    with pytest.raises(SchemaSerializationError, match=rf"{schemas.url} does not have it: .*register what the schema"):
        schemas.avro(ORDER, references=[Reference("shop.Customer", "customers", 1)])
