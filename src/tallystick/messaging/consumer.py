"""Consumers: every message decoded by its writer's schema into the reader's."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any, Generic, TypeVar

from tallystick.errors import Closed, SchemaSerializationError, TimedOut
from tallystick.messaging.closing import Closing
from tallystick.messaging.dead_letters import DeadLetters
from tallystick.messaging.engine import Engine
from tallystick.messaging.interceptors import ConsumerInterceptor, before_consume
from tallystick.messaging.message import Message, Writer
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Incoming, Inlet
from tallystick.messaging.schema_uses import SchemaUses
from tallystick.messaging.settings import ConsumerSettings, StartAt
from tallystick.messaging.writers import Writers, unreadable
from tallystick.model.position import Position
from tallystick.serde.schema import Schema

T = TypeVar("T")


class Consumer(Closing, Generic[T]):
    """Receives the messages of some topics, under a subscription that keeps its place, or as a reader without one.

    Threads may share it. What waits has a sister with `_async` whose answer can be awaited in any event loop.
    """

    def __init__(
        self,
        schema: Schema[T],
        engine: Engine,
        settings: ConsumerSettings,
        writers: Writers,
        uses: SchemaUses,
        *,
        dead_letters: DeadLetters,
        interceptors: Sequence[ConsumerInterceptor] = (),
    ) -> None:
        super().__init__(engine)
        self.schema = schema
        self.topics = tuple(settings.topics)
        self.subscription = settings.subscription
        self._writers = writers
        self._uses = uses
        self._dead_letters = dead_letters
        self._interceptors = tuple(interceptors)
        self._inlet: Inlet | None = None
        self._lock = Lock()
        self._ready: deque[Message[T]] = deque()
        self._waiting: deque[Pending[Message[T]]] = deque()
        self._raw: deque[Incoming] = deque()
        self._preparing: asyncio.Task[None] | None = None
        self._taken = 0
        self._tell_at = max(1, settings.queue_size // 2)

    def __repr__(self) -> str:
        return f"<Consumer {self.subscription or 'reader'} on {', '.join(self.topics)}>"

    def start(self, inlet: Inlet) -> None:
        """The inlet is open, and may have brought messages before it said so. On the engine's event loop."""
        self._inlet = inlet
        waiting, self._raw = list(self._raw), deque()
        self.deliver(waiting)

    def receive(self, timeout_s: float | None = None) -> Message[T]:
        """The next message. Raises `TimedOut` where none comes in time, `Closed` when the consumer is closed."""
        with self._lock:
            message = self._next()
            waiting = self._wait() if message is None else None
        if waiting is not None:
            message = self._waited_for(waiting, timeout_s)
        assert message is not None
        return before_consume(self._interceptors, self, message) if self._interceptors else message

    def receive_async(self) -> Pending[Message[T]]:
        with self._lock:
            message = self._next()
            waiting = self._wait() if message is None else Pending()
        if message is not None:
            waiting.set(message)
        return self._intercepted(waiting) if self._interceptors else waiting

    def receive_many(self, most: int, timeout_s: float) -> list[Message[T]]:
        """What is there, up to `most`; waits only for the first one. Empty where none comes in time."""
        try:
            received = [self.receive(timeout_s)]
        except TimedOut:
            return []
        while len(received) < most and self._ready:
            received.append(self.receive())
        return received

    def __iter__(self) -> Iterator[Message[T]]:
        """Messages without end, until the consumer is closed."""
        while True:
            try:
                yield self.receive()
            except Closed:
                return

    async def __aiter__(self) -> AsyncIterator[Message[T]]:
        while True:
            try:
                yield await self.receive_async()
            except Closed:
                return

    def acknowledge(self, message: Message[Any]) -> None:
        """It does not come again. Sent with others after a while; `acknowledge_async` tells when it has arrived."""
        self._opened().acknowledge(message.incoming)
        self._tell("on_acknowledge", message)

    def acknowledge_async(self, message: Message[Any]) -> Pending[None]:
        done: Pending[None] = Pending()
        self._opened().acknowledge(message.incoming, done=done)
        self._tell("on_acknowledge", message)
        return done

    def acknowledge_cumulative(self, message: Message[Any]) -> None:
        """This message and all before it in its partition; not on a shared subscription."""
        self._opened().acknowledge(message.incoming, cumulative=True)
        self._tell("on_acknowledge_cumulative", message)

    def reject(self, message: Message[Any]) -> None:
        """It comes again, after a delay."""
        self._opened().reject(message.incoming)
        self._tell("on_reject", message)

    def redeliver_unacknowledged(self) -> None:
        """All that was received and not acknowledged comes again."""
        self._opened().redeliver_all()

    def dead_letter(self, message: Message[Any], error: BaseException | None = None) -> Position:
        """Sends the message as it came to the dead-letter topic, with the reason, and acknowledges it."""
        return self.dead_letter_async(message, error).result()

    def dead_letter_async(self, message: Message[Any], error: BaseException | None = None) -> Pending[Position]:
        return self._engine.run(self._bury(message, error))

    def seek(self, start: StartAt | Position) -> None:
        """What is received next starts there."""
        self.seek_async(start).result()

    def seek_async(self, start: StartAt | Position) -> Pending[None]:
        return self._engine.run(self._seek(start))

    def last_positions(self) -> Mapping[int, Position | None]:
        """The last message of every partition (−1: a topic without any); None where it is empty."""
        return self._engine.run(self._opened().last_positions()).result()

    def unsubscribe(self) -> None:
        """Ends the subscription: what it has not read is not kept for it any more."""
        self._engine.run(self._opened().unsubscribe()).result()

    def deliver(self, incoming: Sequence[Incoming]) -> None:
        """What the inlet brings, on the engine's event loop.

        A writer's schema that is not known yet is fetched before its messages, and those behind them, are given out.
        """
        if self._preparing is not None or self._inlet is None:
            self._raw.extend(incoming)
            return
        find = self._writers.find
        ready: list[Message[T]] = []
        for number, message in enumerate(incoming):
            writer = find(message)
            if writer is None:
                self._raw.extend(incoming[number:])
                self._preparing = self._engine.loop.create_task(self._prepare(self._inlet))
                break
            ready.append(Message(message, writer))
        self._give_out(ready)

    async def _prepare(self, inlet: Inlet) -> None:
        """The writer's schema of the first message that waits for it; then the others may know theirs."""
        first = self._raw[0]
        try:
            writer = await self._writers.learn(first, inlet)
        except Exception as e:  # noqa: BLE001 - schemas may be anybody's; the message is delivered, and its value raises
            reason = f"topic {first.topic}: the schema of the message cannot be prepared: {e!r}"
            writer = Writer(unreadable, error=SchemaSerializationError(reason))
        self._preparing = None
        self._raw.popleft()
        waiting, self._raw = list(self._raw), deque()
        self._give_out([Message(first, writer)])
        self.deliver(waiting)

    def _give_out(self, messages: Sequence[Message[T]]) -> None:
        if self._dead_letters.after is not None:
            messages = [message for message in messages if not self._buried(message)]
        with self._lock:
            self._ready.extend(messages)
            given = []
            while self._waiting and (message := self._next()) is not None:
                given.append((self._waiting.popleft(), message))
        for waiting, message in given:
            waiting.set(message)

    def _next(self) -> Message[T] | None:
        """Counts what the program takes; the inlet fetches more in good time."""
        if not self._ready:
            return None
        self._taken += 1
        if self._taken >= self._tell_at and self._inlet is not None:
            self._inlet.taken(self._taken)
            self._taken = 0
        return self._ready.popleft()

    def _wait(self) -> Pending[Message[T]]:
        waiting: Pending[Message[T]] = Pending()
        if self._is_closing:
            waiting.fail(self._closed())
        else:
            self._waiting.append(waiting)
        return waiting

    def _waited_for(self, waiting: Pending[Message[T]], timeout_s: float | None) -> Message[T]:
        try:
            return waiting.result(timeout_s)
        except TimedOut:
            with self._lock:
                if waiting in self._waiting:
                    self._waiting.remove(waiting)
                    raise self._too_late(timeout_s) from None
            # It came at the last moment.
            return waiting.result()

    def _too_late(self, timeout_s: float | None) -> TimedOut:
        trouble = None if self._inlet is None else self._inlet.trouble
        why = "" if trouble is None else f": {trouble.message}"
        return TimedOut(f"no message on {', '.join(self.topics)} within {timeout_s:g} s{why}")

    def _intercepted(self, waiting: Pending[Message[T]]) -> Pending[Message[T]]:
        answer: Pending[Message[T]] = Pending()

        def intercept(received: Pending[Message[T]]) -> None:
            try:
                answer.set(before_consume(self._interceptors, self, received.result()))
            except Exception as e:  # noqa: BLE001 - the interceptor's own, for the one who waits
                answer.fail(e)

        waiting.add_done_callback(intercept)
        return answer

    def _opened(self) -> Inlet:
        if self._inlet is None or self._is_closing:
            raise self._closed()
        return self._inlet

    def _closed(self) -> Closed:
        return Closed(f"the consumer on {', '.join(self.topics)} is closed")

    def _tell(self, what: str, message: Message[Any]) -> None:
        for interceptor in self._interceptors:
            if interceptor.eligible(message):
                getattr(interceptor, what)(self, message)

    def _buried(self, message: Message[T]) -> bool:
        """Whether a message has come too often, and goes to the dead letters instead."""
        if not self._dead_letters.is_due(message):
            return False
        self._engine.loop.create_task(self._bury_or_return(message))
        return True

    async def _bury(self, message: Message[Any], error: BaseException | None) -> Position:
        position = await self._dead_letters.send(message, error)
        done: Pending[None] = Pending()
        self._opened().acknowledge(message.incoming, done=done)
        await done
        return position

    async def _bury_or_return(self, message: Message[Any]) -> None:
        try:
            await self._bury(message, None)
        except Exception:  # noqa: BLE001 - it is not lost: the broker delivers it once more, and it is tried again
            if not self._is_closing:
                self._opened().reject(message.incoming)
        if self._inlet is not None:
            self._inlet.taken(1)

    async def _seek(self, start: StartAt | Position) -> None:
        self._forget()
        await self._opened().seek(start)

    def _forget(self) -> None:
        """Drops what was fetched and not taken."""
        if self._preparing is not None:
            self._preparing.cancel()
            self._preparing = None
        with self._lock:
            dropped = len(self._ready) + len(self._raw)
            self._ready.clear()
            self._raw.clear()
        if dropped and self._inlet is not None:
            self._inlet.taken(dropped)

    async def _close(self) -> None:
        if self._preparing is not None:
            self._preparing.cancel()
        with self._lock:
            waiting, self._waiting = self._waiting, deque()
            self._ready.clear()
        for each in waiting:
            each.fail(self._closed())
        if self._inlet is not None:
            await self._inlet.close()
        await self._dead_letters.close()
        await self._uses.end(self.schema)
        for interceptor in self._interceptors:
            await asyncio.to_thread(interceptor.close)
