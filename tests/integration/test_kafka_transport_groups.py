"""Consumer groups on a real Kafka: places, acknowledgements, redelivery, rebalancing."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from tallystick.errors import Busy, Closed
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Incoming, Outgoing
from tallystick.messaging.settings import EARLIEST, LATEST
from tallystick.transports.kafka import KafkaTransport
from tests.kafka.driving import (
    PATIENCE_S,
    Inbox,
    acknowledged,
    connected,
    make_topic,
    new_name,
    producing,
    run,
    send,
    subscribed,
)
from tests.kafka.server import Kafka

pytestmark = pytest.mark.jvm


def kept(kafka: Kafka, group: str, topic: str, partitions: int = 1) -> list[int]:
    """Where the group goes on, as Kafka knows it."""
    consumer = Consumer({"bootstrap.servers": kafka.servers, "group.id": group})
    places = consumer.committed([TopicPartition(topic, number) for number in range(partitions)], timeout=PATIENCE_S)
    consumer.close()
    return [place.offset for place in places]


async def _reopened(transport: KafkaTransport, inbox: Inbox, topic: str, group: str, **settings: object) -> Inbox:
    await inbox.inlet.close()
    return await subscribed(transport, topic, subscription=group, **settings)


def test_the_latest_place_is_where_the_subscription_was_opened(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic, group = new_name(), new_name("group")
            outlet = await producing(transport, topic)
            await send(outlet, b"before")
            inbox = await subscribed(transport, topic, subscription=group, start=LATEST)
            await send(outlet, b"after")
            assert await inbox.payloads(1) == [b"after"]
            # Nothing was acknowledged, and the place of the opening is kept.
            inbox = await _reopened(transport, inbox, topic, group, start=LATEST)
            assert await inbox.payloads(1) == [b"after"]

    run(work())


def test_a_subscription_that_nobody_uses_keeps_its_place(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic, group = new_name(), new_name("group")
            inbox = await subscribed(transport, topic, subscription=group, start=LATEST)
            await inbox.inlet.close()
            await send(await producing(transport, topic), b"meanwhile")
            inbox = await subscribed(transport, topic, subscription=group, start=LATEST)
            assert await inbox.payloads(1) == [b"meanwhile"]

    run(work())


def test_a_new_subscription_starts_at_a_time(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic, now = new_name(), datetime.now(UTC).replace(microsecond=1999)
            times = [now - timedelta(minutes=minutes) for minutes in (2, 1)]
            messages = [Outgoing(b"%d" % n, event_time_ms=int(at.timestamp() * 1000)) for n, at in enumerate(times)]
            await send(await producing(transport, topic), *messages)
            inbox = await subscribed(transport, topic, subscription=new_name("group"), start=times[1])
            assert await inbox.payloads(1) == [b"1"]

    run(work())


def test_what_is_acknowledged_out_of_order_is_kept_up_to_the_first_gap(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic, group = new_name(), new_name("group")
            await send(await producing(transport, topic), *(b"%d" % number for number in range(6)))
            inbox = await subscribed(transport, topic, subscription=group)
            messages = await inbox.take(6)
            for number in (4, 1, 0):
                await acknowledged(inbox, messages[number])
            assert await asyncio.to_thread(kept, kafka, group, topic) == [2]
            inbox.inlet.acknowledge(messages[2])
            # Closing sends what waits; the message that was acknowledged ahead comes again.
            inbox = await _reopened(transport, inbox, topic, group)
            assert await inbox.payloads(3) == [b"3", b"4", b"5"]

    run(work())


def test_cumulative_acknowledgement(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic, group = new_name(), new_name("group")
            await send(await producing(transport, topic), *(b"%d" % number for number in range(5)))
            inbox = await subscribed(transport, topic, subscription=group)
            await acknowledged(inbox, (await inbox.take(5))[3], cumulative=True)
            assert await asyncio.to_thread(kept, kafka, group, topic) == [4]

    run(work())


def test_acknowledgements_are_sent_together_after_a_while(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic, group = new_name(), new_name("group")
            await send(await producing(transport, topic), *(b"%d" % number for number in range(100)))
            inbox = await subscribed(transport, topic, subscription=group, acknowledge_delay_s=0.1)
            for message in await inbox.take(100):
                inbox.inlet.acknowledge(message)
            async with asyncio.timeout(PATIENCE_S):
                while await asyncio.to_thread(kept, kafka, group, topic) != [100]:
                    await asyncio.sleep(0.05)

    run(work())


def test_a_rejected_message_comes_again_with_its_count(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic = new_name()
            await send(await producing(transport, topic), b"0", b"1", b"2")
            inbox = await subscribed(transport, topic, subscription=new_name("group"), reject_delay_s=0.2)
            first, second, third = await inbox.take(3)
            for message in (first, third):
                await acknowledged(inbox, message)
            for count in (1, 2):
                began = time.monotonic()
                inbox.inlet.reject(second)
                (second,) = await inbox.take(1)
                assert (second.payload, second.redelivery_count) == (b"1", count)
                assert time.monotonic() - began >= 0.2
            await acknowledged(inbox, second)

    run(work())


def test_all_that_is_not_acknowledged_comes_again(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic = new_name()
            await send(await producing(transport, topic), *(b"%d" % number for number in range(5)))
            inbox = await subscribed(transport, topic, subscription=new_name("group"))
            messages = await inbox.take(5)
            for number in (0, 2):
                inbox.inlet.acknowledge(messages[number])
            inbox.inlet.redeliver_all()
            again = await inbox.take(3)
            assert [(each.payload, each.redelivery_count) for each in again] == [(b"1", 1), (b"3", 1), (b"4", 1)]

    run(work())


def test_seeking_moves_the_place_of_the_group(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic, group = new_name(), new_name("group")
            await send(await producing(transport, topic), b"0", b"1", b"2")
            inbox = await subscribed(transport, topic, subscription=group)
            messages = await inbox.take(3)
            await acknowledged(inbox, messages[2], cumulative=True)
            await inbox.inlet.seek(messages[1].position)
            assert await inbox.payloads(2) == [b"1", b"2"]
            # What was received before counts no more.
            with pytest.raises(Closed):
                await acknowledged(inbox, messages[2])
            inbox = await _reopened(transport, inbox, topic, group)
            assert await inbox.payloads(2) == [b"1", b"2"]

    run(work())


def test_unsubscribing_forgets_the_place(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers, heartbeat_interval_ms=200) as transport:
            topic, group = new_name(), new_name("group")
            await send(await producing(transport, topic), b"0")
            inbox = await subscribed(transport, topic, subscription=group)
            await acknowledged(inbox, (await inbox.take(1))[0])
            other = await subscribed(transport, topic, subscription=group)
            with pytest.raises(Busy, match=group):
                await inbox.inlet.unsubscribe()
            await other.inlet.unsubscribe()
            inbox = await subscribed(transport, topic, subscription=group, start=EARLIEST)
            assert await inbox.payloads(1) == [b"0"]

    run(work())


REBALANCES: dict[str, dict[str, Any]] = {
    "eager": {"heartbeat_interval_ms": 200},
    "cooperative": {"heartbeat_interval_ms": 200, "partition_assignment_strategy": "cooperative-sticky"},
    "consumer protocol": {"group_protocol": "consumer"},
}


@pytest.mark.parametrize("options", REBALANCES.values(), ids=REBALANCES)
def test_partitions_move_between_consumers_without_loss(kafka: Kafka, options: dict[str, Any]) -> None:
    async def work() -> None:
        topic, group = make_topic(kafka.servers, 4), new_name("group")
        async with connected(kafka.servers, **options) as transport:
            outlet = await producing(transport, topic)
            first = await subscribed(transport, topic, subscription=group)
            await send(outlet, *_numbered(0, 100))
            held = await first.take(100)
            for message in held[:-20]:
                first.inlet.acknowledge(message)
            second = await subscribed(transport, topic, subscription=group)
            # What the first one has not acknowledged comes again where its partition has gone.
            await _settled(first, second, {m.payload for m in held[-20:] if m.payload is not None}, held)
            await send(outlet, *_numbered(100, 200))
            await _all_arrive(first, second, {b"%d" % number for number in range(100, 200)})
            assert all(inbox.messages for inbox in (first, second))
            for inbox in (first, second):
                for message in inbox.messages:
                    inbox.inlet.acknowledge(message)
                await inbox.inlet.close()
            places = await asyncio.to_thread(kept, kafka, group, topic, 4)
            assert sum(places) == 200

    run(work())


@pytest.mark.parametrize("options", REBALANCES.values(), ids=REBALANCES)
def test_what_is_acknowledged_is_kept_before_a_partition_goes(kafka: Kafka, options: dict[str, Any]) -> None:
    async def work() -> None:
        topic, group = make_topic(kafka.servers, 2), new_name("group")
        async with connected(kafka.servers, **options) as transport:
            outlet = await producing(transport, topic)
            # By itself nothing would be sent for longer than the test takes.
            first = await subscribed(transport, topic, subscription=group, acknowledge_delay_s=600)
            await send(outlet, *(Outgoing(b"early", partition=number % 2) for number in range(20)))
            for message in await first.take(20):
                first.inlet.acknowledge(message)
            second = await subscribed(transport, topic, subscription=group, acknowledge_delay_s=600)
            await send(outlet, *(Outgoing(b"late %d" % number, partition=number) for number in range(2)))
            await _all_arrive(first, second, {b"late 0", b"late 1"})
            assert sorted(message.payload or b"" for message in first.messages + second.messages) == [
                b"late 0",
                b"late 1",
            ]

    run(work())


def _numbered(start: int, end: int) -> list[Outgoing]:
    return [Outgoing(b"%d" % number, partition=number % 4) for number in range(start, end)]


async def _settled(first: Inbox, second: Inbox, left: set[bytes], held: list[Incoming]) -> None:
    """Acknowledges what the first one holds, as far as it may, and all that comes again."""
    for message in held:
        done: Pending[None] = Pending()
        first.inlet.acknowledge(message, done=done)
        async with asyncio.timeout(PATIENCE_S):
            try:
                await done
                left.discard(message.payload or b"")
            except Closed:
                pass
    await _all_arrive(first, second, left)
    for inbox in (first, second):
        for message in await inbox.take(len(inbox.messages)):
            inbox.inlet.acknowledge(message)


async def _all_arrive(first: Inbox, second: Inbox, payloads: set[bytes]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not payloads <= {message.payload for inbox in (first, second) for message in inbox.messages}:
            await asyncio.sleep(0.02)


def test_a_slow_program_stays_in_its_group(kafka: Kafka) -> None:
    async def work() -> None:
        options = {"max_poll_interval_ms": 3000, "session_timeout_ms": 3000, "heartbeat_interval_ms": 500}
        async with connected(kafka.servers, **options) as transport:
            topic, group = new_name(), new_name("group")
            await send(await producing(transport, topic), *(b"%d" % number for number in range(30)))
            inbox = await subscribed(transport, topic, subscription=group, queue_size=10)
            await inbox.until(lambda messages: len(messages) == 10)
            # The time itself is what is tested: longer than the group lets anyone be silent.
            await asyncio.sleep(4.5)
            assert len(inbox.messages) <= 11
            await acknowledged(inbox, inbox.messages[9], cumulative=True)
            messages = await inbox.take(30)
            assert [message.payload for message in messages] == [b"%d" % number for number in range(30)]
            await acknowledged(inbox, messages[-1], cumulative=True)
            assert await asyncio.to_thread(kept, kafka, group, topic) == [30]

    run(work())


def test_a_full_queue_does_not_hold_up_acknowledgements(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic, group = new_name(), new_name("group")
            await send(await producing(transport, topic), *(b"%d" % number for number in range(50)))
            inbox = await subscribed(transport, topic, subscription=group, queue_size=10)
            await inbox.until(lambda messages: len(messages) >= 10)
            began = time.monotonic()
            for message in inbox.messages[:5]:
                await acknowledged(inbox, message)
            assert time.monotonic() - began < PATIENCE_S / 2

    run(work())
