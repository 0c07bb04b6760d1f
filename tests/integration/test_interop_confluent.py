"""Messages of our client read by Confluent's deserializers, and back: on a real Kafka, with our registry."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.schema_registry import (
    SchemaRegistryClient,
    dual_schema_id_deserializer,
    header_schema_id_serializer,
    prefix_schema_id_serializer,
    record_subject_name_strategy,
    topic_record_subject_name_strategy,
    topic_subject_name_strategy,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import (
    DoubleDeserializer,
    DoubleSerializer,
    IntegerDeserializer,
    IntegerSerializer,
    MessageField,
    SerializationContext,
    StringDeserializer,
    StringSerializer,
)

from tallystick import (
    DOUBLE,
    INT32,
    STRING,
    AutoConsume,
    AvroSchema,
    Client,
    JsonSchema,
    KeyValue,
    KeyValueEncoding,
    KeyValueSchema,
    ProtobufSchema,
    Schema,
)
from tests.integration import external_orders as orders
from tests.kafka.server import Kafka
from tests.servers import running_registry

pytestmark = pytest.mark.jvm
WAIT_S = 30.0
Headers = list[tuple[str, str | bytes | None]]

STRATEGIES = {
    "TopicNameStrategy": topic_subject_name_strategy,
    "RecordNameStrategy": record_subject_name_strategy,
    "TopicRecordNameStrategy": topic_record_subject_name_strategy,
}
PLACES = {"transport": prefix_schema_id_serializer, "header": header_schema_id_serializer}
PROTO = """syntax = "proto3"; package shop{token};
message Order {{ int64 id = 1; message Line {{ string item = 1; message Tax {{ int32 rate = 1; }} }} }}
message Parcel {{ string to = 1; }}"""


@dataclass(frozen=True)
class Kind:
    """One format: our schema and Confluent's two ends for it, all of a record whose name nobody else uses."""

    schema: Schema[Any]
    value: Any
    plain: Any
    """The value as AutoConsume gives it."""
    serializer: Callable[[SchemaRegistryClient, dict[str, Any]], Any]
    deserializer: Callable[[SchemaRegistryClient, dict[str, Any]], Any]


ORDER, KEY = {"id": 7, "item": "Zoë's"}, {"id": 1, "item": "a key"}
"""Confluent's deserializer of Avro takes payloads of six bytes and more alone, wherever the id is."""


def _avro(token: str) -> Kind:
    fields = [{"name": "id", "type": "long"}, {"name": "item", "type": "string"}]
    schema = AvroSchema({"type": "record", "name": f"shop{token}.Order", "fields": fields})
    return Kind(
        schema,
        ORDER,
        ORDER,
        lambda registry, conf: AvroSerializer(registry, schema.definition.text, conf=conf),
        lambda registry, conf: AvroDeserializer(registry, conf=conf),
    )


def _json(token: str) -> Kind:
    schema = JsonSchema({**orders.JSON_1, "title": f"Order{token}"})
    return Kind(
        schema,
        {"id": 7},
        {"id": 7},
        lambda registry, conf: JSONSerializer(schema.definition.text, registry, conf=conf),
        lambda registry, conf: JSONDeserializer(None, schema_registry_client=registry, conf=conf),
    )


def _protobuf(message: str, plain: dict[str, Any]) -> Callable[[str], Kind]:
    def kind(token: str) -> Kind:
        made = orders.generated({f"shop/{token}.proto": PROTO.format(token=token)}, f"shop{token}.{message}")
        return Kind(
            ProtobufSchema(made),
            made(**plain),
            plain,
            lambda registry, conf: ProtobufSerializer(made, registry, conf),
            lambda registry, conf: ProtobufDeserializer(made, conf, registry),
        )

    return kind


KINDS: dict[str, Callable[[str], Kind]] = {
    "avro": _avro,
    "json": _json,
    "protobuf": _protobuf("Order", {"id": 7}),
    "protobuf-second": _protobuf("Parcel", {"to": "Zoë"}),
    "protobuf-nested": _protobuf("Order.Line.Tax", {"rate": 19}),
}


CASES = [(name, place, "TopicNameStrategy") for name in KINDS for place in PLACES]
CASES += [
    (name, "transport", naming) for name in ("avro", "json", "protobuf-nested") for naming in list(STRATEGIES)[1:]
]


@pytest.fixture(scope="module")
def registry_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_registry(tmp_path_factory.mktemp("registry")) as running:
        yield running.confluent


@pytest.fixture
def registry(registry_url: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry_url}) as client:
        yield client


@pytest.fixture
def token() -> str:
    return secrets.token_hex(4)


@pytest.fixture
def topic(token: str) -> str:
    return f"interop-{token}"


def _consumed(kafka: Kafka, topic: str, count: int) -> list[Any]:
    """As Confluent's consumer gets it."""
    conf = {"bootstrap.servers": kafka.servers, "group.id": "nobody", "enable.auto.commit": False}
    consumer = Consumer(conf)
    try:
        consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
        return [_one(consumer) for _ in range(count)]
    finally:
        consumer.close()


