"""What a consumer makes of messages: the schemas of their writers, those that cannot be read, those that come again."""

import json
import threading
from typing import Any

import pytest

from tallystick import (
    BYTES,
    AutoConsume,
    AvroSchema,
    Client,
    Closed,
    DeadLetter,
    IncompatibleSchema,
    InvalidRecord,
    TallystickError,
)
from tests.contracts import orders
from tests.contracts.clusters import Cluster
from tests.contracts.orders import WAIT_S, Order, ids, marks, order, received

FIRST, SECOND, THIRD = AvroSchema(orders.FIRST), AvroSchema(orders.SECOND), AvroSchema(orders.THIRD)


@pytest.fixture
def sent(client: Client, topic: str) -> str:
    """A topic with three orders."""
    with client.producer(topic, FIRST) as producer:
        for number in range(3):
            producer.send(order(number))
    return topic


def test_messages_are_read_by_the_schema_of_their_writer_into_the_readers(client: Client, topic: str) -> None:
    with client.producer(topic, FIRST) as producer:
        producer.send(order(1))
        producer.send({**order(2), "note": "n"}, schema=SECOND)
    with client.reader(topic, THIRD) as reader:
        values = [message.value for message in received(reader, 2)]
    assert values == [{**order(1), "note": None, "price": 1.5}, {**order(2), "note": "n", "price": 1.5}]
    with client.reader(topic, AvroSchema(Order, namespace="shop")) as reader:
        assert [message.value for message in received(reader, 2)] == [Order(1, "item 1"), Order(2, "item 2", "n")]


def test_a_message_shows_the_schema_that_it_was_written_with(client: Client, topic: str) -> None:
    with client.producer(topic, FIRST) as producer:
        producer.send(order(1))
        producer.send({**order(2), "note": "n"}, schema=SECOND)
    with client.reader(topic, FIRST) as reader:
        messages = received(reader, 2)
    assert marks(messages) == [1, 2]
    written = [message.schema for message in messages]
    assert [None if schema is None else "note" in schema.text for schema in written] == [False, True]


def test_a_reader_whose_schema_does_not_fit_is_not_let_in_or_told_at_the_first_value(client: Client, sent: str) -> None:
    def read() -> Any:
        with client.reader(sent, AvroSchema(orders.FOREIGN)) as reader:
            return reader.receive(WAIT_S).value

    # Who keeps the schemas decides when: Pulsar looks when a consumer comes, Kafka never.
    with pytest.raises((IncompatibleSchema, InvalidRecord)) as refused:
        read()
    assert sent in str(refused.value)


def test_what_cannot_be_read_raises_when_its_value_is_asked_for(client: Client, topic: str) -> None:
    with client.producer(topic, FIRST) as producer:
        producer.send(order(1), key="k")
        producer.send(b"\x02", schema=BYTES, key="k")
        producer.send(order(3), key="k")
    with client.reader(topic, FIRST) as reader:
        good, bad, next_one = received(reader, 3)
    assert (good.value, next_one.value) == (order(1), order(3))
    assert (bad.payload, bad.key) == (b"\x02", "k")
    for _ in range(2):
        with pytest.raises(InvalidRecord, match=topic) as refused:
            _ = bad.value
        assert refused.value.findings
        assert refused.value.findings[0].fix


def test_a_message_that_cannot_be_read_becomes_a_dead_letter_with_the_reason(client: Client, topic: str) -> None:
    with client.consumer(topic, "s", FIRST, start="earliest", kind="shared") as consumer:
        with client.producer(topic, FIRST) as producer:
            producer.send(b"\x02", schema=BYTES, key="k", properties={"own": "1"})
            producer.send(order(2))
        bad, good = received(consumer, 2)
        with pytest.raises(InvalidRecord) as refused:
            _ = bad.value
        consumer.dead_letter(bad, refused.value)
        consumer.acknowledge_async(good).result(WAIT_S)
    with client.reader(f"{topic}-s-DLQ", BYTES) as reader:
        letter = reader.receive(WAIT_S)
    assert (letter.value, letter.key_bytes) == (b"\x02", b"k")
    told = letter.properties
    assert told["own"] == "1"
    assert told["dead-letter-subscription"] == "s"
    assert told["dead-letter-position"] == str(bad.position)
    assert topic in told["dead-letter-topic"]
    assert told["dead-letter-reason"] == str(refused.value)
    assert [each["rule"] for each in json.loads(told["dead-letter-findings"])] == [
        finding.rule for finding in refused.value.findings
    ]


def test_a_dead_letter_does_not_come_again(client: Client, sent: str) -> None:
    with client.consumer(sent, "s", FIRST, start="earliest", kind="shared") as consumer:
        first, second, third = received(consumer, 3)
        consumer.dead_letter(first)
        consumer.acknowledge_async(second).result(WAIT_S)
    with client.consumer(sent, "s", FIRST, kind="shared") as consumer:
        assert consumer.receive(WAIT_S).position == third.position


