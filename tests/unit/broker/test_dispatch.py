"""Consumers come, take, acknowledge, give back and go in any order: what the subscription owes them holds all along."""

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.broker.consumer import Consumer
from tallystick.broker.log.values import CursorState, Entry
from tallystick.broker.subscription import Subscription
from tallystick.errors import Busy
from tallystick.wire.pulsar.entries import build_entry
from tallystick.wire.pulsar.frames import FrameReader
from tallystick.wire.pulsar.pulsar_pb2 import CommandSubscribe, KeySharedMeta, KeySharedMode, MessageMetadata

_KEYS = 5
_AUTO_SPLIT = KeySharedMeta(keySharedMode=KeySharedMode.AUTO_SPLIT)


class Entries:
    """The part of a topic that subscriptions see, with all its entries in memory."""

    id, first, partition = 1, 0, None

    def __init__(self, count: int) -> None:
        self.entries = [_entry(number) for number in range(count)]

    @property
    def committed(self) -> int:
        return len(self.entries)

    def recent(self, number: int) -> Entry:
        return self.entries[number]

    def cursor_moved(self, subscription: Subscription) -> None: ...


def _entry(number: int) -> Entry:
    key = f"key-{number % _KEYS}"
    metadata = MessageMetadata(producer_name="p", sequence_id=number, publish_time=1, partition_key=key)
    return Entry(number, 1, 1, build_entry(metadata, b"x"))


class Wire:
    """A client's end: keeps the numbers of the entries that were sent to it."""

    address = client_version = ""
    is_writable = True

    def __init__(self) -> None:
        self.got: list[tuple[int, int]] = []
        self.told: list[bool] = []

    def write(self, frame: bytes) -> None:
        (read,) = FrameReader().feed(frame)
        self.got.append((read.command.message.message_id.entryId, read.command.message.redelivery_count))

    def close_consumer(self, consumer: Consumer) -> None: ...

    def tell_active(self, consumer: Consumer, is_active: bool) -> None:
        self.told.append(is_active)


class Group:
    """A subscription, its consumers, and what each holds as the clients see it."""

    def __init__(self, kind: int, count: int) -> None:
        self.topic = Entries(count)
        self.subscription = Subscription(self.topic, "s", CursorState(0), is_durable=True)  # type: ignore[arg-type]
        self.kind = kind
        self.held: dict[Consumer, list[int]] = {}
        self.acked: set[int] = set()
        self.delivered: set[int] = set()
        self.given_back: dict[int, int] = defaultdict(int)
        self.firsts: dict[int, list[int]] = defaultdict(list)
        """By key: entries in the order in which they were delivered for the first time."""
        self._ids = iter(range(1000))

    def join(self, permits: int) -> Consumer:
        number = next(self._ids)
        consumer = Consumer(number, f"c{number}", Wire(), self.subscription)
        self.subscription.attach(consumer, self.kind, _AUTO_SPLIT)
        self.held[consumer] = []
        self.subscription.flow(consumer, permits)
        return consumer

    def leave(self, consumer: Consumer) -> None:
        del self.held[consumer]
        self.subscription.detach(consumer)

    def ack(self, consumer: Consumer, number: int) -> None:
        self.held[consumer].remove(number)
        self.acked.add(number)
        self.subscription.ack(consumer, [(number, ())])

    def give_back(self, consumer: Consumer, number: int) -> None:
        self.held[consumer].remove(number)
        self.given_back[number] += 1
        self.subscription.redeliver(consumer, [number])

    async def settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        for consumer, held in self.held.items():
            wire: Any = consumer.connection
            for number, redeliveries in wire.got:
                self._take(number, redeliveries, held)
            wire.got.clear()

    def _take(self, number: int, redeliveries: int, held: list[int]) -> None:
        assert number not in self.acked, "an acknowledged entry came back"
        assert all(number not in other for other in self.held.values()), "two consumers hold one entry"
        assert redeliveries == self.given_back[number], "going away is no redelivery, giving back is"
        if number not in self.delivered:
            self.firsts[number % _KEYS].append(number)
        self.delivered.add(number)
        held.append(number)


async def _play(kind: int, seed: int, steps: int, check: Callable[[Group], None]) -> None:
    chance, group = random.Random(seed), Group(kind, 40)
    for _ in range(steps):
        consumers = list(group.held)
        consumer = chance.choice(consumers) if consumers else None
        action = chance.choice(["join", "leave", "ack", "ack", "ack", "give_back", "flow"])
        if action == "join" and len(consumers) < 4:
            group.join(chance.randrange(10))
        elif consumer is not None and action == "leave":
            group.leave(consumer)
        elif consumer is not None and action == "flow":
            group.subscription.flow(consumer, chance.randrange(5))
        elif consumer is not None and group.held[consumer]:
            number = chance.choice(group.held[consumer])
            (group.ack if action == "ack" else group.give_back)(consumer, number)
        await group.settle()
        check(group)
    await _drain(group)


