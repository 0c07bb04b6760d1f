"""Schemas that a foreign registry keeps: Apicurio."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from tallystick.connect.external import ExternalSchema
from tallystick.connect.registries import ConfluentSchemas
from tallystick.errors import IncompatibleSchema, SchemaSerializationError
from tallystick.model.strategy import Strategy
from tallystick.rest import RegistryClient
from tallystick.serde.key_value import KeyValueSchema
from tallystick.wire.pulsar.schemas import KeyValueIds
from tests.apicurio import running_apicurio
from tests.integration import external_orders as orders

pytestmark = pytest.mark.jvm

ORDER_CLASS = orders.generated({"shop/order.proto": orders.PROTO_1}, "shop.Order")
FILES = {
    "shop/address.proto": 'syntax = "proto3"; package shop; message Address { string city = 1; }',
    "shop/customer.proto": 'syntax = "proto3"; package shop; import "shop/address.proto";'
    " message Customer { string name = 1; Address home = 2; }",
}
CUSTOMER_CLASS = orders.generated(FILES, "shop.Customer")
_numbers = count(1)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running_apicurio() as apicurio:
        yield apicurio.url


@pytest.fixture
def schemas(url: str) -> Iterator[ConfluentSchemas]:
    with ConfluentSchemas(url) as made:
        yield made


@pytest.fixture
def topic() -> str:
    return f"orders-{next(_numbers)}"


SOURCES: dict[str, tuple[Callable[[ConfluentSchemas], ExternalSchema[Any]], Any]] = {
    "avro": (lambda s: s.avro(orders.AVRO_1), {"id": 7}),
    "avro of a class": (lambda s: s.avro(orders.Order), orders.Order(7, "n")),
    "json": (lambda s: s.json(orders.JSON_1), {"id": 7}),
    "json of a model": (lambda s: s.json(orders.OrderModel), orders.OrderModel(id=7)),
    "protobuf": (lambda s: s.protobuf(orders.PROTO_1), {"id": 7}),
    "protobuf, second message": (lambda s: s.protobuf(orders.PROTO_1, message="Parcel"), {"to": "Zoë"}),
    "protobuf of a class": (lambda s: s.protobuf(ORDER_CLASS), ORDER_CLASS(id=7)),
    "protobuf of a class with imports": (lambda s: s.protobuf(CUSTOMER_CLASS), CUSTOMER_CLASS(home={"city": "Ulm"})),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("prefix", ["", "persistent://acme/shop/"])
def test_every_source(url: str, schemas: ConfluentSchemas, topic: str, source: str, prefix: str) -> None:
    build, value = SOURCES[source]
    encoded = build(schemas).encode(prefix + topic, value)
    with ConfluentSchemas(url) as others:
        assert build(others).decode(prefix + topic, encoded.data or b"", encoded.schema_id) == value


def test_one_reader_reads_two_versions(schemas: ConfluentSchemas, topic: str) -> None:
    first, second = schemas.avro(orders.AVRO_1), schemas.avro(orders.AVRO_2)
    messages = [first.encode(topic, {"id": 7}), second.encode(topic, {"id": 8, "note": "n"})]
    reader = schemas.avro(orders.AVRO_2)
    read = [reader.decode(topic, message.data or b"", message.schema_id) for message in messages]
    assert read == [{"id": 7, "note": "-"}, {"id": 8, "note": "n"}]


def test_the_latest_version_is_written(url: str, schemas: ConfluentSchemas, topic: str) -> None:
    second = schemas.avro(orders.AVRO_2)
    latest = second.schema_id_for(topic)
    with ConfluentSchemas(url, use_latest=True) as following:
        encoded = following.avro(orders.AVRO_1).encode(topic, {"id": 7})
    assert encoded.schema_id == latest
    assert second.decode(topic, encoded.data or b"", encoded.schema_id) == {"id": 7, "note": "-"}


def test_a_refusal_has_the_registrys_own_words(url: str, schemas: ConfluentSchemas, topic: str) -> None:
    schemas.avro(orders.AVRO_1).schema_id_for(topic)
    with RegistryClient(url) as client:
        client.set_strategy(f"{topic}-value", Strategy.FULL)
    with pytest.raises(IncompatibleSchema) as refusal:
        schemas.avro(orders.AVRO_BROKEN).encode(topic, {"id": "7"})
    error = refusal.value
    assert error.message.startswith(f"topic {topic}, subject {topic}-value: the registry at {url} refuses the schema: ")
    assert "change the schema as it says" in error.message
    assert error.findings == ()
    assert error.__cause__ is not None
    assert str(error.__cause__) in error.message


def test_an_unknown_id(url: str, schemas: ConfluentSchemas, topic: str) -> None:
    with pytest.raises(SchemaSerializationError, match=f"schema id 99999: the registry at {url} does not have it"):
        schemas.avro(orders.AVRO_1).decode(topic, b"\x0e", (99999).to_bytes(4))


def test_a_schema_that_must_be_there(url: str, topic: str) -> None:
    with ConfluentSchemas(url, auto_register=False) as schemas:
        schema = schemas.avro(orders.AVRO_1)
        with pytest.raises(SchemaSerializationError, match=f"{topic}-value: .*auto_register=True"):
            schema.encode(topic, {"id": 7})
        with ConfluentSchemas(url) as registering:
            wanted = registering.avro(orders.AVRO_1).schema_id_for(topic)
        assert schema.encode(topic, {"id": 7}).schema_id == wanted


def test_a_pair_has_two_ids(schemas: ConfluentSchemas, topic: str) -> None:
    pair: KeyValueSchema[Any, Any] = KeyValueSchema(schemas.avro('"string"'), schemas.json(orders.JSON_1))
    encoded = pair.encode(topic, ("k", {"id": 7}))
    assert isinstance(encoded.schema_id, KeyValueIds)
    assert encoded.schema_id.key != encoded.schema_id.value
    value = pair.decode(topic, encoded.data or b"", encoded.schema_id)
    assert (value.key, value.value) == ("k", {"id": 7})
