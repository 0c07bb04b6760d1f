"""One connection to a broker: who we are, questions and their answers, and whose frames are whose."""

import asyncio
import itertools
import logging
import time
from collections.abc import Sequence
from typing import Any, Protocol, cast

from tallystick.errors import Closed, TallystickError, TimedOut, Unauthenticated, Unavailable
from tallystick.transports.pulsar.commands import ANSWERS, content_of, error_in, frame_of, is_request, name_of
from tallystick.transports.pulsar.refusals import translated
from tallystick.transports.pulsar.settings import Address, PulsarSettings
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.faults import MalformedFrame
from tallystick.wire.pulsar.frames import MOST_MESSAGE_BYTES, FrameReader
from tallystick.wire.pulsar.pulsar_pb2 import BaseCommand

log = logging.getLogger("tallystick.transports.pulsar")

PROTOCOL_VERSION = 21
_LARGEST_FRAME_BYTES = 128 * 1024 * 1024
"""A broker may allow larger messages than most do."""


class Sender(Protocol):
    """A producer, as its connection knows it."""

    def on_receipt(self, receipt: pb.CommandSendReceipt) -> None: ...

    def on_send_error(self, error: pb.CommandSendError) -> None: ...

    def on_detached(self, reason: TallystickError, *, at_once: bool) -> None:
        """The connection is lost, or (`at_once`) the broker has closed the producer."""


class Receiver(Protocol):
    """A consumer, as its connection knows it."""

    def on_message(self, message: pb.CommandMessage, entry: bytes) -> None: ...

    def on_messages_end(self) -> None:
        """What came in one go has all been told."""

    def on_detached(self, reason: TallystickError, *, at_once: bool) -> None:
        """The connection is lost, or (`at_once`) the broker has closed the consumer."""


