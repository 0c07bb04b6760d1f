"""Exclusive and Failover: one consumer gets everything, in order."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from tallystick.broker.consumer import Consumer
from tallystick.errors import Busy

if TYPE_CHECKING:
    from tallystick.broker.subscription import Subscription

_MOST_AT_ONCE = 100
"""Entries that are sent before other subscriptions have their turn."""


class SingleActive:
    """Keeps no list of what was sent: a rewind goes back to what is not acknowledged, so that the order holds."""

    def __init__(self, subscription: "Subscription", *, is_failover: bool) -> None:
        self._subscription = subscription
        self._is_failover = is_failover
        self._partition = subscription.topic.partition
        self.consumers: list[Consumer] = []
        self._active: Consumer | None = None
        self._next = subscription.cursor.acked_before

    @property
    def active(self) -> Consumer | None:
        return self._active

    def add(self, consumer: Consumer) -> None:
        if not self._is_failover and self.consumers:
            raise Busy("consumer", "Exclusive consumer is already connected")
        self.consumers.append(consumer)
        self._choose()
        if self._is_failover and consumer is not self._active:
            consumer.connection.tell_active(consumer, False)

    def remove(self, consumer: Consumer) -> None:
        self.consumers.remove(consumer)
        if consumer is self._active:
            self._active = None
        self._choose()

    def _choose(self) -> None:
        """The highest priority is the lowest number. The partitions of a topic go round those who have it, by name, so
        that each gets some; without partitions the first one stays."""
        if not self.consumers:
            return
        best = min(consumer.priority for consumer in self.consumers)
        candidates = [consumer for consumer in self.consumers if consumer.priority == best]
        if self._partition is not None:
            candidates.sort(key=lambda consumer: consumer.name)
        chosen = candidates[(self._partition or 0) % len(candidates)]
        if chosen is self._active:
            return
        before, self._active = self._active, chosen
        self.rewind()
        if self._is_failover:
            if before is not None:
                before.connection.tell_active(before, False)
            chosen.connection.tell_active(chosen, True)

    def rewind(self) -> None:
        self._next = self._subscription.cursor.acked_before

    def redeliver(self, consumer: Consumer, numbers: Collection[int] | None) -> None:
        """Single entries cannot come again without those after them: the order would be lost."""
        if consumer is self._active:
            self.rewind()

    def acked(self, number: int, consumer: Consumer, left: int) -> None:
        pass

    def dispatch(self) -> bool:
        """Sends what can be sent; True where there is more."""
        subscription, consumer = self._subscription, self._active
        if consumer is None:
            return False
        cursor, topic = subscription.cursor, subscription.topic
        for _ in range(_MOST_AT_ONCE):
            number = cursor.next_unacked(max(self._next, topic.first))
            if number >= topic.committed or consumer.permits <= 0 or not consumer.connection.is_writable:
                return False
            entry = subscription.window.get(number)
            if entry is None:
                return False
            consumer.deliver(topic.id, entry, 0, cursor.partly.get(number, 0))
            self._next = number + 1
        return True
