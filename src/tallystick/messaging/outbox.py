"""Keeps the order of a producer's messages while the schema of one of them is being registered."""

import asyncio
from collections import deque
from dataclasses import dataclass
from threading import Lock
from typing import Any

from tallystick.errors import Closed, InvalidRecord, SchemaSerializationError, TallystickError, TimedOut
from tallystick.messaging.engine import Engine
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Outgoing, Outlet
from tallystick.messaging.schema_uses import SchemaUses
from tallystick.messaging.stamping import Stamp, Stamps
from tallystick.model.position import Position
from tallystick.serde.schema import EncodeData, Schema

_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 2.0
_OF_ONE_VALUE = (InvalidRecord, SchemaSerializationError)
"""What says nothing of the next message with the same schema."""


@dataclass(slots=True)
class _Waiting:
    """A message whose schema is not registered yet, or that comes after one."""

    schema: Schema[Any]
    value: Any
    encoded: EncodeData | None
    outgoing: Outgoing
    sent: Pending[Position]


class Outbox:
    """Each message goes to the outlet once its schema is registered; those behind it wait, and then go in order.

    A schema is registered once. A message whose schema is refused fails alone.
    """

    def __init__(
        self, engine: Engine, outlet: Outlet, stamps: Stamps, uses: SchemaUses, topic: str, timeout_s: float
    ) -> None:
        self._engine = engine
        self._outlet = outlet
        self._stamps = stamps
        self._uses = uses
        self._topic = topic
        self._timeout_s = timeout_s
        self._order = Lock()
        self._known: dict[int, tuple[Schema[Any], Stamp]] = {}
        self._waiting: deque[_Waiting] = deque()
        self._is_draining = False
        self._must_flush = False
        self._is_closed = False
        self._draining: asyncio.Task[None] | None = None

    def put(
        self,
        schema: Schema[Any],
        value: Any,
        encoded: EncodeData | None,
        outgoing: Outgoing,
        sent: Pending[Position],
    ) -> None:
        """From any thread. Without `encoded` the value is encoded later, as its schema may have to ask a registry."""
        with self._order:
            known = self._known.get(id(schema))
            if known is None or encoded is None or self._waiting or self._is_closed:
                self._wait(_Waiting(schema, value, encoded, outgoing, sent))
            else:
                self._hand_over(known[1], encoded, outgoing, sent)

    def flush(self) -> None:
        """From any thread. What waits for company is sent now; what waits for its schema, as soon as it has one."""
        with self._order:
            self._must_flush = bool(self._waiting)
        self._outlet.flush()

    def knows(self, schema: Schema[Any]) -> bool:
        """From any thread. Whether it is registered already."""
        return id(schema) in self._known

    async def know(self, schema: Schema[Any]) -> None:
        """Registers a schema ahead of its first message."""
        await self._stamp_of(schema)

    async def close(self) -> None:
        """What still waits fails; what the outlet has goes on."""
        with self._order:
            self._is_closed = True
            left, self._waiting = self._waiting, deque()
        if self._draining is not None:
            self._draining.cancel()
        for waiting in left:
            waiting.sent.fail(self.closed())
        for schema, _ in self._known.values():
            await self._uses.end(schema)

    def closed(self) -> Closed:
        return Closed(f"the producer on topic {self._topic} is closed; what was not sent yet is not sent")

    def _wait(self, waiting: _Waiting) -> None:
        if self._is_closed:
            waiting.sent.fail(self.closed())
            return
        self._waiting.append(waiting)
        if not self._is_draining:
            self._is_draining = True
            self._engine.loop.call_soon_threadsafe(self._start_draining)

    def _start_draining(self) -> None:
        self._draining = self._engine.loop.create_task(self._drain())

    async def _drain(self) -> None:
        refused: dict[int, Exception] = {}
        while (waiting := self._next()) is not None:
            try:
                if id(waiting.schema) in refused:
                    raise refused[id(waiting.schema)]
                stamp = await self._registered(waiting)
                encoded = waiting.encoded or await self._encoded(waiting)
            except Exception as e:  # noqa: BLE001 - schemas may be anybody's, and what they raise belongs to the sender
                if not isinstance(e, _OF_ONE_VALUE):
                    refused[id(waiting.schema)] = e
                self._drop(waiting, e)
            else:
                self._take(waiting, stamp, encoded)

    def _next(self) -> _Waiting | None:
        with self._order:
            if self._waiting:
                return self._waiting[0]
            self._is_draining = False
            must_flush, self._must_flush = self._must_flush, False
        if must_flush:
            self._outlet.flush()
        return None

    def _drop(self, waiting: _Waiting, error: Exception) -> None:
        with self._order:
            if self._is_closed:
                return
            self._waiting.popleft()
        waiting.sent.fail(error)

    def _take(self, waiting: _Waiting, stamp: Stamp, encoded: EncodeData) -> None:
        with self._order:
            if self._is_closed:
                return
            self._waiting.popleft()
            self._hand_over(stamp, encoded, waiting.outgoing, waiting.sent)

    def _hand_over(self, stamp: Stamp, encoded: EncodeData, outgoing: Outgoing, sent: Pending[Position]) -> None:
        try:
            outgoing.payload, key, outgoing.mark = stamp.apply(encoded)
        except TallystickError as e:
            sent.fail(e)
            return
        if key is not None:
            outgoing.key, outgoing.is_key_text = key, False
        self._outlet.put(outgoing, sent)

    async def _encoded(self, waiting: _Waiting) -> EncodeData:
        return await asyncio.to_thread(waiting.schema.encode, self._topic, waiting.value)

    async def _registered(self, waiting: _Waiting) -> Stamp:
        """Tries again what may succeed later, as long as a message may take."""
        until, pause_s = self._engine.loop.time() + self._timeout_s, _PAUSE_S
        while True:
            try:
                return await self._stamp_of(waiting.schema)
            except TallystickError as e:
                if not e.transient:
                    raise
                if self._engine.loop.time() + pause_s > until:
                    raise TimedOut(
                        f"topic {self._topic}: the schema was not registered within {self._timeout_s:g} s: {e}"
                    ) from e
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)

    async def _stamp_of(self, schema: Schema[Any]) -> Stamp:
        known = self._known.get(id(schema))
        if known is None:
            await self._uses.begin(schema)
            try:
                known = schema, await self._stamps.stamp(schema)
            except BaseException:
                await self._uses.end(schema)
                raise
            # With the schema itself, so that no other object gets its number.
            self._known[id(schema)] = known
        return known[1]
