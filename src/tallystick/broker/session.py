"""A client's connection: from bytes to commands, and who is at the other end."""

import asyncio
import itertools
import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, cast

from tallystick.access import ANYBODY, Action, Caller, Principal, require
from tallystick.broker import answers
from tallystick.broker.broker import Broker
from tallystick.broker.consumer import Consumer
from tallystick.broker.names import TopicName
from tallystick.broker.policy_records import PolicyRecords
from tallystick.broker.producer import Producer
from tallystick.broker.schemas import TopicSchemas
from tallystick.errors import TallystickError, Unauthenticated, Unsupported
from tallystick.wire.pulsar.faults import MalformedFrame
from tallystick.wire.pulsar.frames import MOST_MESSAGE_BYTES, FrameReader, simple_frame
from tallystick.wire.pulsar.pulsar_pb2 import BaseCommand, CommandConnect

log = logging.getLogger("tallystick.broker.session")

PROTOCOL_VERSION = 21
_OLDEST_VERSION = 6
"""Clients before it send no checksums."""
_MOST_CONNECTIONS = 10_000
_CONNECT_SECONDS = 10.0
_PING_SECONDS = 30.0
_SILENCE_SECONDS = 75.0
"""After which a client that does not even answer a PING is gone."""
_UNSENT_BYTES = 4 * 1024 * 1024
"""What may wait to be read by the client before its consumers get no more."""
_UNSTORED_BYTES = 16 * 1024 * 1024
"""What may wait to be stored before no more is read from the client."""

_FIELDS = BaseCommand.DESCRIPTOR.fields_by_number
_CONTENT_OF = {kind: _FIELDS[kind].name if kind in _FIELDS else "type" for kind in BaseCommand.Type.values()}
_REQUESTS = {
    number
    for number, field in _FIELDS.items()
    if field.message_type is not None and "request_id" in field.message_type.fields_by_name
}
_ATTACHING = {BaseCommand.PRODUCER: "producer_id", BaseCommand.SUBSCRIBE: "consumer_id"}
_BYTES_BESIDE_DATA = 1024
"""What an entry that waits takes beside its data: small ones must not count for nothing."""
_MOST_TASKS = 1000
"""Commands that may wait for their answer at the same time before no more is read from the client."""

Handler = Callable[["Session", Any, bytes], Coroutine[Any, Any, None] | None]


class Authentication(Protocol):
    def verify(self, method: str, data: bytes) -> Principal:
        """Who that is; blocks. Raises `Unauthenticated`."""


class Anybody:
    """No security: whoever connects may do everything."""

    def verify(self, method: str, data: bytes) -> Principal:
        return ANYBODY


