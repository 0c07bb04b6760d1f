"""Producers: one topic, any number of schemas."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar, overload

from tallystick.errors import InvalidRecord, NotPermitted
from tallystick.messaging.closing import Closing
from tallystick.messaging.engine import Engine
from tallystick.messaging.in_flight import InFlight, is_in_event_loop
from tallystick.messaging.interceptors import ProducerInterceptor, before_send
from tallystick.messaging.message import NewMessage, milliseconds
from tallystick.messaging.message_builder import MessageBuilder
from tallystick.messaging.outbox import Outbox
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Outgoing, Outlet
from tallystick.messaging.settings import MultiSchema, ProducerSettings
from tallystick.model.position import Position
from tallystick.model.subject import Version
from tallystick.serde.key_value import is_external
from tallystick.serde.records import described
from tallystick.serde.schema import EncodeData, Schema

T = TypeVar("T")
V = TypeVar("V")

_NO_PROPERTIES: Mapping[str, str] = {}
_TOMBSTONE = EncodeData(None)
_SLACK_S = 5.0
"""The transport ends a message that takes too long; waiting a little longer leaves that to it."""


Adapt = Callable[[Schema[Any]], Schema[Any]]
"""The schema as the client's configuration wants it: with its own registry, or with a third-party one."""


def _as_it_is(schema: Schema[Any]) -> Schema[Any]:
    return schema


class _Sent(Pending[Position]):
    """The answer of one message; with it the message is no longer on its way."""

    __slots__ = ("_entered", "_in_flight")

    def __init__(self, in_flight: InFlight) -> None:
        super().__init__()
        self._in_flight = in_flight
        self._entered = in_flight.enter()

    def _end(self, answer: Position | None, error: BaseException | None) -> bool:
        with self._lock:
            if self._is_done:
                return False
            self._answer, self._error = answer, error
            # First, so that whoever sees the answer also has the room that it makes.
            flushed = self._in_flight.leave(self._entered)
            self._is_done = True
            callbacks, self._callbacks = self._callbacks, None
        for callback in callbacks or ():
            callback(self)
        for flush in flushed:
            flush.set(None)
        return True


