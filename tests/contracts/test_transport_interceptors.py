"""A program's own code around its messages."""

from dataclasses import replace
from typing import Any

import pytest

from tallystick import (
    AvroSchema,
    Client,
    Consumer,
    ConsumerInterceptor,
    IncompatibleSchema,
    InvalidRecord,
    Message,
    NewMessage,
    Producer,
    ProducerInterceptor,
)
from tests.contracts import orders
from tests.contracts.orders import WAIT_S, ids, order, received

FIRST, FOREIGN = AvroSchema(orders.FIRST), AvroSchema(orders.FOREIGN)


def _id(message: NewMessage[Any]) -> Any:
    assert message.value is not None
    return message.value["id"]


class Counting(ProducerInterceptor):
    """Numbers what it sees; orders with an odd id are not for it."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.answers: list[tuple[Any, bool, str | None]] = []
        self.closed = 0

    def eligible(self, message: NewMessage[Any]) -> bool:
        return not isinstance(_id(message), int) or _id(message) % 2 == 0

    def before_send(self, producer: Producer[Any], message: NewMessage[Any]) -> NewMessage[Any]:
        self.seen.append(_id(message))
        return replace(message, properties={**message.properties, "seen": str(len(self.seen))})

    def on_send_acknowledgement(
        self, producer: Producer[Any], message: NewMessage[Any], position: Any, error: BaseException | None
    ) -> None:
        self.answers.append((_id(message), position is not None, None if error is None else type(error).__name__))

    def close(self) -> None:
        self.closed += 1


def test_a_producers_interceptor_sees_and_changes_what_it_is_for(client: Client, topic: str) -> None:
    counting = Counting()
    with client.producer(topic, FIRST, interceptors=[counting]) as producer:
        for number in range(4):
            producer.send(order(number), properties={"own": "1"})
    assert counting.seen == [0, 2]
    assert counting.answers == [(0, True, None), (2, True, None)]
    assert counting.closed == 1
    with client.reader(topic, FIRST) as reader:
        properties = [dict(message.properties) for message in received(reader, 4)]
    assert properties == [{"own": "1", "seen": "1"}, {"own": "1"}, {"own": "1", "seen": "2"}, {"own": "1"}]


def test_a_producers_interceptor_is_told_of_failures(client: Client, topic: str) -> None:
    counting = Counting()
    with client.producer(topic, FIRST, interceptors=[counting]) as producer:
        with pytest.raises(IncompatibleSchema):
            producer.send({"id": "x", "item": "y"}, schema=FOREIGN)
        producer.send(order(2))
    assert counting.answers == [("x", False, "IncompatibleSchema"), (2, True, None)]


def test_what_before_send_raises_is_what_send_raises(client: Client, topic: str) -> None:
    class Refusing(ProducerInterceptor):
        def before_send(self, producer: Producer[Any], message: NewMessage[Any]) -> NewMessage[Any]:
            raise InvalidRecord("not today", [])

    with client.producer(topic, FIRST, interceptors=[Refusing()]) as producer:
        with pytest.raises(InvalidRecord, match="not today"):
            producer.send(order(1))
        assert producer.pending == 0


def test_interceptors_work_in_their_order(client: Client, topic: str) -> None:
    class Adding(ProducerInterceptor):
        def __init__(self, text: str) -> None:
            self.text = text

        def before_send(self, producer: Producer[Any], message: NewMessage[Any]) -> NewMessage[Any]:
            assert message.value is not None
            return replace(message, value={**message.value, "item": message.value["item"] + self.text})

    with client.producer(topic, FIRST, interceptors=[Adding(" a"), Adding(" b")]) as producer:
        producer.send(order(1))
    with client.reader(topic, FIRST) as reader:
        assert reader.receive(WAIT_S).value["item"] == "item 1 a b"


class Watching(ConsumerInterceptor):
    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []

    def eligible(self, message: Message[Any]) -> bool:
        return bool(message.value["id"] != 1)

    def before_consume(self, consumer: Consumer[Any], message: Message[Any]) -> Message[Any]:
        self.seen.append(("before", message.value["id"]))
        return message

    def on_acknowledge(self, consumer: Consumer[Any], message: Message[Any]) -> None:
        self.seen.append(("acknowledged", message.value["id"]))

    def on_acknowledge_cumulative(self, consumer: Consumer[Any], message: Message[Any]) -> None:
        self.seen.append(("all acknowledged", message.value["id"]))

    def on_reject(self, consumer: Consumer[Any], message: Message[Any]) -> None:
        self.seen.append(("rejected", message.value["id"]))

    def close(self) -> None:
        self.seen.append(("closed", 0))


def test_a_consumers_interceptor_sees_what_happens_to_messages(client: Client, topic: str) -> None:
    watching = Watching()
    with client.producer(topic, FIRST) as producer:
        for number in range(4):
            producer.send(order(number))
    with client.consumer(topic, "s", FIRST, start="earliest", interceptors=[watching], reject_delay_s=30) as consumer:
        first, second, third = received(consumer, 3)
        fourth = consumer.receive_async().result(WAIT_S)
        assert ids([first, second, third, fourth]) == [0, 1, 2, 3]
        consumer.acknowledge(first)
        consumer.acknowledge_async(second).result(WAIT_S)
        consumer.acknowledge_cumulative(third)
        consumer.reject(fourth)
    assert watching.seen == [
        ("before", 0),
        ("before", 2),
        ("before", 3),
        ("acknowledged", 0),
        ("all acknowledged", 2),
        ("rejected", 3),
        ("closed", 0),
    ]


def test_what_before_consume_raises_is_what_receive_raises(client: Client, topic: str) -> None:
    class Refusing(ConsumerInterceptor):
        def before_consume(self, consumer: Consumer[Any], message: Message[Any]) -> Message[Any]:
            raise InvalidRecord("not for you", [])

    with client.producer(topic, FIRST) as producer:
        producer.send(order(1))
        producer.send(order(2))
    with client.consumer(topic, "s", FIRST, start="earliest", interceptors=[Refusing()]) as consumer:
        with pytest.raises(InvalidRecord, match="not for you"):
            consumer.receive(WAIT_S)
        with pytest.raises(InvalidRecord, match="not for you"):
            consumer.receive_async().result(WAIT_S)