class Session(asyncio.Protocol):
    _numbers = itertools.count(1)

    def __init__(
        self,
        broker: Broker,
        schemas: TopicSchemas,
        policies: PolicyRecords,
        authentication: Authentication,
        handlers: dict[int, Handler],
        sessions: set["Session"],
        *,
        is_tls: bool,
    ) -> None:
        self.broker = broker
        self.schemas = schemas
        self.policies = policies
        self.is_tls = is_tls
        self.number = next(self._numbers)
        self.address = self.local_address = self.client_version = ""
        self.caller = Caller()
        self.is_writable = True
        self.is_closed = False
        self.producers: dict[int, Producer] = {}
        self.consumers: dict[int, Consumer] = {}
        self._attaching: dict[tuple[int, int], asyncio.Task[None]] = {}
        """Producers and consumers that are not answered yet, by kind of command and id."""
        self._authentication = authentication
        self._handlers = handlers
        self._sessions = sessions
        self._reader = FrameReader()
        self._is_connected = False
        self._heard = time.monotonic()
        self._unstored_bytes = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._transport: asyncio.Transport

    # The connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if len(self._sessions) >= _MOST_CONNECTIONS:
            log.warning("a connection too many", extra={"connections": len(self._sessions)})
            self._transport.abort()
            return
        self._transport.set_write_buffer_limits(high=_UNSENT_BYTES)
        self.address = _shown(transport.get_extra_info("peername"))
        self.local_address = _shown(transport.get_extra_info("sockname"))
        self._sessions.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_closed = True
        self.is_writable = False
        self._sessions.discard(self)
        for task in self._tasks:
            task.cancel()
        for producer in list(self.producers.values()):
            producer.topic.remove_producer(producer)
        for consumer in list(self.consumers.values()):
            detach(consumer)
        self.producers.clear()
        self.consumers.clear()

    def pause_writing(self) -> None:
        """Who does not take answers asks no more questions."""
        self.is_writable = False
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        self.is_writable = True
        self._read_on()
        for consumer in self.consumers.values():
            consumer.subscription.wake()

    def close(self) -> None:
        self._transport.close()

    def check_alive(self, now: float) -> None:
        """Called every few seconds: asks who is silent whether it is there, and hangs up on who is gone."""
        if self.is_writable and not self._transport.is_reading():
            # It may talk all the while: we do not listen until what it sent is stored.
            self._heard = now
        silence = now - self._heard
        if silence > (_SILENCE_SECONDS if self._is_connected else _CONNECT_SECONDS):
            self._transport.abort()
        elif silence > _PING_SECONDS:
            command = BaseCommand(type=BaseCommand.PING)
            command.ping.SetInParent()
            self.reply(command)

    # Commands

    def data_received(self, data: bytes) -> None:
        self._heard = time.monotonic()
        try:
            for frame in self._reader.feed(data):
                self._handle(frame.command, frame.body)
        except MalformedFrame as e:
            log.warning("closing a connection", extra={"client": self.address, "reason": e.message})
            self.reply(answers.failure(0, e))
            self.close()

    def _handle(self, command: BaseCommand, body: bytes) -> None:
        kind = command.type
        if kind == BaseCommand.CONNECT:
            self.spawn(self._connect(command.connect), None)
            return
        if not self._is_connected:
            raise MalformedFrame("the first command has to be CONNECT")
        handler = self._handlers.get(kind)
        content: Any = getattr(command, _CONTENT_OF[kind])
        request_id = content.request_id if kind in _REQUESTS else None
        if handler is None:
            name = BaseCommand.Type.Name(kind)
            self.fail(request_id, Unsupported(f"{name} is not served here"))
            return
        try:
            later = handler(self, content, body)
        except TallystickError as e:
            self.fail(request_id, e)
            return
        if later is not None:
            task = self.spawn(later, request_id)
            if kind in _ATTACHING:
                key = kind, getattr(content, _ATTACHING[kind])
                self._attaching[key] = task
                task.add_done_callback(lambda _: self._attaching.pop(key, None))

    def give_up(self, kind: int, id_: int) -> None:
        """The client does not wait any longer for a producer or consumer."""
        task = self._attaching.get((kind, id_))
        if task is not None:
            task.cancel()

    def spawn(self, work: Coroutine[Any, Any, None], request_id: int | None) -> asyncio.Task[None]:
        """Does what takes a while; an error becomes the answer."""
        task = asyncio.get_running_loop().create_task(self._run(work, request_id))
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        if len(self._tasks) > _MOST_TASKS:
            self._transport.pause_reading()
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._read_on()

    async def _run(self, work: Coroutine[Any, Any, None], request_id: int | None) -> None:
        try:
            await work
        except TallystickError as e:
            self.fail(request_id, e)
        except Exception:  # the edge of the process: one client's trouble must not be everybody's
            log.exception("a command failed", extra={"client": self.address})
            self.fail(request_id, TallystickError("the broker failed; its log says more"))

    def reply(self, command: BaseCommand) -> None:
        if not self.is_closed:
            self._transport.write(simple_frame(command))

    def write(self, frame: bytes) -> None:
        self._transport.write(frame)

    def fail(self, request_id: int | None, error: TallystickError) -> None:
        if request_id is not None:
            self.reply(answers.failure(request_id, error))

    # Who it is

    async def _connect(self, command: CommandConnect) -> None:
        try:
            if command.protocol_version < _OLDEST_VERSION:
                raise Unsupported(
                    f"the client's protocol version is {command.protocol_version}; {_OLDEST_VERSION} is the oldest here"
                )
            method, data = command.auth_method_name, command.auth_data
            principal = await asyncio.to_thread(self._authentication.verify, method, data)
        except TallystickError as e:
            self.reply(answers.failure(0, e))
            self.close()
            return
        self.caller = Caller(principal, self.address.rpartition(":")[0])
        self.client_version = command.client_version
        self._is_connected = True
        self.reply(_connected(command))

    def require(self, action: Action, topic: TopicName) -> None:
        require(self.caller, action, str(topic.subject))

    def require_open(self) -> None:
        if self.is_closed:
            raise Unauthenticated("the client has hung up")

    # What topics tell a client

    def close_producer(self, producer: Producer) -> None:
        self.producers.pop(producer.id, None)
        command = BaseCommand(type=BaseCommand.CLOSE_PRODUCER)
        command.close_producer.producer_id = producer.id
        command.close_producer.request_id = 2**64 - 1
        self.reply(command)

    def close_consumer(self, consumer: Consumer) -> None:
        self.consumers.pop(consumer.id, None)
        command = BaseCommand(type=BaseCommand.CLOSE_CONSUMER)
        command.close_consumer.consumer_id = consumer.id
        command.close_consumer.request_id = 2**64 - 1
        self.reply(command)

    def tell_active(self, consumer: Consumer, is_active: bool) -> None:
        command = BaseCommand(type=BaseCommand.ACTIVE_CONSUMER_CHANGE)
        command.active_consumer_change.consumer_id = consumer.id
        command.active_consumer_change.is_active = is_active
        # The answer to its SUBSCRIBE comes first.
        asyncio.get_running_loop().call_soon(self.reply, command)

    # How much it may send

    def storing(self, size: int) -> None:
        self._unstored_bytes += size + _BYTES_BESIDE_DATA
        self.broker.unstored_bytes += size + _BYTES_BESIDE_DATA
        if self._unstored_bytes > _UNSTORED_BYTES or self.broker.is_flooded:
            self._transport.pause_reading()

    def stored(self, size: int) -> None:
        self._unstored_bytes -= size + _BYTES_BESIDE_DATA
        self.broker.unstored_bytes -= size + _BYTES_BESIDE_DATA
        self._read_on()

    def _read_on(self) -> None:
        """Where the client takes its answers, and enough of what it asked for is done."""
        has_room = self._unstored_bytes <= _UNSTORED_BYTES // 2 and len(self._tasks) <= _MOST_TASKS // 2
        if has_room and self.is_writable and not self._transport.is_reading():
            self._transport.resume_reading()


def detach(consumer: Consumer) -> None:
    """Takes a consumer off its subscription; a reader's subscription goes with it."""
    subscription = consumer.subscription
    subscription.detach(consumer)
    if not subscription.is_durable and not subscription.consumers:
        subscription.topic.forget(subscription)


def _connected(command: CommandConnect) -> BaseCommand:
    answer = BaseCommand(type=BaseCommand.CONNECTED)
    answer.connected.server_version = "Tallystick"
    answer.connected.protocol_version = min(PROTOCOL_VERSION, command.protocol_version)
    answer.connected.max_message_size = MOST_MESSAGE_BYTES
    answer.connected.feature_flags.supports_partial_producer = True
    answer.connected.feature_flags.supports_get_partitioned_metadata_without_auto_creation = True
    return answer


def _shown(address: Any) -> str:
    if not isinstance(address, tuple):
        return str(address)
    host, port = address[0], address[1]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
