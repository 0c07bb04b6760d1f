"""Every type of schema, from a client's producer to a column: on the embedded broker and on Kafka."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from tallystick import (
    INT64,
    STRING,
    AvroSchema,
    Client,
    ConfluentSchemas,
    JsonSchema,
    KeyValue,
    KeyValueEncoding,
    KeyValueSchema,
    ProtobufNativeSchema,
    ProtobufSchema,
    PulsarJsonSchema,
    RegistryClient,
    Schema,
)
from tallystick.model.strategy import Strategy
from tallystick.spark.cluster import Cluster
from tallystick.spark.decoding.decode import decode
from tallystick.spark.topics import read_topic
from tests.contracts import clusters, orders
from tests.contracts.orders import order

_VALUES = [order(n) for n in range(3)]
_PAIR = KeyValueSchema(STRING, AvroSchema(orders.FIRST), KeyValueEncoding.INLINE)
_APART = KeyValueSchema(AvroSchema(orders.FIRST), PulsarJsonSchema(orders.FIRST), KeyValueEncoding.SEPARATED)
_NATIVE = ProtobufNativeSchema(orders.generated_class("spark/order.proto"))

ON_PULSAR: dict[str, tuple[Schema[Any], list[Any]]] = {
    "avro": (AvroSchema(orders.FIRST), _VALUES),
    "pulsar-json": (PulsarJsonSchema(orders.FIRST), _VALUES),
    "protobuf-native": (_NATIVE, _VALUES),
    "long": (INT64, [0, -1, 2**40]),
    "text": (STRING, ["", "Zoë"]),
    "pair": (_PAIR, [KeyValue("k", order(1)), KeyValue("k", order(2))]),
    "pair-apart": (_APART, [KeyValue(order(1), order(2))]),
}
ON_KAFKA: dict[str, tuple[Schema[Any], list[Any]]] = {
    "avro": (AvroSchema(orders.FIRST), _VALUES),
    "json-schema": (JsonSchema(orders.JSON_SCHEMA), _VALUES),
    "protobuf": (ProtobufSchema(orders.PROTO), _VALUES),
}


def plain(value: Any) -> Any:
    """As a row of Spark has it."""
    if isinstance(value, KeyValue):
        return {"key": plain(value.key), "value": plain(value.value)}
    return value


def send(client: Client, topic: str, schema: Schema[Any], values: list[Any]) -> None:
    with client.producer(topic, schema) as producer:
        for value in values:
            producer.send(_NATIVE_CLASS(**value) if schema is _NATIVE else value)


_NATIVE_CLASS = orders.generated_class("spark/order.proto")


def values_of(spark: SparkSession, cluster: Cluster, topic: str) -> list[Any]:
    rows = decode(read_topic(spark, cluster, topic), cluster).orderBy("position").collect()
    assert [row.finding for row in rows] == [None] * len(rows)
    return [row.value.asDict(recursive=True) if hasattr(row.value, "asDict") else row.value for row in rows]


@pytest.mark.parametrize("name", ON_PULSAR)
def test_on_pulsars_protocol(spark: SparkSession, request: pytest.FixtureRequest, name: str) -> None:
    running = clusters.embedded(request)
    topic, (schema, values) = running.topic(name), ON_PULSAR[name]
    with running.client() as client:
        send(client, topic, schema, values)
    assert values_of(spark, Cluster(running.url), topic) == [plain(value) for value in values]


@pytest.mark.parametrize("name", ON_KAFKA)
def test_on_kafka(spark: SparkSession, request: pytest.FixtureRequest, name: str) -> None:
    running = clusters.kafka(request)
    topic, (schema, values) = running.topic(name), ON_KAFKA[name]
    with running.client() as client:
        send(client, topic, schema, values)
    assert values_of(spark, Cluster(running.url, registry=running.registry), topic) == values


def test_schemas_of_a_third_party_registry(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    running = clusters.embedded(request)
    topic = running.topic("external")
    with running.client() as client, ConfluentSchemas(running.registry) as schemas:
        send(client, topic, schemas.avro(orders.text(orders.FIRST)), _VALUES)
        send(client, topic, schemas.avro(orders.text(orders.SECOND)), [{**order(3), "note": "n"}])
    read = values_of(spark, Cluster(running.url, registry=running.registry), topic)
    assert read == [*({**value, "note": None} for value in _VALUES), {**order(3), "note": "n"}]


def test_three_formats_on_one_topic(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    running = clusters.kafka(request)
    topic = running.topic("three")
    with RegistryClient(running.registry) as registry, running.client() as client:
        registry.set_strategy(f"{topic}-value", Strategy.ALWAYS_COMPATIBLE)
        for schema in (JsonSchema(orders.JSON_SCHEMA), ProtobufSchema(orders.PROTO), AvroSchema(orders.FIRST)):
            send(client, topic, schema, _VALUES)
    assert values_of(spark, Cluster(running.url, registry=running.registry), topic) == _VALUES * 3