class Connection(asyncio.Protocol):
    """`ready` ends when the broker has let us in; `lost` when the connection is gone, with the reason as its result."""

    def __init__(self, address: Address, settings: PulsarSettings, token: str | None, proxied: str | None) -> None:
        self.address = address
        self.most_message_bytes = MOST_MESSAGE_BYTES
        self.senders: dict[int, Sender] = {}
        self.receivers: dict[int, Receiver] = {}
        loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = loop.create_future()
        self.lost: asyncio.Future[TallystickError] = loop.create_future()
        self._settings = settings
        self._token = token
        self._proxied = proxied
        """The broker that a proxy is to connect us with."""
        self._loop = loop
        self._reader = FrameReader(_LARGEST_FRAME_BYTES)
        self._requests: dict[int, tuple[asyncio.Future[Any], str]] = {}
        self._numbers = itertools.count(1)
        self._heard = time.monotonic()
        self._reason: TallystickError | None = None
        self._told: dict[int, Receiver] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._watching: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport

    @property
    def is_open(self) -> bool:
        return self.ready.done() and not self.lost.done() and self._reason is None

    # The stream

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._watch()
        connect = pb.CommandConnect(client_version=self._settings.client_name, protocol_version=PROTOCOL_VERSION)
        if self._token is not None:
            connect.auth_method_name, connect.auth_data = "token", self._token.encode()
        if self._proxied is not None:
            connect.proxy_to_broker_url = self._proxied
        connect.feature_flags.supports_auth_refresh = True
        connect.feature_flags.supports_partial_producer = True
        connect.feature_flags.supports_get_partitioned_metadata_without_auto_creation = True
        self.tell(connect)

    def data_received(self, data: bytes) -> None:
        self._heard = time.monotonic()
        try:
            for frame in self._reader.feed(data):
                if self._reason is not None:
                    # After we have hung up, nothing counts that was said before the other end knew.
                    break
                self._handle(frame.command, frame.body)
        except MalformedFrame as e:
            self.abort(Unavailable(f"{self.address} does not speak Pulsar's binary protocol: {e.message}"))
        if self._told:
            told, self._told = self._told, {}
            for receiver in told.values():
                receiver.on_messages_end()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._watching is not None:
            self._watching.cancel()
        for task in self._tasks:
            task.cancel()
        reason = self._reason or Unavailable(
            f"the connection to {self.address} was lost" + (f": {exc}" if exc is not None else "")
        )
        self._reason = reason
        if not self.ready.done():
            self.ready.set_exception(reason)
            self.ready.exception()
        for answer, _ in self._requests.values():
            if not answer.done():
                answer.set_exception(_again(reason))
        self._requests.clear()
        self.lost.set_result(reason)
        attached: list[Sender | Receiver] = [*self.senders.values(), *self.receivers.values()]
        self.senders, self.receivers = {}, {}
        for one in attached:
            one.on_detached(reason, at_once=False)

    def abort(self, reason: TallystickError) -> None:
        """Hangs up at once; whoever uses the connection is told this reason."""
        if self._reason is None:
            self._reason = reason
        self._transport.abort()

    async def close(self) -> None:
        if self._reason is None:
            self._reason = Closed(f"the connection to {self.address} was closed")
        self._transport.close()
        try:
            async with asyncio.timeout(1):
                await asyncio.shield(self.lost)
        except TimeoutError:
            self._transport.abort()
            await self.lost

    def _watch(self) -> None:
        """Asks a silent broker whether it is there, and leaves one that does not answer."""
        keep_alive_s = self._settings.keep_alive_s
        silence_s = time.monotonic() - self._heard
        if silence_s >= 2 * keep_alive_s:
            self.abort(Unavailable(f"{self.address} has not answered for {silence_s:.0f} s"))
            return
        if silence_s >= keep_alive_s and self.is_open:
            self.tell(pb.CommandPing())
        self._watching = self._loop.call_later(keep_alive_s / 2, self._watch)

    # Commands

    def write(self, frames: Sequence[bytes]) -> None:
        if frames and not self._transport.is_closing():
            self._transport.writelines(frames)

    def tell(self, content: Any) -> None:
        """Sends a command that nobody waits for the answer of."""
        if is_request(content) and not isinstance(content, pb.CommandAck):
            content.request_id = next(self._numbers)
        self.write([frame_of(content)])

    async def ask(self, content: Any, topic: str) -> Any:
        """The answer to a command; errors name the topic. Raises what `refusals` makes of the broker's, `TimedOut`."""
        if not self.is_open:
            raise _again(self._reason or Unavailable(f"the connection to {self.address} is not open"))
        number = content.request_id = next(self._numbers)
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._requests[number] = (answer, topic)
        self.write([frame_of(content)])
        try:
            async with asyncio.timeout(self._settings.operation_timeout_s):
                return await answer
        except TimeoutError as e:
            waited = f"{self._settings.operation_timeout_s:g} s"
            raise TimedOut(f"{self.address} has not answered {name_of(content)} for {topic} within {waited}") from e
        finally:
            self._requests.pop(number, None)

    def _handle(self, command: BaseCommand, body: bytes) -> None:
        kind = command.type
        if kind == BaseCommand.MESSAGE:
            receiver = self.receivers.get(command.message.consumer_id)
            if receiver is not None:
                receiver.on_message(command.message, body)
                self._told[command.message.consumer_id] = receiver
        elif kind == BaseCommand.SEND_RECEIPT:
            sender = self.senders.get(command.send_receipt.producer_id)
            if sender is not None:
                sender.on_receipt(command.send_receipt)
        elif kind in ANSWERS:
            self._answered(kind, content_of(command))
        else:
            self._handle_seldom(kind, command)

    def _handle_seldom(self, kind: int, command: BaseCommand) -> None:
        if kind == BaseCommand.PING:
            self.tell(pb.CommandPong())
        elif kind == BaseCommand.ERROR:
            self._refused(command.error)
        elif kind == BaseCommand.SEND_ERROR:
            sender = self.senders.get(command.send_error.producer_id)
            if sender is not None:
                sender.on_send_error(command.send_error)
        elif kind == BaseCommand.CONNECTED:
            self._connected(command.connected)
        elif kind == BaseCommand.AUTH_CHALLENGE:
            self._spawn(self._answer_challenge(command.authChallenge))
        elif kind == BaseCommand.CLOSE_PRODUCER:
            _detach(self.senders.pop(command.close_producer.producer_id, None), "producer")
        elif kind == BaseCommand.CLOSE_CONSUMER:
            _detach(self.receivers.pop(command.close_consumer.consumer_id, None), "consumer")

    def _answered(self, kind: int, content: Any) -> None:
        asked = self._requests.get(content.request_id)
        if asked is None or asked[0].done():
            return
        answer, topic = asked
        error = error_in(kind, content, topic)
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(content)

    def _refused(self, error: pb.CommandError) -> None:
        asked = self._requests.get(error.request_id)
        if asked is not None:
            if not asked[0].done():
                asked[0].set_exception(translated(error.error, error.message, asked[1]))
        elif not self.ready.done():
            self.abort(translated(error.error, f"{self.address}: {error.message}"))

    def _connected(self, connected: pb.CommandConnected) -> None:
        if connected.max_message_size:
            self.most_message_bytes = connected.max_message_size
        if not self.ready.done():
            self.ready.set_result(None)

    # Who we are

    async def _answer_challenge(self, challenge: pb.CommandAuthChallenge) -> None:
        try:
            token = await self._settings.current_token()
        except TallystickError as e:
            self.abort(e)
            return
        answer = pb.CommandAuthResponse(client_version=self._settings.client_name, protocol_version=PROTOCOL_VERSION)
        if token is None:
            self.abort(Unauthenticated(f"{self.address} asks who we are, and there is no token to tell it"))
            return
        answer.response.auth_method_name, answer.response.auth_data = "token", token.encode()
        self.tell(answer)

    def _spawn(self, work: Any) -> None:
        task: asyncio.Task[None] = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _detach(one: Sender | Receiver | None, what: str) -> None:
    if one is not None:
        one.on_detached(Unavailable(f"the broker has closed the {what}"), at_once=True)


def _again(reason: TallystickError) -> TallystickError:
    """The same reason for one more of those who wait: each raises an error of its own."""
    copy = type(reason).__new__(type(reason), *reason.args)
    copy.args = reason.args
    copy.__dict__.update(reason.__dict__)
    return copy
