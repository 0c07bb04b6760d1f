"""What a message carries beside its value."""

import datetime as dt

import pytest

from tallystick import (
    BYTES,
    AvroSchema,
    Client,
    Compression,
    InvalidRecord,
    KeyValue,
    KeyValueEncoding,
    KeyValueSchema,
    TimedOut,
    Unsupported,
)
from tests.contracts import orders
from tests.contracts.clusters import Cluster
from tests.contracts.orders import WAIT_S, ids, order, received

ORDERS = AvroSchema(orders.FIRST)
NOON = dt.datetime(2024, 2, 29, 12, 0, 0, 250_000, tzinfo=dt.UTC)


def test_key_properties_and_event_time_come_with_it(client: Client, topic: str) -> None:
    with client.producer(topic, ORDERS) as producer:
        producer.send(order(1), key="Zoë", properties={"source": "test", "empty": ""}, event_time=NOON)
        producer.send(order(2))
    with client.reader(topic, ORDERS) as reader:
        first, second = received(reader, 2)
    assert (first.key, first.key_bytes, first.properties) == ("Zoë", "Zoë".encode(), {"source": "test", "empty": ""})
    assert first.event_time == NOON
    assert (second.key, second.properties) == (None, {})


def test_a_message_put_together_step_by_step(client: Client, topic: str) -> None:
    with client.producer(topic, ORDERS) as producer:
        message = producer.new_message().value(order(1)).key("k").property("a", "1").properties({"b": "2"})
        message.event_time(NOON).send()
    with client.reader(topic, ORDERS) as reader:
        got = reader.receive(WAIT_S)
    assert (got.value, got.key, got.properties, got.event_time) == (order(1), "k", {"a": "1", "b": "2"}, NOON)


def test_a_key_of_bytes_is_no_text(client: Client, topic: str) -> None:
    with client.producer(topic) as producer:
        producer.send(b"v", key=b"\xff\x00")
    with client.reader(topic, BYTES) as reader:
        message = reader.receive(WAIT_S)
    assert message.key_bytes == b"\xff\x00"
    with pytest.raises(InvalidRecord, match="key_bytes"):
        _ = message.key


def test_a_tombstone_has_a_key_and_no_value(client: Client, topic: str) -> None:
    with client.producer(topic, ORDERS) as producer:
        producer.send(order(1), key="k")
        producer.send(None, key="k")
        producer.send(order(2), key="k")
    with client.reader(topic, ORDERS) as reader:
        messages = received(reader, 3)
    assert [message.is_tombstone for message in messages] == [False, True, False]
    assert [message.value for message in messages] == [order(1), None, order(2)]
    assert [message.key for message in messages] == ["k", "k", "k"]


def test_an_empty_payload_is_no_tombstone(client: Client, topic: str) -> None:
    with client.producer(topic) as producer:
        producer.send(b"")
    with client.reader(topic, BYTES) as reader:
        message = reader.receive(WAIT_S)
    assert (message.value, message.is_tombstone) == (b"", False)


def test_the_value_of_a_pair_may_be_missing(client: Client, topic: str) -> None:
    keys = AvroSchema(orders.avro(orders.ID, name="shop.Key"))
    pairs = KeyValueSchema(keys, ORDERS, KeyValueEncoding.SEPARATED)
    with client.producer(topic, pairs) as producer:
        producer.send(KeyValue({"id": 5}, None))
        producer.send(KeyValue({"id": 5}, order(2)))
    with client.reader(topic, pairs) as reader:
        gone, kept = received(reader, 2)
    assert (gone.is_tombstone, gone.value) == (True, KeyValue({"id": 5}, None))
    assert kept.value == KeyValue({"id": 5}, order(2))


def test_publish_time_is_when_it_was_sent(client: Client, topic: str) -> None:
    before = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=1)
    with client.producer(topic, ORDERS) as producer:
        producer.send(order(1))
    after = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=1)
    with client.reader(topic, ORDERS) as reader:
        published = reader.receive(WAIT_S).publish_time
    assert published is not None
    assert before < published < after


def test_send_tells_the_position_that_the_message_has(client: Client, topic: str) -> None:
    with client.producer(topic, ORDERS) as producer:
        sent = [producer.send(order(number)) for number in range(3)]
    with client.reader(topic, ORDERS) as reader:
        messages = received(reader, 3)
    assert [message.position for message in messages] == sent
    assert sorted(sent) == sent


def test_positions_within_one_batch_are_told_apart(client: Client, topic: str) -> None:
    with client.producer(topic, ORDERS, batch_delay_s=1.0) as producer:
        pending = [producer.send_async(order(number)) for number in range(5)]
        producer.flush()
        sent = [each.result(WAIT_S) for each in pending]
    with client.reader(topic, ORDERS) as reader:
        assert [message.position for message in received(reader, 5)] == sent


@pytest.mark.parametrize("compression", list(Compression))
def test_batches_may_be_compressed(client: Client, topic: str, compression: Compression) -> None:
    with client.producer(topic, ORDERS, compression=compression) as producer:
        for number in range(20):
            producer.send_async({"id": number, "item": "again and " * 50})
        producer.flush()
    with client.reader(topic, ORDERS) as reader:
        assert ids(received(reader, 20)) == list(range(20))


def test_messages_of_one_key_go_to_one_partition_in_order(client: Client, cluster: Cluster) -> None:
    topic = cluster.topic(partitions=3)
    assert client.partitions(topic) == 3
    with client.producer(topic, ORDERS) as producer:
        for number in range(30):
            producer.send_async(order(number), key=f"key {number % 10}")
        producer.flush()
    with client.reader(topic, ORDERS) as reader:
        messages = received(reader, 30)
    assert len({message.partition for message in messages}) > 1
    for key in {message.key for message in messages}:
        ours = [message for message in messages if message.key == key]
        assert len({message.partition for message in ours}) == 1
        assert ids(ours) == sorted(ids(ours))


def test_a_message_goes_to_the_partition_that_it_names(client: Client, cluster: Cluster) -> None:
    topic = cluster.topic(partitions=3)
    with client.producer(topic, ORDERS) as producer:
        sent = [producer.new_message().value(order(n)).partition(n).send() for n in range(3)]
    assert [position.partition for position in sent] == [0, 1, 2]


@pytest.mark.gap("kafka", raises=Unsupported)
def test_a_message_may_be_delivered_later(client: Client, topic: str) -> None:
    due = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=2.5)
    with (
        client.consumer(topic, "s", ORDERS, kind="shared") as consumer,
        client.producer(topic, ORDERS) as producer,
    ):
        producer.new_message().value(order(1)).deliver_at(due).send()
        assert ids(received(consumer, 1)) == [1]
    # Pulsar looks once a second, and delivers what is due until the next time.
    assert dt.datetime.now(dt.UTC) > due - dt.timedelta(seconds=1.1)


def test_nothing_comes_from_an_empty_topic(client: Client, topic: str) -> None:
    with client.producer(topic, ORDERS), client.reader(topic, ORDERS) as reader:
        with pytest.raises(TimedOut):
            reader.receive(0.1)
        assert reader.receive_many(10, 0.1) == []
