"""Our client, Confluent's serializers and Spark read what the others write, on a real Kafka with our registry."""

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from pyspark.sql import SparkSession

from tallystick import AvroSchema, Client
from tallystick.spark.cluster import Cluster
from tallystick.spark.kafka import Delivery, read, write
from tests.contracts import orders
from tests.contracts.clusters import Served
from tests.kafka.driving import new_name
from tests.kafka.server import Kafka
from tests.spark.kafka.topics import WAIT_S, Headers, Put, held, new_topic, rows

SCHEMA = AvroSchema(orders.FIRST)


@pytest.fixture
def registry(served: Served) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": served.confluent}) as client:
        yield client


def _confluent(registry: SchemaRegistryClient, kafka: Kafka, topic: str, value: dict[str, Any], framing: str) -> None:
    conf: dict[str, Any] = {"schema.id.serializer": header_schema_id_serializer} if framing == "header" else {}
    headers: Headers = []
    context = SerializationContext(topic, MessageField.VALUE, headers)
    data = AvroSerializer(registry, SCHEMA.definition.text, conf=conf)(value, context)
    producer = Producer({"bootstrap.servers": kafka.servers})
    producer.produce(topic, data, headers=headers, partition=0)
    assert producer.flush(WAIT_S) == 0


def _deserialized(deserializer: Any, topic: str, record: Put) -> Any:
    return deserializer(record.value, SerializationContext(topic, MessageField.VALUE, list(record.headers)))


@pytest.mark.parametrize("framing", ["transport", "header"])
def test_avro_of_all_three(
    spark: SparkSession, kafka: Kafka, served: Served, registry: SchemaRegistryClient, framing: str
) -> None:
    source, targets = new_topic(kafka), {delivery: new_topic(kafka) for delivery in Delivery}
    cluster = Cluster(f"kafka://{kafka.servers}", registry=served.confluent, framing=framing)  # type: ignore[arg-type]
    wanted = [orders.order(1), orders.order(2)]
    with Client(cluster.url, registry=served.confluent, framing=framing) as client:
        with client.producer(source, SCHEMA) as producer:
            producer.send(wanted[0], properties={"a": "b"})
        _confluent(registry, kafka, source, wanted[1], framing)
        frames = read(spark, cluster, source)
        ours, theirs = rows(frames)
        assert bytes(ours["payload"]) == b"\x02\x0citem 1"
        assert bytes(theirs["payload"]) == b"\x04\x0citem 2"
        assert ours["schema_id"] is not None
        # Confluent's serializers write GUIDs into headers, and ids before payloads.
        known = theirs["schema_mark"] if framing == "header" else theirs["schema_id"]
        assert known is not None
        for delivery, target in targets.items():
            once = {"query": new_name("query"), "batch_id": 0} if delivery is Delivery.EXACTLY_ONCE else {}
            write(frames, cluster, target, delivery=delivery, keep_partition=True, **once)  # type: ignore[arg-type]
            with client.reader(target, SCHEMA) as reader:
                messages = orders.received(reader, 2)
            assert [message.value for message in messages] == wanted
            assert messages[0].properties == {"a": "b"}
            found = [_deserialized(AvroDeserializer(registry), target, record) for record in held(kafka, target)]
            assert found == wanted


def test_paths_of_protobuf_stay_in_headers(
    spark: SparkSession, kafka: Kafka, served: Served, registry: SchemaRegistryClient
) -> None:
    """Which schemas are Protobuf's is asked of the registry."""
    source, target = new_topic(kafka), new_topic(kafka)
    cluster = Cluster(f"kafka://{kafka.servers}", registry=served.confluent, framing="header")  # type: ignore[arg-type]
    made = orders.generated_class(f"spark/{new_name()}.proto")
    headers: Headers = []
    conf = {"schema.id.serializer": header_schema_id_serializer}
    data = ProtobufSerializer(made, registry, conf)(
        made(id=7, item="x"), SerializationContext(source, MessageField.VALUE, headers)
    )
    producer = Producer({"bootstrap.servers": kafka.servers})
    producer.produce(source, data, headers=headers, partition=0)
    assert producer.flush(WAIT_S) == 0
    write(read(spark, cluster, source), cluster, target)
    # The bytes of Confluent's own serializer.
    [before], [after] = held(kafka, source), held(kafka, target)
    assert (after.value, after.headers) == (before.value, before.headers)
    assert _deserialized(ProtobufDeserializer(made, {}, registry), target, after) == made(id=7, item="x")
