"""A subscription: its cursor, its consumers, and how entries get to them."""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from tallystick.broker.consumer import Consumer
from tallystick.broker.cursor import Cursor, bits_of
from tallystick.broker.dispatch.pickers import ByKey, InTurn
from tallystick.broker.dispatch.shared import Sharing
from tallystick.broker.dispatch.single import SingleActive
from tallystick.broker.dispatch.window import Window
from tallystick.broker.log.values import CursorState
from tallystick.broker.traffic import Traffic
from tallystick.errors import Busy, InvalidArgument
from tallystick.wire.pulsar.pulsar_pb2 import CommandSubscribe, KeySharedMeta, KeySharedMode

if TYPE_CHECKING:
    from tallystick.broker.topic import Topic


SHARED = {CommandSubscribe.Shared, CommandSubscribe.Key_Shared}
KINDS: dict[int, str] = {kind: CommandSubscribe.SubType.Name(kind) for kind in CommandSubscribe.SubType.values()}


class Dispatcher(Protocol):
    consumers: list[Consumer]

    @property
    def active(self) -> Consumer | None:
        """Who gets everything, where that is one consumer."""

    def add(self, consumer: Consumer) -> None: ...

    def remove(self, consumer: Consumer) -> None: ...

    def rewind(self) -> None:
        """Everything that is not acknowledged is to be sent again."""

    def redeliver(self, consumer: Consumer, numbers: Collection[int] | None) -> None:
        """Some of what a consumer holds, or all of it, is to be sent again."""

    def acked(self, number: int, consumer: Consumer, left: int) -> None: ...

    def dispatch(self) -> bool: ...