def test_a_rejected_message_comes_again_and_says_so(client: Client, sent: str) -> None:
    with client.consumer(sent, "s", FIRST, start="earliest", kind="shared", reject_delay_s=0.05) as consumer:
        first, second, third = received(consumer, 3)
        assert [message.redelivery_count for message in (first, second, third)] == [0, 0, 0]
        consumer.acknowledge(first)
        consumer.acknowledge(third)
        consumer.reject(second)
        again = consumer.receive(WAIT_S)
        assert (again.value, again.position) == (second.value, second.position)
        assert again.redelivery_count == 1
        consumer.reject(again)
        assert consumer.receive(WAIT_S).redelivery_count == 2


def test_what_was_not_acknowledged_comes_again_when_asked_for(client: Client, sent: str) -> None:
    with client.consumer(sent, "s", FIRST, start="earliest", kind="shared") as consumer:
        first, _, _ = received(consumer, 3)
        consumer.acknowledge_async(first).result(WAIT_S)
        consumer.redeliver_unacknowledged()
        assert sorted(ids(received(consumer, 2))) == [1, 2]


def test_a_message_that_came_too_often_becomes_a_dead_letter_by_itself(client: Client, topic: str) -> None:
    letters = f"{topic}-letters"
    settings = DeadLetter(topic=letters, after=2)
    with client.producer(topic, FIRST) as producer:
        producer.send(order(1), properties={"own": "1"})
    with client.consumer(
        topic, "s", FIRST, start="earliest", kind="shared", reject_delay_s=0.05, dead_letter=settings
    ) as consumer:
        counts = []
        for _ in range(3):
            message = consumer.receive(WAIT_S)
            counts.append(message.redelivery_count)
            consumer.reject(message)
        assert counts == [0, 1, 2]
        with client.producer(topic, FIRST) as producer:
            producer.send(order(2))
        assert ids([consumer.receive(WAIT_S)]) == [2]
        with client.reader(letters, BYTES) as reader:
            letter = reader.receive(WAIT_S)
    assert letter.properties["own"] == "1"
    assert "3 times" in letter.properties["dead-letter-reason"]
    assert letter.payload is not None
    assert letter.payload.endswith(FIRST.to_payload(order(1)))


def test_a_reader_needs_the_name_of_its_dead_letters(client: Client, sent: str) -> None:
    with client.reader(sent, FIRST) as reader:
        message = reader.receive(WAIT_S)
        with pytest.raises(TallystickError, match="dead_letter"):
            reader.dead_letter(message)


def test_a_consumer_without_a_schema_takes_what_comes(client: Client, topic: str) -> None:
    with client.consumer(topic, "s", start="earliest") as consumer:
        assert isinstance(consumer.schema, AutoConsume)
        with client.producer(topic, FIRST) as producer:
            producer.send(order(1))
            producer.send({**order(2), "note": "n"}, schema=SECOND)
        assert [message.value for message in received(consumer, 2)] == [order(1), {**order(2), "note": "n"}]


def test_a_consumer_can_be_iterated_until_it_is_closed(client: Client, sent: str) -> None:
    got: list[int] = []
    with client.consumer(sent, "s", FIRST, start="earliest") as consumer:
        for message in consumer:
            got.append(message.value["id"])
            consumer.acknowledge(message)
            if len(got) == 3:
                consumer.close()
    assert got == [0, 1, 2]


def test_closing_ends_the_wait_for_a_message(client: Client, topic: str) -> None:
    consumer = client.consumer(topic, "s", FIRST)
    ended: list[BaseException] = []

    def wait() -> None:
        try:
            consumer.receive()
        except TallystickError as e:
            ended.append(e)

    waiting = threading.Thread(target=wait)
    waiting.start()
    asynchronous = consumer.receive_async()
    consumer.close()
    waiting.join(WAIT_S)
    assert [type(error) for error in ended] == [Closed]
    with pytest.raises(Closed):
        asynchronous.result(WAIT_S)


def test_messages_are_fetched_as_the_queue_empties(client: Client, cluster: Cluster) -> None:
    topic = cluster.topic()
    with client.producer(topic, FIRST) as producer:
        for number in range(200):
            producer.send_async(order(number))
        producer.flush()
    with client.reader(topic, FIRST, queue_size=5) as reader:
        assert ids(received(reader, 200)) == list(range(200))


def test_several_can_be_taken_at_once(client: Client, sent: str) -> None:
    with client.reader(sent, FIRST) as reader:
        got: list[int] = []
        while len(got) < 3:
            more = reader.receive_many(2, WAIT_S)
            assert 1 <= len(more) <= 2
            got += ids(more)
    assert got == [0, 1, 2]