def _one(consumer: Consumer) -> Any:
    message = consumer.poll(WAIT_S)
    assert message is not None
    assert message.error() is None
    return message


def _produced(kafka: Kafka, topic: str, *messages: dict[str, Any]) -> None:
    """As Confluent's producer sends it."""
    producer = Producer({"bootstrap.servers": kafka.servers})
    for message in messages:
        producer.produce(topic, **message)
    assert producer.flush(WAIT_S) == 0


@pytest.mark.parametrize(("name", "place", "naming"), CASES)
def test_confluents_deserializer_reads_ours(
    kafka: Kafka,
    registry_url: str,
    registry: SchemaRegistryClient,
    topic: str,
    token: str,
    name: str,
    place: str,
    naming: str,
) -> None:
    kind = KINDS[name](token)
    with (
        Client(f"kafka://{kafka.servers}", registry=registry_url, framing=place, naming=naming) as client,
        client.producer(topic, kind.schema) as producer,
    ):
        producer.send(kind.value)
    (message,) = _consumed(kafka, topic, 1)
    conf = {"schema.id.deserializer": dual_schema_id_deserializer}
    context = SerializationContext(topic, MessageField.VALUE, message.headers())
    assert kind.deserializer(registry, conf)(message.value(), context) == kind.value
    assert _subjects(registry, token) == [_subject(naming, topic, kind)]


@pytest.mark.parametrize(("name", "place", "naming"), CASES)
def test_we_read_what_confluents_serializer_wrote(
    kafka: Kafka,
    registry_url: str,
    registry: SchemaRegistryClient,
    topic: str,
    token: str,
    name: str,
    place: str,
    naming: str,
) -> None:
    kind = KINDS[name](token)
    conf = {"schema.id.serializer": PLACES[place], "subject.name.strategy": STRATEGIES[naming]}
    headers: Headers = []
    serialize = kind.serializer(registry, conf)
    value = serialize(kind.value, SerializationContext(topic, MessageField.VALUE, headers))
    _produced(kafka, topic, {"value": value, "headers": headers})
    with Client(f"kafka://{kafka.servers}", registry=registry_url, framing=place, naming=naming) as client:
        with client.reader(topic, kind.schema) as reader:
            assert reader.receive(WAIT_S).value == kind.value
        with client.reader(topic, AutoConsume()) as reader:
            assert reader.receive(WAIT_S).value == kind.plain
        # Ours is the same schema to the registry: no version more.
        with client.producer(topic, kind.schema) as producer:
            producer.send(kind.value)
    (subject,) = _subjects(registry, token)
    assert registry.get_versions(subject) == [1]


def _subject(naming: str, topic: str, kind: Kind) -> str:
    record = _record(kind)
    return {
        "TopicNameStrategy": f"{topic}-value",
        "RecordNameStrategy": record,
        "TopicRecordNameStrategy": f"{topic}-{record}",
    }[naming]


def _record(kind: Kind) -> str:
    if isinstance(kind.schema, ProtobufSchema):
        return str(kind.value.DESCRIPTOR.full_name)
    text: str = kind.schema.definition.text
    found = [word for word in text.replace('"', " ").split() if word.startswith(("shop", "Order"))]
    return found[0]


def _subjects(registry: SchemaRegistryClient, token: str) -> list[str]:
    return [subject for subject in registry.get_subjects() if token in subject]


@pytest.mark.parametrize("place", PLACES)
def test_keys_and_tombstones_to_confluent(
    kafka: Kafka, registry_url: str, registry: SchemaRegistryClient, topic: str, token: str, place: str
) -> None:
    key, value = _avro(f"{token}k"), _avro(token)
    pairs = KeyValueSchema(key.schema, value.schema, KeyValueEncoding.SEPARATED)
    with (
        Client(f"kafka://{kafka.servers}", registry=registry_url, framing=place) as client,
        client.producer(topic, pairs) as producer,
    ):
        producer.send(KeyValue(KEY, ORDER))
        producer.send(KeyValue(KEY, None))
    first, second = _consumed(kafka, topic, 2)
    deserialize = AvroDeserializer(registry, conf={"schema.id.deserializer": dual_schema_id_deserializer})
    for message in (first, second):
        context = SerializationContext(topic, MessageField.KEY, message.headers())
        assert deserialize(message.key(), context) == KEY
    context = SerializationContext(topic, MessageField.VALUE, first.headers())
    assert deserialize(first.value(), context) == ORDER
    assert second.value() is None


