"""What goes wrong with Kafka, and how it is told: within its time, by a documented error."""

import asyncio
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from tallystick.errors import Closed, Forbidden, InvalidArgument, TimedOut, TopicNotFound, Unauthenticated, Unavailable
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Outgoing
from tallystick.model.position import KafkaPosition, Position
from tests.kafka.driving import (
    PATIENCE_S,
    acknowledged,
    connected,
    make_topic,
    new_name,
    position,
    producing,
    put,
    run,
    send,
    subscribed,
)
from tests.kafka.server import PASSWORD, USER, Kafka, KafkaNode, kafka_node
from tests.maven import missing
from tests.ports import free_port

_SASL: dict[str, Any] = {"security_protocol": "sasl_plaintext", "sasl_mechanism": "PLAIN", "sasl_username": USER}


def _must_be_quick(began: float, timeout_s: float) -> None:
    """The time-out, and what a busy machine adds to it."""
    assert time.monotonic() - began < timeout_s + 10


def test_brokers_that_are_not_there() -> None:
    async def work() -> None:
        servers = f"127.0.0.1:{free_port()},127.0.0.1:{free_port()}"
        async with connected(servers, timeout_s=1) as transport:
            opening = (
                lambda: producing(transport, "t"),
                lambda: subscribed(transport, "t"),
                lambda: subscribed(transport, "t", subscription="s"),
                lambda: transport.partitions("t"),
            )
            for opened in opening:
                began = time.monotonic()
                with pytest.raises(Unavailable, match=servers):
                    await opened()
                _must_be_quick(began, 1)

    run(work())


def test_an_option_that_librdkafka_does_not_know() -> None:
    async def work() -> None:
        async with connected("127.0.0.1:1", no_such_option="x") as transport:
            for opened in (producing(transport, "t"), subscribed(transport, "t")):
                with pytest.raises(InvalidArgument, match=r"no\.such\.option"):
                    await opened
            with pytest.raises(InvalidArgument, match=r"no\.such\.option"):
                await transport.partitions("t")

    run(work())


@pytest.mark.jvm
def test_a_password_lets_us_in(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.sasl_servers, sasl_password=PASSWORD, **_SASL) as transport:
            topic = new_name()
            inbox = await subscribed(transport, topic, subscription=new_name("group"))
            await send(await producing(transport, topic), b"secret")
            (message,) = await inbox.take(1)
            assert message.payload == b"secret"
            await acknowledged(inbox, message)
            assert await transport.partitions(topic) == 1

    run(work())


@pytest.mark.jvm
def test_a_wrong_password_does_not(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.sasl_servers, sasl_password="wrong", **_SASL) as transport:
            for opened in (
                producing(transport, "t"),
                subscribed(transport, "t"),
                subscribed(transport, "t", subscription="s"),
                transport.partitions("t"),
            ):
                began = time.monotonic()
                with pytest.raises(Unauthenticated, match=kafka.sasl_servers):
                    await opened
                # Not the time-out: a password does not get better.
                _must_be_quick(began, PATIENCE_S / 6)

    run(work())


@pytest.mark.jvm
def test_what_an_acl_denies_is_forbidden(kafka: Kafka) -> None:
    async def work() -> None:
        topic, group = make_topic(kafka.servers, 1), new_name("group")
        topics = [make_topic(kafka.servers, 1) for _ in range(2)]
        _change(kafka, ResourceType.TOPIC, topics[0], AclOperation.ALL, AclPermissionType.ALLOW)
        _change(kafka, ResourceType.TOPIC, topics[0], AclOperation.WRITE, AclPermissionType.DENY)
        _change(kafka, ResourceType.TOPIC, topics[1], AclOperation.DESCRIBE, AclPermissionType.DENY)
        _change(kafka, ResourceType.GROUP, group, AclOperation.READ, AclPermissionType.DENY)
        async with connected(kafka.sasl_servers, sasl_password=PASSWORD, **_SASL) as transport:
            (answer,) = put(await producing(transport, topics[0]), b"x")
            with pytest.raises(Forbidden, match=topics[0]):
                await position(answer)
            with pytest.raises(Forbidden, match=topics[1]):
                await producing(transport, topics[1])
            with pytest.raises(Forbidden, match=topic):
                await subscribed(transport, topic, subscription=group)

    run(work())


def _change(
    kafka: Kafka, kind: ResourceType, name: str, operation: AclOperation, permission: AclPermissionType
) -> None:
    binding = AclBinding(kind, name, ResourcePatternType.LITERAL, f"User:{USER}", "*", operation, permission)
    admin = AdminClient({"bootstrap.servers": kafka.servers})
    admin.create_acls([binding])[binding].result(PATIENCE_S)


