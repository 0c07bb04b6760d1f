"""What is sent comes back: values of every kind of schema."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

import pytest

from tallystick import (
    AutoConsume,
    AutoProduceBytes,
    AvroSchema,
    Client,
    InvalidRecord,
    JsonSchema,
    KeyValue,
    KeyValueEncoding,
    KeyValueSchema,
    ProtobufNativeSchema,
    ProtobufSchema,
    PulsarJsonSchema,
    Schema,
    Unsupported,
)
from tallystick.model.temporal import Instant, LocalDateTime, LocalTime
from tallystick.serde import primitive
from tests.contracts import orders
from tests.contracts.clusters import PULSARS
from tests.contracts.orders import WAIT_S, Order, OrderModel, order


@dataclass(frozen=True)
class Sample:
    schema: Schema[Any]
    value: Any


# Pulsar keeps neither JSON Schema nor `.proto` text; with a registry of its own the client sends them as EXTERNAL.
_NOT_ON_PULSAR = [pytest.mark.gap(name, raises=Unsupported) for name in ("embedded", "pulsar")]
# Confluent's API, which Kafka's registries have, knows Avro, JSON Schema and Protobuf.
_NOT_ON_KAFKA = [pytest.mark.gap("kafka", raises=Unsupported)]
_GENERATED = orders.generated_class()
_MOMENT = dt.datetime(2024, 2, 29, 12, 30, 15, 250_000, tzinfo=dt.UTC)


def _sample(name: str, schema: Schema[Any], value: Any, gaps: Any = ()) -> Any:
    return pytest.param(Sample(schema, value), id=name, marks=gaps)


RECORDS = [
    _sample("avro-text", AvroSchema(orders.text(orders.FIRST)), order(7)),
    _sample("avro-dict", AvroSchema(orders.SECOND), {**order(7), "note": None}),
    _sample("dataclass", AvroSchema(Order), Order(7, "Zoë")),
    _sample("pydantic", AvroSchema(OrderModel), OrderModel(id=7, item="Zoë", note="n")),
    _sample("json-schema", JsonSchema(orders.JSON_SCHEMA), order(7), _NOT_ON_PULSAR),
    _sample("json-schema-dataclass", JsonSchema(Order), Order(7, "Zoë"), _NOT_ON_PULSAR),
    _sample("json-schema-pydantic", JsonSchema(OrderModel), OrderModel(id=7, item="Zoë"), _NOT_ON_PULSAR),
    _sample("pulsar-json", PulsarJsonSchema(orders.FIRST), order(7), _NOT_ON_KAFKA),
    _sample("pulsar-json-dataclass", PulsarJsonSchema(Order), Order(7, "Zoë"), _NOT_ON_KAFKA),
    _sample("protobuf-text", ProtobufSchema(orders.PROTO), order(7), _NOT_ON_PULSAR),
    _sample("protobuf-class", ProtobufSchema(_GENERATED), _GENERATED(id=7, item="Zoë"), _NOT_ON_PULSAR),
    _sample("protobuf-native", ProtobufNativeSchema(_GENERATED), _GENERATED(id=7, item="Zoë"), _NOT_ON_KAFKA),
]
PRIMITIVES = [
    _sample("string", primitive.STRING, "Zoë"),
    _sample("boolean", primitive.BOOLEAN, True),
    _sample("int8", primitive.INT8, -128),
    _sample("int16", primitive.INT16, 32_767),
    _sample("int32", primitive.INT32, -5),
    _sample("int64", primitive.INT64, 2**63 - 1),
    _sample("float", primitive.FLOAT, 1.5),
    _sample("double", primitive.DOUBLE, 0.1),
    _sample("date", primitive.DATE, _MOMENT),
    _sample("time", primitive.TIME, dt.time(12, 30, 15, 250_000)),
    _sample("timestamp", primitive.TIMESTAMP, _MOMENT),
    _sample("instant", primitive.INSTANT, Instant(-1, 999_999_999)),
    _sample("local-date", primitive.LOCAL_DATE, dt.date(1969, 12, 31)),
    _sample("local-time", primitive.LOCAL_TIME, LocalTime(86_399_999_999_999)),
    _sample(
        "local-date-time",
        primitive.LOCAL_DATE_TIME,
        LocalDateTime(dt.date(2024, 2, 29), LocalTime(1)),
    ),
]
_AVRO = AvroSchema(orders.FIRST)
PAIRS = [
    _sample("inline", KeyValueSchema(primitive.INT32, _AVRO), KeyValue(5, order(7)), _NOT_ON_KAFKA),
    _sample(
        "separated",
        KeyValueSchema(AvroSchema(orders.avro(orders.ID, name="shop.Key")), _AVRO, KeyValueEncoding.SEPARATED),
        KeyValue({"id": 5}, order(7)),
    ),
    _sample(
        "separated-string-key",
        KeyValueSchema(primitive.STRING, _AVRO, KeyValueEncoding.SEPARATED),
        KeyValue("Zoë", order(7)),
    ),
    _sample(
        "separated-bytes-key",
        KeyValueSchema(primitive.BYTES, _AVRO, KeyValueEncoding.SEPARATED),
        KeyValue(b"\x00\xffkey", order(7)),
    ),
]


@pytest.mark.parametrize("sample", [*RECORDS, *PRIMITIVES, *PAIRS, _sample("bytes", primitive.BYTES, b"\x00\xff")])
def test_a_value_comes_back(client: Client, topic: str, sample: Sample) -> None:
    with client.producer(topic, sample.schema) as producer:
        producer.send(sample.value)
    with client.reader(topic, sample.schema) as reader:
        assert reader.receive(WAIT_S).value == sample.value


def _plain(value: Any) -> Any:
    """An instance of a class as AutoConsume gives it."""
    match value:
        case Order(id, item, note):
            return {"id": id, "item": item, "note": note}
        case OrderModel():
            return value.model_dump()
        case _GENERATED():
            return {"id": value.id, "item": value.item}
    return value


@pytest.mark.parametrize("sample", RECORDS)
def test_auto_consume_gives_the_value_by_the_schema_of_its_writer(client: Client, topic: str, sample: Sample) -> None:
    with client.producer(topic, sample.schema) as producer:
        producer.send(sample.value)
    with client.reader(topic, AutoConsume()) as reader:
        assert reader.receive(WAIT_S).value == _plain(sample.value)


# Nobody keeps these for Kafka's topics, and their messages say nothing of themselves.
@pytest.mark.parametrize("cluster", PULSARS, indirect=True)
@pytest.mark.parametrize("sample", [*PRIMITIVES, *PAIRS, _sample("bytes", primitive.BYTES, b"\x00\xff")])
def test_auto_consume_knows_primitives_pairs_and_bytes(client: Client, topic: str, sample: Sample) -> None:
    with client.producer(topic, sample.schema) as producer:
        producer.send(sample.value)
    with client.reader(topic, AutoConsume()) as reader:
        assert reader.receive(WAIT_S).value == sample.value


def test_bytes_that_are_encoded_already_are_sent_as_they_are_when_the_schema_can_read_them(
    client: Client, topic: str
) -> None:
    with client.producer(topic, AutoProduceBytes(_AVRO)) as producer:
        producer.send(_AVRO.to_payload(order(7)))
    with client.reader(topic, _AVRO) as reader:
        assert reader.receive(WAIT_S).value == order(7)


def test_bytes_that_the_schema_cannot_read_are_not_sent(client: Client, topic: str) -> None:
    with client.producer(topic, AutoProduceBytes(_AVRO)) as producer:
        with pytest.raises(InvalidRecord) as refused:
            producer.send(b"\x02")
        assert refused.value.findings
        producer.send(_AVRO.to_payload(order(8)))
    with client.reader(topic, _AVRO) as reader:
        assert reader.receive(WAIT_S).value == order(8)


def test_bytes_without_a_schema_follow_that_of_the_topic(client: Client, topic: str) -> None:
    client.producer(topic, _AVRO).close()
    with client.producer(topic, AutoProduceBytes()) as producer:
        with pytest.raises(InvalidRecord):
            producer.send(b"\x02")
        producer.send(_AVRO.to_payload(order(9)))
    with client.reader(topic, _AVRO) as reader:
        message = reader.receive(WAIT_S)
    assert message.value == order(9)
    assert message.schema is not None


def test_what_is_large_comes_back_whole(client: Client, topic: str) -> None:
    value = {"id": 1, "item": "x" * 900_000}
    with client.producer(topic, _AVRO) as producer:
        producer.send(value)
    with client.reader(topic, _AVRO) as reader:
        assert reader.receive(WAIT_S).value == value