@pytest.mark.parametrize("place", PLACES)
def test_keys_and_tombstones_from_confluent(
    kafka: Kafka, registry_url: str, registry: SchemaRegistryClient, topic: str, token: str, place: str
) -> None:
    key, value = _avro(f"{token}k"), _avro(token)
    headers: Headers = []
    conf = {"schema.id.serializer": PLACES[place]}
    in_key = SerializationContext(topic, MessageField.KEY, headers)
    in_value = SerializationContext(topic, MessageField.VALUE, headers)
    key_bytes = key.serializer(registry, conf)(KEY, in_key)
    key_headers = list(headers)
    value_bytes = value.serializer(registry, conf)(ORDER, in_value)
    _produced(
        kafka,
        topic,
        {"key": key_bytes, "value": value_bytes, "headers": headers},
        {"key": key_bytes, "value": None, "headers": key_headers},
    )
    pairs = KeyValueSchema(key.schema, value.schema, KeyValueEncoding.SEPARATED)
    with (
        Client(f"kafka://{kafka.servers}", registry=registry_url, framing=place) as client,
        client.reader(topic, pairs) as reader,
    ):
        first, second = reader.receive(WAIT_S), reader.receive(WAIT_S)
        assert first.value == KeyValue(KEY, ORDER)
        assert second.value == KeyValue(KEY, None)
        assert second.is_tombstone


PRIMITIVES: list[tuple[Schema[Any], Any, Any, Any]] = [
    (STRING, "Zoë", StringSerializer(), StringDeserializer()),
    (INT32, -7, IntegerSerializer(), IntegerDeserializer()),
    (DOUBLE, 0.1, DoubleSerializer(), DoubleDeserializer()),
]


@pytest.mark.parametrize(
    ("schema", "value", "serialize", "deserialize"), PRIMITIVES, ids=lambda each: type(each).__name__
)
def test_primitives_are_as_kafkas_own_serializers_write_them(
    kafka: Kafka, registry_url: str, topic: str, token: str, schema: Any, value: Any, serialize: Any, deserialize: Any
) -> None:
    kind = _avro(token)
    pairs = KeyValueSchema(schema, kind.schema, KeyValueEncoding.SEPARATED)
    context = SerializationContext(topic, MessageField.VALUE)
    with Client(f"kafka://{kafka.servers}", registry=registry_url) as client:
        with client.producer(f"{topic}-bare", schema) as producer:
            producer.send(value)
        _produced(kafka, f"{topic}-bare", {"value": serialize(value, context)})
        with client.reader(f"{topic}-bare", schema) as reader:
            assert [reader.receive(WAIT_S).value for _ in range(2)] == [value, value]
        with client.producer(topic, pairs) as producer:
            producer.send(KeyValue(value, ORDER))
    first, second = _consumed(kafka, f"{topic}-bare", 2)
    assert [deserialize(each.value(), context) for each in (first, second)] == [value, value]
    (message,) = _consumed(kafka, topic, 1)
    assert deserialize(message.key(), context) == value


def test_ids_of_one_flush_are_confluents_as_well(
    kafka: Kafka, registry_url: str, registry: SchemaRegistryClient, topic: str, token: str
) -> None:
    first = AvroSchema({**orders.AVRO_1, "name": f"shop{token}.Order"})
    second = AvroSchema({**orders.AVRO_2, "name": f"shop{token}.Order"})
    with (
        Client(f"kafka://{kafka.servers}", registry=registry_url) as client,
        client.producer(topic, first) as producer,
    ):
        for number, schema in enumerate([first, first, second, second, first]):
            producer.send_async({"id": number}, schema=schema)
        producer.flush()
    deserialize = AvroDeserializer(registry)
    messages = _consumed(kafka, topic, 5)
    values = [deserialize(m.value(), SerializationContext(topic, MessageField.VALUE)) for m in messages]
    assert values == [{"id": 0}, {"id": 1}, {"id": 2, "note": "-"}, {"id": 3, "note": "-"}, {"id": 4}]


def test_with_subjects_by_record_both_sides_mix_types_on_one_topic(
    kafka: Kafka, registry_url: str, registry: SchemaRegistryClient, topic: str, token: str
) -> None:
    avro, json = _avro(token), _json(token)
    naming = "TopicRecordNameStrategy"
    conf = {"subject.name.strategy": STRATEGIES[naming]}
    context = SerializationContext(topic, MessageField.VALUE)
    _produced(kafka, topic, {"value": json.serializer(registry, conf)({"id": 1}, context)})
    with Client(f"kafka://{kafka.servers}", registry=registry_url, naming=naming) as client:
        with client.producer(topic, avro.schema) as producer:
            producer.send(ORDER)
            producer.send({"id": 3}, schema=json.schema)
        with client.reader(topic, AutoConsume()) as reader:
            messages = [reader.receive(WAIT_S) for _ in range(3)]
            assert [message.value for message in messages] == [{"id": 1}, ORDER, {"id": 3}]
    assert messages[0].schema_id == messages[2].schema_id != messages[1].schema_id
    first, second, third = (message.value() for message in _consumed(kafka, topic, 3))
    assert AvroDeserializer(registry)(second, context) == ORDER
    read_json = JSONDeserializer(None, schema_registry_client=registry)
    assert [read_json(each, context) for each in (first, third)] == [{"id": 1}, {"id": 3}]