class Subscription:
    """`is_durable`: its cursor outlives its consumers; readers have one that does not."""

    def __init__(self, topic: "Topic", name: str, state: CursorState, *, is_durable: bool) -> None:
        self.topic = topic
        self.name = name
        self.is_durable = is_durable
        self.cursor = Cursor(state)
        self.properties: Mapping[str, str] = state.properties
        self.window = Window(topic, self.wake)
        self.out = Traffic()
        self.redelivered = 0
        """Messages that were sent again."""
        self.kind: int = CommandSubscribe.Exclusive
        self.dispatcher: Dispatcher | None = None
        self._is_sticky = False
        self._is_woken = False
        self._is_idle = False
        self._alarm: asyncio.TimerHandle | None = None

    @property
    def consumers(self) -> list[Consumer]:
        return self.dispatcher.consumers if self.dispatcher is not None else []

    @property
    def backlog(self) -> int:
        """Entries that are not acknowledged."""
        cursor = self.cursor
        return cursor.unacked_before(self.topic.committed) - max(0, self.topic.first - cursor.acked_before)

    def state(self) -> CursorState:
        return self.cursor.state(self.properties)

    def attach(self, consumer: Consumer, kind: int, keys: KeySharedMeta) -> None:
        """Raises `Busy` where the others share the subscription in another way, or not at all."""
        if self.consumers:
            self._require_same(kind, keys)
        elif self.dispatcher is None or kind != self.kind or _is_sticky(keys) != self._is_sticky:
            self.dispatcher = self._dispatcher(kind, keys)
            self.kind, self._is_sticky = kind, _is_sticky(keys)
        assert self.dispatcher is not None
        self.dispatcher.add(consumer)
        self.wake()

    def _require_same(self, kind: int, keys: KeySharedMeta) -> None:
        if kind != self.kind:
            raise Busy("consumer", "Subscription is of different type")
        if kind == CommandSubscribe.Key_Shared and self._is_sticky != _is_sticky(keys):
            raise Busy("consumer", "Subscription is of different type: its consumers use another key-shared mode")

    def _dispatcher(self, kind: int, keys: KeySharedMeta) -> Dispatcher:
        match kind:
            case CommandSubscribe.Shared:
                return Sharing(self, InTurn())
            case CommandSubscribe.Key_Shared:
                keeps_order = not keys.allowOutOfOrderDelivery
                return Sharing(self, ByKey(is_sticky=_is_sticky(keys), keeps_order=keeps_order))
        return SingleActive(self, is_failover=kind == CommandSubscribe.Failover)

    def detach(self, consumer: Consumer) -> None:
        assert self.dispatcher is not None
        self.dispatcher.remove(consumer)
        self.wake()

    def flow(self, consumer: Consumer, permits: int) -> None:
        consumer.permits += permits
        self.wake()

    def ack(self, consumer: Consumer, acks: Iterable[tuple[int, Collection[int]]]) -> None:
        """Entries, or of a batch those messages whose bits are not set in the words."""
        assert self.dispatcher is not None
        for number, words in acks:
            if number >= self.topic.committed:
                continue
            is_whole = self.cursor.ack_messages(number, bits_of(words)) if words else self.cursor.ack(number)
            left = 0 if is_whole else self.cursor.partly.get(number, 0).bit_count()
            self.dispatcher.acked(number, consumer, left)
        self._has_moved()

    def ack_up_to(self, number: int, words: Collection[int]) -> None:
        """Every entry up to this one; of the last one only some messages where words say so."""
        if self.kind in SHARED:
            raise InvalidArgument("ack", f"a {KINDS[self.kind]} subscription acknowledges each message by itself")
        if number >= self.topic.committed:
            return
        self.cursor.ack_before(number if words else number + 1)
        if words:
            self.cursor.ack_messages(number, bits_of(words))
        self._has_moved()

    def redeliver(self, consumer: Consumer, numbers: Collection[int] | None) -> None:
        assert self.dispatcher is not None
        self.dispatcher.redeliver(consumer, numbers)
        self.wake()

    def seek(self, number: int) -> None:
        """Everything from this entry on is to be sent, whatever was acknowledged. Consumers have to come back."""
        self.disconnect()
        self.cursor.reset(min(max(number, self.topic.first), self.topic.committed))
        self.dispatcher = None
        self._has_moved()

    def skip(self, entries: int) -> None:
        """Acknowledges the first entries of the backlog."""
        self.expire(self.cursor.after_unacked(max(self.cursor.acked_before, self.topic.first), entries))

    def expire(self, before: int) -> None:
        """Acknowledges everything below an entry."""
        self.cursor.ack_before(min(before, self.topic.committed))
        self._has_moved()

    def disconnect(self) -> None:
        for consumer in list(self.consumers):
            consumer.connection.close_consumer(consumer)
            self.detach(consumer)

    def is_abandoned(self) -> bool:
        """Whether a reader's subscription had no consumer when this was last asked, and has none now."""
        was_idle, self._is_idle = self._is_idle, not (self.is_durable or self.consumers)
        return was_idle and self._is_idle

    def close(self) -> None:
        self.window.close()
        if self._alarm is not None:
            self._alarm.cancel()

    def _has_moved(self) -> None:
        if self.is_durable:
            self.topic.cursor_moved(self)
        self.wake()

    def wake(self) -> None:
        """Sends what can be sent, once the loop has done what it is at."""
        if not self._is_woken and self.dispatcher is not None and self.dispatcher.consumers:
            self._is_woken = True
            asyncio.get_running_loop().call_soon(self._dispatch)

    def wake_in(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        at = loop.time() + max(0.0, seconds)
        if self._alarm is not None:
            if self._alarm.when() <= at:
                return
            self._alarm.cancel()
        self._alarm = loop.call_at(at, self._ring)

    def _ring(self) -> None:
        self._alarm = None
        self.wake()

    def _dispatch(self) -> None:
        self._is_woken = False
        if self.dispatcher is not None and self.dispatcher.dispatch():
            self.wake()


def _is_sticky(keys: KeySharedMeta) -> bool:
    return keys.keySharedMode == KeySharedMode.STICKY
