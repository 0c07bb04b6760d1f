"""The schema's id before the payload, on every cluster: what is registered, what travels, what is read."""

import pytest

from tallystick import (
    BYTES,
    AutoConsume,
    AvroSchema,
    Client,
    InvalidArgument,
    InvalidRecord,
    JsonSchema,
    KeyValue,
    KeyValueEncoding,
    KeyValueSchema,
    ProtobufSchema,
    RegistryClient,
    Schema,
)
from tests.contracts import orders
from tests.contracts.clusters import Cluster
from tests.contracts.orders import WAIT_S, ids, marks, order, received

FIRST, SECOND = AvroSchema(orders.FIRST), AvroSchema(orders.SECOND)
SCHEMAS = [FIRST, JsonSchema(orders.JSON_SCHEMA), ProtobufSchema(orders.PROTO)]


def _framed(cluster: Cluster) -> Client:
    """Registers by OpenSchema's API."""
    return cluster.client(registry=cluster.openschema, framing="payload")


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: str(schema.definition.type))
def test_a_framed_value_comes_back(cluster: Cluster, topic: str, schema: Schema[object]) -> None:
    with _framed(cluster) as client:
        with client.producer(topic, schema) as producer:
            producer.send(order(7))
        for reading in (schema, AutoConsume()):
            with client.reader(topic, reading) as reader:
                message = reader.receive(WAIT_S)
                assert message.value == order(7)
                assert message.schema is not None


def test_the_payload_begins_with_a_zero_byte_and_the_id_in_the_registry(cluster: Cluster, topic: str) -> None:
    with _framed(cluster) as client, client.producer(topic, FIRST) as producer:
        producer.send(order(7))
    with RegistryClient(cluster.openschema) as registry:
        schema_id = registry.by_version(f"{topic}-value").id
    assert schema_id is not None
    with cluster.client() as bare, bare.reader(topic, BYTES) as reader:
        message = reader.receive(WAIT_S)
    assert message.value == b"\x00" + schema_id.to_bytes(4) + FIRST.to_payload(order(7))
    assert message.schema_version is None


def test_the_reader_sees_id_and_schema_of_each_message(cluster: Cluster, topic: str) -> None:
    wanted = [1, 1, 2, 2, 1]
    with _framed(cluster) as client:
        with client.producer(topic, FIRST) as producer:
            for number, which in enumerate(wanted):
                producer.send_async(order(number), schema={1: FIRST, 2: SECOND}[which])
            producer.flush()
        with client.reader(topic, SECOND) as reader:
            messages = received(reader, 5)
    assert marks(messages) == wanted
    assert [message.value for message in messages] == [{**order(number), "note": None} for number in range(5)]
    assert all(isinstance(message.schema_id, int) for message in messages)
    texts = [None if message.schema is None else "note" in message.schema.text for message in messages]
    assert texts == [False, False, True, True, False]


def test_key_and_value_have_a_frame_each(cluster: Cluster, topic: str) -> None:
    pairs = KeyValueSchema(AvroSchema(orders.avro(orders.ID, name="shop.Key")), FIRST, KeyValueEncoding.SEPARATED)
    with _framed(cluster) as client:
        with client.producer(topic, pairs) as producer:
            producer.send(KeyValue({"id": 5}, order(7)))
        with client.reader(topic, pairs) as reader:
            assert reader.receive(WAIT_S).value == KeyValue({"id": 5}, order(7))
        with client.reader(topic, BYTES) as reader:
            message = reader.receive(WAIT_S)
    assert message.payload is not None
    assert message.key_bytes is not None
    assert message.payload[:1] == message.key_bytes[:1] == b"\x00"
    assert message.payload[1:5] != message.key_bytes[1:5]


@pytest.mark.parametrize(
    "payload", [b"", b"\x00\x00", b"\x05garbage", b"\x00\x7f\xff\xff\xff\x02", b"\x01short"], ids=lambda p: p.hex()
)
def test_what_is_no_frame_is_told_when_the_value_is_read(cluster: Cluster, topic: str, payload: bytes) -> None:
    with _framed(cluster) as client:
        with client.producer(topic) as producer:
            producer.send(payload)
            producer.send(order(2), schema=FIRST)
        with client.reader(topic, FIRST) as reader:
            bad, good = received(reader, 2)
            assert bad.payload == payload
            with pytest.raises(InvalidRecord) as refused:
                _ = bad.value
            assert refused.value.findings
            assert ids([good]) == [2]


def test_a_schema_needs_the_registry_that_keeps_it(cluster: Cluster, topic: str) -> None:
    with cluster.client(registry=None, framing="payload") as client:
        with pytest.raises(InvalidArgument, match="registry="):
            client.producer(topic, FIRST)
        with client.producer(topic) as producer:
            producer.send(b"bytes go without")