@pytest.mark.jvm
def test_a_name_that_no_topic_can_have(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            for opened in (producing(transport, "a b"), subscribed(transport, "a b")):
                with pytest.raises(InvalidArgument, match="a b"):
                    await opened

    run(work())


@pytest.mark.jvm
def test_a_member_that_does_not_fit_into_its_group(kafka: Kafka) -> None:
    async def work() -> None:
        topic, group = new_name(), new_name("group")
        strategy: dict[str, Any] = {"partition_assignment_strategy": "cooperative-sticky"}
        async with connected(kafka.servers) as eager, connected(kafka.servers, **strategy) as cooperative:
            await subscribed(eager, topic, subscription=group)
            with pytest.raises(InvalidArgument, match=topic):
                await subscribed(cooperative, topic, subscription=group)

    run(work())


@pytest.fixture(scope="module")
def node() -> Iterator[KafkaNode]:
    """A node of our own, which may be stopped; it makes no topics by itself."""
    reason = missing()
    if reason is not None:
        pytest.skip(f"a real Kafka cannot run here: {reason}")
    # A node that was killed comes back only after its session, which is long by default.
    session = {"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"}
    with kafka_node({"auto.create.topics.enable": "false", **session}) as node:
        node.start()
        yield node


@pytest.mark.jvm
def test_a_topic_that_is_not_there_and_not_made(node: KafkaNode) -> None:
    async def work() -> None:
        async with connected(node.servers) as transport:
            topic = new_name()
            for opened in (producing(transport, topic), subscribed(transport, topic, subscription="s")):
                began = time.monotonic()
                with pytest.raises(TopicNotFound, match=topic):
                    await opened
                _must_be_quick(began, 5)

    run(work())


@pytest.mark.jvm
def test_nothing_is_lost_or_out_of_order_when_the_broker_restarts(node: KafkaNode) -> None:
    """Messages are sent all the time, while the broker is killed and starts again on the same data."""

    async def work() -> None:
        topic, group = make_topic(node.servers, 1), new_name("group")
        async with connected(node.servers, reconnect_backoff_max_ms=500) as transport:
            outlet = await producing(transport, topic, send_timeout_s=120)
            inbox = await subscribed(transport, topic, subscription=group, queue_size=1_000_000)
            answers: list[Pending[Position]] = []
            sending = asyncio.create_task(_send_until_told(outlet, answers))
            await _until(lambda: len(inbox.messages) > 100)
            await asyncio.to_thread(node.stop, signal.SIGKILL)
            at_stop = len(answers)
            await _until(lambda: len(answers) > at_stop + 100)
            await asyncio.to_thread(node.start)
            await _until(lambda: any(answer.done() for answer in answers[at_stop + 50 :]))
            sending.cancel()
            positions = [await position(answer) for answer in answers]
            assert [each.offset for each in positions] == list(range(len(answers)))
            await _until(lambda: len({message.position for message in inbox.messages}) == len(answers))
            await acknowledged(inbox, inbox.messages[-1], cumulative=True)
        payloads = [message.payload for message in inbox.messages]
        assert list(dict.fromkeys(payloads)) == [b"%d" % number for number in range(len(answers))]

    run(work())


async def _send_until_told(outlet: object, answers: list[Pending[Position]]) -> None:
    while True:
        number = len(answers)
        answers.append(Pending())
        outlet.put(Outgoing(b"%d" % number), answers[number])  # type: ignore[attr-defined]
        await asyncio.sleep(0.002)


async def _until(is_so: object) -> None:
    assert callable(is_so)
    async with asyncio.timeout(2 * PATIENCE_S):
        while not is_so():
            await asyncio.sleep(0.02)


@pytest.mark.jvm
def test_while_the_broker_is_away_sends_time_out_and_closing_does_not_hang(node: KafkaNode) -> None:
    async def work() -> None:
        topic = make_topic(node.servers, 1)
        async with connected(node.servers, timeout_s=3) as transport:
            outlet = await producing(transport, topic, send_timeout_s=2)
            inbox = await subscribed(transport, topic, subscription=new_name("group"))
            assert await send(outlet, b"0") == [KafkaPosition(0, 0)]
            (message,) = await inbox.take(1)
            await asyncio.to_thread(node.stop)
            began = time.monotonic()
            (answer,) = put(outlet, b"1")
            with pytest.raises(TimedOut, match=topic):
                await position(answer)
            with pytest.raises(Unavailable, match=node.servers):
                await acknowledged(inbox, message)
            _must_be_quick(began, 5)
            (left,) = put(outlet, b"left")
            began = time.monotonic()
        _must_be_quick(began, 10)
        with pytest.raises((TimedOut, Closed), match=topic):
            await position(left)

    try:
        run(work())
    finally:
        node.start()