async def _drain(group: Group) -> None:
    """One consumer with room for all is left: it gets everything that is not acknowledged."""
    for consumer in list(group.held):
        group.leave(consumer)
    last = group.join(1000)
    await group.settle()
    for number in sorted(group.held[last]):
        group.ack(last, number)
        await group.settle()
    assert group.acked == set(range(40))
    assert group.subscription.backlog == 0
    assert last.unacked == 0


def _any_order(group: Group) -> None:
    for consumer, held in group.held.items():
        assert consumer.unacked == len(held)


def _order_of_keys(group: Group) -> None:
    _any_order(group)
    for entries in group.firsts.values():
        assert entries == sorted(entries), "a key was delivered out of order"
    for key in range(_KEYS):
        holders = [c for c, held in group.held.items() if any(number % _KEYS == key for number in held)]
        assert len(holders) < 2, "two consumers hold entries of one key"


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 150))
def test_shared_consumers_get_every_entry_and_none_twice_at_a_time(seed: int, steps: int) -> None:
    asyncio.run(_play(CommandSubscribe.Shared, seed, steps, _any_order))


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 150))
def test_a_key_is_with_one_consumer_at_a_time_and_in_order(seed: int, steps: int) -> None:
    asyncio.run(_play(CommandSubscribe.Key_Shared, seed, steps, _order_of_keys))


def _run(kind: int, script: Callable[[Group], Any], count: int = 6) -> None:
    asyncio.run(script(Group(kind, count)))


def test_the_next_active_consumer_starts_at_what_is_not_acknowledged() -> None:
    async def script(group: Group) -> None:
        first, second = group.join(4), group.join(100)
        await group.settle()
        assert group.held[first] == [0, 1, 2, 3]
        assert group.held[second] == []
        group.ack(first, 0)
        group.ack(first, 2)
        wire: Any = first.connection
        group.leave(first)
        await group.settle()
        assert group.held[second] == [1, 3, 4, 5]
        told: Any = second.connection
        assert (wire.told, told.told) == ([True], [False, True])

    _run(CommandSubscribe.Failover, script)


def test_a_consumer_of_higher_priority_takes_over() -> None:
    async def script(group: Group) -> None:
        low = Consumer(1, "low", Wire(), group.subscription, priority=1)
        high = Consumer(2, "high", Wire(), group.subscription, priority=0)
        for consumer in (low, high):
            group.subscription.attach(consumer, CommandSubscribe.Failover, _AUTO_SPLIT)
        dispatcher = group.subscription.dispatcher
        assert dispatcher is not None
        assert dispatcher.active is high

    _run(CommandSubscribe.Failover, script)


def test_an_exclusive_subscription_takes_one_consumer() -> None:
    async def script(group: Group) -> None:
        group.join(1)
        with pytest.raises(Busy, match="already connected"):
            group.join(1)

    _run(CommandSubscribe.Exclusive, script)


def test_consumers_of_one_subscription_share_it_in_one_way() -> None:
    async def script(group: Group) -> None:
        group.join(1)
        group.kind = CommandSubscribe.Exclusive
        with pytest.raises(Busy, match="different type"):
            group.join(1)

    _run(CommandSubscribe.Shared, script)


def test_giving_back_on_an_exclusive_subscription_starts_again_in_order() -> None:
    async def script(group: Group) -> None:
        consumer = group.join(100)
        await group.settle()
        group.ack(consumer, 0)
        wire: Any = consumer.connection
        group.subscription.redeliver(consumer, [3])
        for _ in range(5):
            await asyncio.sleep(0)
        assert [number for number, _ in wire.got] == [1, 2, 3, 4, 5]

    _run(CommandSubscribe.Exclusive, script)


def test_seek_brings_back_what_was_acknowledged() -> None:
    async def script(group: Group) -> None:
        consumer = group.join(100)
        await group.settle()
        for number in range(6):
            group.ack(consumer, number)
        group.subscription.seek(2)
        assert group.subscription.consumers == []
        again = Consumer(9, "again", Wire(), group.subscription)
        group.subscription.attach(again, CommandSubscribe.Shared, _AUTO_SPLIT)
        group.subscription.flow(again, 100)
        for _ in range(5):
            await asyncio.sleep(0)
        wire: Any = again.connection
        assert [number for number, _ in wire.got] == [2, 3, 4, 5]

    _run(CommandSubscribe.Shared, script)
