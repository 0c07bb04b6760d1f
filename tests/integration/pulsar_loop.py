"""The Pulsar transport as the engine uses it: its loop in a thread of its own, messages from and to others."""

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import uvloop

from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Incoming, Outgoing, Outlet
from tallystick.messaging.settings import ConsumerSettings, ProducerSettings
from tallystick.model.definition import SchemaDefinition
from tallystick.model.position import Position
from tallystick.transports.pulsar import PulsarSettings, PulsarTransport
from tallystick.transports.pulsar.inlet import PulsarInlet

T = TypeVar("T")
SECONDS = 30.0


class Loop:
    """An event loop in a thread, of the kind that the engine has."""

    def __init__(self) -> None:
        self.loop = uvloop.new_event_loop()
        self.faults: list[str] = []
        """What happened on it that nobody caught."""
        self.loop.set_exception_handler(lambda _, context: self.faults.append(str(context)))
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], seconds: float = SECONDS) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(seconds)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(SECONDS)
        left = [str(task) for task in asyncio.all_tasks(self.loop)]
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()
        assert left == []
        assert not self.faults, self.faults


class Inbox:
    """Takes what is delivered, in any thread that asks for it."""

    def __init__(self) -> None:
        self.inlet: PulsarInlet
        self.messages: list[Incoming] = []
        self._arrived = threading.Condition()

    def deliver(self, messages: Sequence[Incoming]) -> None:
        with self._arrived:
            self.messages += messages
            self._arrived.notify_all()

    def wait(self, condition: Callable[[], bool], seconds: float = SECONDS) -> None:
        with self._arrived:
            assert self._arrived.wait_for(condition, seconds), f"{len(self.messages)} messages came, and no more"

    def take(self, count: int, seconds: float = SECONDS) -> list[Incoming]:
        """The next so many messages, off the box."""
        self.wait(lambda: len(self.messages) >= count, seconds)
        with self._arrived:
            taken, self.messages = self.messages[:count], self.messages[count:]
        self.inlet.taken(count)
        return taken

    def payloads(self, count: int) -> list[bytes | None]:
        return [message.payload for message in self.take(count)]

    def drop(self) -> None:
        with self._arrived:
            self.messages = []


class Client:
    """A transport on a loop."""

    def __init__(self, loop: Loop, settings: PulsarSettings) -> None:
        self.loop = loop

        async def make() -> PulsarTransport:
            return PulsarTransport(settings)

        self.transport = loop.run(make())

    def outlet(self, topic: str, definition: SchemaDefinition | None = None, **settings: Any) -> Any:
        return self.loop.run(self.transport.open_outlet(topic, ProducerSettings(**settings), definition))

    def inbox(self, *topics: str, definition: SchemaDefinition | None = None, **settings: Any) -> Inbox:
        box = Inbox()
        opening = self.transport.open_inlet(ConsumerSettings(topics=topics, **settings), definition, box.deliver)
        inlet = self.loop.run(opening)
        assert isinstance(inlet, PulsarInlet)
        box.inlet = inlet
        return box

    def close(self, one: Any) -> None:
        self.loop.run(one.close())


@contextmanager
def client_of(url: str, **settings: Any) -> Iterator[Client]:
    """Closes everything, and shows that nothing is left."""
    loop = Loop()
    try:
        client = Client(loop, PulsarSettings(url=url, **settings))
        try:
            yield client
        finally:
            loop.run(client.transport.close())
    finally:
        loop.close()


def put(outlet: Outlet, payload: bytes | None = b"x", **more: Any) -> Pending[Position]:
    sent: Pending[Position] = Pending()
    outlet.put(Outgoing(payload, **more), sent)
    return sent


def send(outlet: Outlet, payload: bytes | None = b"x", **more: Any) -> Position:
    sent = put(outlet, payload, **more)
    outlet.flush()
    return sent.result(SECONDS)


def send_all(outlet: Outlet, payloads: Iterable[bytes]) -> list[Position]:
    sents = [put(outlet, payload) for payload in payloads]
    outlet.flush()
    return [sent.result(SECONDS) for sent in sents]


def numbered(count: int, start: int = 0) -> list[bytes]:
    return [str(number).encode() for number in range(start, start + count)]


def wait_until(condition: Callable[[], bool], seconds: float = SECONDS) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.005)
