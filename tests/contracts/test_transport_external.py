"""Schemas that a third-party registry keeps, on every cluster."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tallystick import (
    AutoConsume,
    AutoProduceBytes,
    AvroSchema,
    Client,
    ConfluentSchemas,
    EncodeData,
    IncompatibleSchema,
    InvalidRecord,
    JsonSchema,
    KeyValue,
    KeyValueEncoding,
    KeyValueSchema,
    OpenSchemas,
    ProtobufSchema,
    RegistrySettings,
    Schema,
    SchemaSerializationError,
)
from tallystick.connect.registries import RegistrySchemas
from tallystick.model.schema_type import EXTERNAL
from tallystick.serde.schema import SchemaIdBytes
from tests.contracts import orders
from tests.contracts.clusters import PULSARS, Cluster
from tests.contracts.orders import WAIT_S, Order, ids, marks, order, received

Registries = Callable[[Cluster], RegistrySchemas]
REGISTRIES: dict[str, Registries] = {
    "confluent": lambda cluster: ConfluentSchemas(cluster.registry),
    "openschema": lambda cluster: OpenSchemas(cluster.openschema),
}


@pytest.fixture(params=REGISTRIES)
def schemas(request: pytest.FixtureRequest, cluster: Cluster) -> Iterator[RegistrySchemas]:
    with REGISTRIES[request.param](cluster) as factory:
        yield factory


@pytest.fixture
def external(cluster: Cluster) -> Iterator[Client]:
    """A client whose schemas a registry keeps."""
    with cluster.client(registry=cluster.registry) as opened:
        yield opened


_GENERATED = orders.generated_class("external/order.proto")
MADE: dict[str, tuple[Callable[[RegistrySchemas], Schema[Any]], Any]] = {
    "avro": (lambda made: made.avro(orders.FIRST), order(7)),
    "avro-dataclass": (lambda made: made.avro(Order), Order(7, "Zoë")),
    "json": (lambda made: made.json(orders.JSON_SCHEMA), order(7)),
    "protobuf": (lambda made: made.protobuf(orders.PROTO), order(7)),
    "protobuf-class": (lambda made: made.protobuf(_GENERATED), _GENERATED(id=7, item="Zoë")),
}


@pytest.mark.parametrize("kind", MADE)
def test_a_value_of_a_registrys_schema_comes_back(
    client: Client, topic: str, schemas: RegistrySchemas, kind: str
) -> None:
    make, value = MADE[kind]
    with client.producer(topic, make(schemas)) as producer:
        producer.send(value)
    with client.reader(topic, make(schemas)) as reader:
        message = reader.receive(WAIT_S)
        assert message.value == value
        assert message.schema_id is not None


def test_ids_of_one_flush_arrive_as_they_were_sent(client: Client, topic: str, schemas: RegistrySchemas) -> None:
    made = {1: schemas.avro(orders.FIRST), 2: schemas.avro(orders.SECOND)}
    wanted = [1, 1, 2, 2, 1]
    with client.producer(topic, made[1], batch_delay_s=5.0) as producer:
        for schema in made.values():
            producer.send(order(0), schema=schema)
        for number, which in enumerate(wanted):
            producer.send_async(order(number), schema=made[which])
        producer.flush()
    with client.reader(topic, schemas.avro(orders.FIRST)) as reader:
        messages = received(reader, 7)[2:]
        assert marks(messages) == wanted
        assert ids(messages) == list(range(5))


def test_messages_are_read_by_their_writers_schema_into_the_readers(
    client: Client, topic: str, schemas: RegistrySchemas
) -> None:
    with client.producer(topic, schemas.avro(orders.FIRST)) as producer:
        producer.send(order(1))
    with client.reader(topic, schemas.avro(orders.THIRD)) as reader:
        assert reader.receive(WAIT_S).value == {**order(1), "note": None, "price": 1.5}


def test_a_pair_has_an_id_for_each_half(client: Client, topic: str, schemas: RegistrySchemas) -> None:
    def pairs() -> KeyValueSchema[Any, Any]:
        key = schemas.avro(orders.avro(orders.ID, name="shop.Key"))
        return KeyValueSchema(key, schemas.avro(orders.FIRST), KeyValueEncoding.SEPARATED)

    with client.producer(topic, pairs()) as producer:
        producer.send(KeyValue({"id": 5}, order(7)))
        producer.send(KeyValue({"id": 6}, None))
    with client.reader(topic, pairs()) as reader:
        first, second = received(reader, 2)
        assert first.value == KeyValue({"id": 5}, order(7))
        assert second.value == KeyValue({"id": 6}, None)


def test_a_schema_that_the_registry_refuses_fails_alone(client: Client, topic: str, schemas: RegistrySchemas) -> None:
    with client.producer(topic, schemas.avro(orders.FIRST)) as producer:
        producer.send(order(1))
        with pytest.raises(IncompatibleSchema, match=topic) as refused:
            producer.send({"id": "x", "item": "y"}, schema=schemas.avro(orders.FOREIGN))
        assert refused.value.findings
        producer.flush()
        assert producer.pending == 0
        producer.send(order(2))
    with client.reader(topic, schemas.avro(orders.FIRST)) as reader:
        assert ids(received(reader, 2)) == [1, 2]


def test_a_value_that_does_not_fit_is_refused_with_findings(
    client: Client, topic: str, schemas: RegistrySchemas
) -> None:
    with client.producer(topic, schemas.avro(orders.FIRST)) as producer:
        with pytest.raises(SchemaSerializationError, match=topic) as refused:
            producer.send({"id": "seven", "item": "a"})
        assert refused.value.findings
        assert producer.pending == 0


NATIVE: dict[str, tuple[Schema[Any], Any]] = {
    "avro": (AvroSchema(orders.FIRST), order(7)),
    "json": (JsonSchema(orders.JSON_SCHEMA), order(7)),
    "protobuf": (ProtobufSchema(orders.PROTO), order(7)),
    "pair": (
        KeyValueSchema(AvroSchema(orders.FIRST), AvroSchema(orders.SECOND), KeyValueEncoding.SEPARATED),
        KeyValue(order(1), {**order(2), "note": None}),
    ),
}


@pytest.mark.parametrize("kind", NATIVE)
def test_a_client_with_a_registry_keeps_all_schemas_there(external: Client, topic: str, kind: str) -> None:
    schema, value = NATIVE[kind]
    with external.producer(topic, schema) as producer:
        producer.send(value)
    with external.reader(topic, schema) as reader:
        assert reader.receive(WAIT_S).value == value


@pytest.mark.parametrize("kind", ["avro", "json", "protobuf"])
def test_auto_consume_fetches_the_schemas_of_a_registry(external: Client, topic: str, kind: str) -> None:
    schema, value = NATIVE[kind]
    with external.producer(topic, schema) as producer:
        producer.send(value)
    with external.reader(topic, AutoConsume()) as reader:
        message = reader.receive(WAIT_S)
        assert message.value == value
        assert message.schema_id is not None


def test_bytes_are_checked_against_a_schema_of_a_registry(external: Client, topic: str) -> None:
    schema = AvroSchema(orders.FIRST)
    with external.producer(topic, AutoProduceBytes(schema)) as producer:
        with pytest.raises((InvalidRecord, SchemaSerializationError)) as refused:
            producer.send(b"\x02")
        assert getattr(refused.value, "findings", ())
        producer.send(schema.to_payload(order(3)))
    with external.reader(topic, schema) as reader:
        assert reader.receive(WAIT_S).value == order(3)


def test_bytes_without_a_schema_follow_the_latest_of_the_registry(external: Client, topic: str) -> None:
    schema = AvroSchema(orders.FIRST)
    with external.producer(topic, schema) as producer:
        producer.send(order(1))
    with external.producer(topic, AutoProduceBytes()) as producer:
        producer.send(schema.to_payload(order(2)))
    with external.reader(topic, AutoConsume()) as reader:
        messages = received(reader, 2)
        assert ids(messages) == [1, 2]
        assert marks(messages) == [1, 1]


@pytest.mark.parametrize("cluster", PULSARS, indirect=True)
def test_the_cluster_is_told_that_somebody_else_keeps_the_schema(external: Client, topic: str) -> None:
    external.producer(topic, AvroSchema(orders.FIRST)).close()
    definition = external.schema(topic)
    assert definition is not None
    assert (definition.type, definition.text) == (EXTERNAL, "")


@pytest.mark.parametrize("cluster", PULSARS, indirect=True)
def test_native_and_external_schemas_do_not_share_a_topic(client: Client, external: Client, topic: str) -> None:
    client.producer(topic, AvroSchema(orders.FIRST)).close()
    with pytest.raises(IncompatibleSchema, match=topic):
        external.producer(topic, AvroSchema(orders.FIRST))


_OWN = 2_000_000_000


class Texts(Schema[str]):
    """Somebody's own: texts whose number of words says which schema they have. No registry knows these ids."""

    def __init__(self) -> None:
        self.configured: list[RegistrySettings] = []
        self.closed = 0

    def encode(self, topic: str, value: str) -> EncodeData:
        return EncodeData(json.dumps(value).encode(), (_OWN + len(value.split())).to_bytes(4))

    def decode(self, topic: str, data: bytes, schema_id: SchemaIdBytes | None) -> str:
        assert isinstance(schema_id, bytes)
        return f"{json.loads(data)} ({int.from_bytes(schema_id) - _OWN} words)"

    def configure(self, settings: RegistrySettings) -> None:
        self.configured.append(settings)

    def close(self) -> None:
        self.closed += 1


def test_anybodys_own_schema_encodes_and_decodes(client: Client, topic: str) -> None:
    with client.producer(topic, Texts()) as producer:
        for text in ("one two", "one", "two three", "four five"):
            producer.send_async(text)
        producer.flush()
    with client.reader(topic, Texts()) as reader:
        messages = received(reader, 4)
        assert [message.value for message in messages] == [
            "one two (2 words)",
            "one (1 words)",
            "two three (2 words)",
            "four five (2 words)",
        ]
        assert marks(messages) == [1, 2, 1, 1]


def test_a_schema_is_configured_once_and_closed_after_its_last_user(external: Client, topic: str) -> None:
    schema = Texts()
    first = external.producer(topic, schema)
    second = external.producer(topic, schema)
    reader = external.reader(topic, schema)
    assert len(schema.configured) == 1
    assert schema.configured[0].lookup is not None
    first.close()
    second.close()
    assert schema.closed == 0
    reader.close()
    assert schema.closed == 1
