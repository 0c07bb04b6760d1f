"""Shared and Key_Shared: every consumer gets some of the entries, and acknowledges each by itself."""

import time
from collections.abc import Collection
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Protocol

from tallystick.broker.consumer import Consumer, Pending
from tallystick.broker.log.values import Entry
from tallystick.wire.pulsar.entries import parse_entry

if TYPE_CHECKING:
    from tallystick.broker.subscription import Subscription

_MOST_AT_ONCE = 100
"""Entries that are sent before other subscriptions have their turn."""
_MOST_PASSED = 1000
"""Entries that may wait for a consumer of their own while others go ahead of them."""
_MOST_DELAYED = 100_000
_MOST_UNACKED = 200_000
"""Messages that all consumers of a subscription may hold together."""
_UNKNOWN = -1


class Picker(Protocol):
    """Chooses the consumer of an entry by its slot, which stands for its key."""

    def added(self, consumer: Consumer) -> None: ...

    def removed(self, consumer: Consumer) -> None: ...

    def start_turn(self) -> None:
        """Entries are asked for in their order from here on."""

    def slot_of(self, key: bytes) -> int: ...

    def pick(self, slot: int) -> Consumer | None:
        """None: entries of this slot have to wait, for the rest of the turn."""

    def has_room(self) -> bool:
        """Whether anybody could take an entry."""

    def sent(self, consumer: Consumer, slot: int) -> None: ...

    def settled(self, consumer: Consumer, slot: int) -> None:
        """What was sent is acknowledged, or is to be sent again."""


class Sharing:
    def __init__(self, subscription: "Subscription", picker: Picker) -> None:
        self._subscription = subscription
        self.picker = picker
        self.consumers: list[Consumer] = []
        self.unacked = 0
        self._next = subscription.cursor.acked_before
        self._waiting: list[tuple[int, int]] = []
        """Entries to send before any new one, as a heap of (number, slot): sent before, or passed over."""
        self._delayed: list[tuple[int, int]] = []
        """Entries that are to be sent at a time, as a heap of (milliseconds, number)."""
        self.redeliveries: dict[int, int] = {}

    @property
    def active(self) -> Consumer | None:
        return None

    @property
    def delayed(self) -> int:
        return len(self._delayed)

    def add(self, consumer: Consumer) -> None:
        self.picker.added(consumer)
        self.consumers.append(consumer)

    def remove(self, consumer: Consumer) -> None:
        self.consumers.remove(consumer)
        self._take_back(consumer, list(consumer.pending))
        self.picker.removed(consumer)

    def rewind(self) -> None:
        """Starts again from what is not acknowledged; how often an entry was sent stays known."""
        for consumer in self.consumers:
            self._take_back(consumer, list(consumer.pending))
        self._next = self._subscription.cursor.acked_before
        self._waiting, self._delayed = [], []

    def redeliver(self, consumer: Consumer, numbers: Collection[int] | None) -> None:
        held = list(consumer.pending) if numbers is None else [n for n in numbers if n in consumer.pending]
        for number in held:
            self.redeliveries[number] = self.redeliveries.get(number, 0) + 1
        self._take_back(consumer, held)

    def acked(self, number: int, consumer: Consumer, left: int) -> None:
        """So many messages of an entry are not acknowledged yet."""
        holder = consumer if number in consumer.pending else self._holder(number)
        if holder is None:
            return
        held = holder.pending[number]
        if left:
            holder.pending[number] = held._replace(messages=left)
        else:
            self._release(holder, number)
            self.redeliveries.pop(number, None)
        self._count(holder, left - held.messages)

    def dispatch(self) -> bool:
        """Sends what can be sent; True where the turn ended with more to send."""
        self._wake_delayed()
        self.picker.start_turn()
        passed: list[tuple[int, int]] = []
        tries, is_readable = 0, True
        while is_readable and tries - len(passed) < _MOST_AT_ONCE and self._has_room():
            taken = self._take(len(passed))
            if taken is None:
                break
            tries += 1
            is_readable = self._send(*taken, passed)
        for waiting in passed:
            heappush(self._waiting, waiting)
        return tries - len(passed) >= _MOST_AT_ONCE

    def _take(self, passed: int) -> tuple[int, int] | None:
        """The next entry to send, with its slot where it is known: what waits comes before what is new."""
        topic, cursor = self._subscription.topic, self._subscription.cursor
        while self._waiting:
            number, slot = heappop(self._waiting)
            if number >= topic.first and not cursor.is_acked(number):
                return number, slot
        number = cursor.next_unacked(max(self._next, topic.first))
        if number >= topic.committed or passed >= _MOST_PASSED:
            return None
        self._next = number + 1
        return number, _UNKNOWN

    def _send(self, number: int, slot: int, passed: list[tuple[int, int]]) -> bool:
        """Sends the entry or passes it over; False where it has to be read first."""
        if slot != _UNKNOWN and self.picker.pick(slot) is None:
            passed.append((number, slot))
            return True
        entry = self._subscription.window.get(number)
        if entry is None:
            passed.append((number, slot))
            return False
        if slot == _UNKNOWN:
            slot, deliver_at = self._look_into(entry)
            if deliver_at and self._delay(number, deliver_at):
                return True
        consumer = self.picker.pick(slot)
        if consumer is None:
            passed.append((number, slot))
        else:
            self._deliver(consumer, entry, slot)
        return True

    def _look_into(self, entry: Entry) -> tuple[int, int]:
        """Its slot, and the time when it is to be delivered (0: at once)."""
        metadata = parse_entry(entry.data, verify=False).metadata
        key = metadata.ordering_key if metadata.HasField("ordering_key") else metadata.partition_key.encode()
        return self.picker.slot_of(key), metadata.deliver_at_time

    def _deliver(self, consumer: Consumer, entry: Entry, slot: int) -> None:
        bits = self._subscription.cursor.partly.get(entry.number, 0)
        before = self.redeliveries.get(entry.number, 0)
        messages = consumer.deliver(self._subscription.topic.id, entry, before, bits)
        consumer.pending[entry.number] = Pending(messages, slot)
        self.picker.sent(consumer, slot)
        self._count(consumer, messages)

    def _delay(self, number: int, deliver_at: int) -> bool:
        if deliver_at <= time.time() * 1000 or len(self._delayed) >= _MOST_DELAYED:
            return False
        heappush(self._delayed, (deliver_at, number))
        self._set_alarm()
        return True

    def _wake_delayed(self) -> None:
        now = time.time() * 1000
        while self._delayed and self._delayed[0][0] <= now:
            heappush(self._waiting, (heappop(self._delayed)[1], _UNKNOWN))
        self._set_alarm()

    def _set_alarm(self) -> None:
        if self._delayed:
            self._subscription.wake_in(self._delayed[0][0] / 1000 - time.time())

    def _has_room(self) -> bool:
        return self.unacked < _MOST_UNACKED and self.picker.has_room()

    def _holder(self, number: int) -> Consumer | None:
        return next((consumer for consumer in self.consumers if number in consumer.pending), None)

    def _take_back(self, consumer: Consumer, numbers: Collection[int]) -> None:
        for number in numbers:
            held = self._release(consumer, number)
            self._count(consumer, -held.messages)
            heappush(self._waiting, (number, held.slot))

    def _release(self, consumer: Consumer, number: int) -> Pending:
        held = consumer.pending.pop(number)
        self.picker.settled(consumer, held.slot)
        return held

    def _count(self, consumer: Consumer, messages: int) -> None:
        consumer.unacked += messages
        self.unacked += messages