class Producer(Closing, Generic[T]):
    """Sends messages to one topic, each with the producer's schema or one of its own (PIP-43).

    Threads may share it. `send` waits for the broker, `send_async` does not: what it returns can be waited for in a
    thread or awaited in any event loop. Closing sends what is left; messages whose schema is still being registered
    fail.
    """

    def __init__(
        self,
        topic: str,
        schema: Schema[T],
        engine: Engine,
        outlet: Outlet,
        outbox: Outbox,
        settings: ProducerSettings,
        *,
        adapt: Adapt = _as_it_is,
        multi_schema: MultiSchema = MultiSchema.AUTO,
        interceptors: Sequence[ProducerInterceptor] = (),
    ) -> None:
        super().__init__(engine)
        self.topic = topic
        self.schema = schema
        self._adapt = adapt
        self._others: dict[int, tuple[Schema[Any], Schema[Any]]] = {}
        self._outlet = outlet
        self._outbox = outbox
        self._settings = settings
        self._multi_schema = multi_schema
        self._interceptors = tuple(interceptors)
        self._in_flight = InFlight(settings.max_pending, settings.send_timeout_s)
        self._is_external = is_external(schema)

    def __repr__(self) -> str:
        return f"<Producer {self.name} on {self.topic}>"

    @property
    def name(self) -> str:
        return self._outlet.name

    @property
    def schema_version(self) -> Version | None:
        """Of its own schema in the topic's subject; None where the cluster keeps no schemas, or it has none."""
        return self._outlet.version

    @property
    def pending(self) -> int:
        """Messages that the broker has not answered yet."""
        return len(self._in_flight)

    def send(
        self,
        value: Any,
        schema: Schema[Any] | None = None,
        *,
        key: str | bytes | None = None,
        properties: Mapping[str, str] = _NO_PROPERTIES,
        event_time: datetime | None = None,
        **more: Any,
    ) -> Position:
        """Sends and waits: where the message stands in the topic. `more` is what else `NewMessage` has.

        Raises `InvalidRecord` and `IncompatibleSchema` with findings, `TimedOut` and other kinds of `Unavailable`.
        """
        sent = self.send_async(value, schema, key=key, properties=properties, event_time=event_time, **more)
        return self._waited_for(sent)

    def send_async(
        self,
        value: Any,
        schema: Schema[Any] | None = None,
        *,
        key: str | bytes | None = None,
        properties: Mapping[str, str] = _NO_PROPERTIES,
        event_time: datetime | None = None,
        **more: Any,
    ) -> Pending[Position]:
        """Sends with others in a batch. A value that does not fit its schema raises at once.

        Waits only while too much is on its way; inside an event loop that raises `QueueFull` instead.
        """
        if self._interceptors or more:
            return self.submit(NewMessage(value, schema, key, properties, event_time, **more))
        outgoing = Outgoing(None)
        if properties:
            outgoing.properties = properties
        if event_time is not None:
            outgoing.event_time_ms = milliseconds(event_time)
        if key is not None:
            _set_key(outgoing, key)
        return self._submit(value, schema, outgoing)

    @overload
    def new_message(self, schema: None = None) -> MessageBuilder[T]: ...

    @overload
    def new_message(self, schema: Schema[V]) -> MessageBuilder[V]: ...

    def new_message(self, schema: Schema[Any] | None = None) -> MessageBuilder[Any]:
        """A message that is put together step by step, with the producer's schema or another one."""
        return MessageBuilder(self, schema)

    def send_message(self, message: NewMessage[Any]) -> Position:
        return self._waited_for(self.submit(message))

    def submit(self, message: NewMessage[Any]) -> Pending[Position]:
        message = before_send(self._interceptors, self, message)
        outgoing = Outgoing(
            None,
            properties=message.properties,
            event_time_ms=None if message.event_time is None else milliseconds(message.event_time),
            deliver_at_ms=None if message.deliver_at is None else milliseconds(message.deliver_at),
            ordering_key=message.ordering_key,
            sequence_id=message.sequence_id,
            replicated_from=message.replicated_from,
            partition=message.partition,
        )
        if message.key is not None:
            _set_key(outgoing, message.key)
        sent = self._submit(message.value, message.schema, outgoing)
        if self._interceptors:
            sent.add_done_callback(lambda sent: self._acknowledged(message, sent))
        return sent

    def flush(self) -> None:
        """Sends what waits for company, and waits until the broker has answered all that was sent before."""
        self.flush_async().result(self._settings.send_timeout_s + _SLACK_S)

    def flush_async(self) -> Pending[None]:
        self._outbox.flush()
        return self._in_flight.flushed()

    def _submit(self, value: Any, schema: Schema[Any] | None, outgoing: Outgoing) -> Pending[Position]:
        if self._is_closing:
            raise self._outbox.closed()
        if schema is None or schema is self.schema:
            schema, may_block = self.schema, self._is_external
        else:
            schema = self._other(schema)
            may_block = is_external(schema)
        if value is None:
            encoded: EncodeData | None = _TOMBSTONE
        elif may_block and (is_in_event_loop() or not self._outbox.knows(schema)):
            # It may ask its registry, and has not been told which one before it is known.
            encoded = None
        else:
            try:
                encoded = schema.encode(self.topic, value)
            except InvalidRecord as e:
                raise self._misfit(schema, e) from e
        sent = _Sent(self._in_flight)
        self._outbox.put(schema, value, encoded, outgoing, sent)
        return sent

    def _other(self, schema: Schema[Any]) -> Schema[Any]:
        """A message's own schema; raises where the producer is to have one schema alone."""
        known = self._others.get(id(schema))
        if known is None:
            if self._multi_schema is MultiSchema.OFF:
                raise NotPermitted(
                    f"topic {self.topic}: this producer has one schema, {described(self.schema.definition)}, "
                    "and multi_schema is off; open it with multi_schema='auto', or another producer"
                )
            known = self._others[id(schema)] = schema, self._adapt(schema)
        return known[1]

    def _misfit(self, schema: Schema[Any], error: InvalidRecord) -> InvalidRecord:
        told = f"topic {self.topic}, schema {described(schema.definition)}: {error.message}"
        return InvalidRecord(told, error.findings)

    def _waited_for(self, sent: Pending[Position]) -> Position:
        self._outbox.flush()
        return sent.result(self._settings.send_timeout_s + _SLACK_S)

    def _acknowledged(self, message: NewMessage[Any], sent: Pending[Position]) -> None:
        error = sent.error()
        position = None if error is not None else sent.result()
        for interceptor in self._interceptors:
            if interceptor.eligible(message):
                interceptor.on_send_acknowledgement(self, message, position, error)

    async def _close(self) -> None:
        self._in_flight.close()
        await self._outbox.close()
        await self._outlet.close()
        for interceptor in self._interceptors:
            await asyncio.to_thread(interceptor.close)


def _set_key(outgoing: Outgoing, key: str | bytes) -> None:
    if isinstance(key, str):
        outgoing.key = key.encode()
    else:
        outgoing.key, outgoing.is_key_text = key, False
