"""A Kafka transport in a test: opened, sent to, waited for, closed."""

import asyncio
import itertools
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Incoming, Outgoing
from tallystick.messaging.settings import EARLIEST, ConsumerSettings, ProducerSettings
from tallystick.model.position import KafkaPosition, Position
from tallystick.transports.kafka import KafkaSettings, KafkaTransport
from tallystick.transports.kafka.inlet import KafkaInlet
from tallystick.transports.kafka.outlet import KafkaOutlet

PATIENCE_S = 30.0
"""Far more than anything takes; waiting ends as soon as the thing happens."""
_names = (f"{secrets.token_hex(4)}-{number}" for number in itertools.count())


def new_name(what: str = "topic") -> str:
    return f"{what}-{next(_names)}"


def run(work: Coroutine[Any, Any, None]) -> None:
    """Runs the test in an event loop; afterwards no thread of a transport is left."""
    asyncio.run(work)
    left = [thread.name for thread in threading.enumerate() if "kafka" in thread.name]
    assert not left, left


def make_topic(servers: str, partitions: int, **config: str) -> str:
    name = new_name()
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(name, partitions, 1, config=config)])[name].result(PATIENCE_S)
    return name


@asynccontextmanager
async def connected(servers: str, timeout_s: float = PATIENCE_S, **options: Any) -> AsyncIterator[KafkaTransport]:
    """Underscores in the names of options stand for dots."""
    named = {name.replace("_", "."): value for name, value in options.items()}
    transport = KafkaTransport(KafkaSettings(servers=servers, options=named, operation_timeout_s=timeout_s))
    try:
        yield transport
    finally:
        await transport.close()


class Inbox:
    """What an inlet delivers."""

    def __init__(self) -> None:
        self.inlet: KafkaInlet
        self.messages: list[Incoming] = []
        self._came = asyncio.Event()

    def deliver(self, messages: Sequence[Incoming]) -> None:
        self.messages += messages
        self._came.set()

    async def until(self, is_there: Callable[[list[Incoming]], bool]) -> list[Incoming]:
        async with asyncio.timeout(PATIENCE_S):
            while not is_there(self.messages):
                await self._came.wait()
                self._came.clear()
        return self.messages

    async def take(self, count: int) -> list[Incoming]:
        """The next messages."""
        taken: list[Incoming] = []
        while len(taken) < count:
            await self.until(lambda messages: bool(messages))
            some = self.messages[: count - len(taken)]
            del self.messages[: len(some)]
            self.inlet.taken(len(some))
            taken += some
        return taken

    async def payloads(self, count: int) -> list[bytes | None]:
        return [message.payload for message in await self.take(count)]


async def subscribed(transport: KafkaTransport, *topics: str, **settings: Any) -> Inbox:
    """A reader from the beginning unless the settings say otherwise."""
    inbox = Inbox()
    wanted = ConsumerSettings(topics=topics, **{"start": EARLIEST, **settings})
    inbox.inlet = await transport.open_inlet(wanted, None, inbox.deliver)
    return inbox


async def producing(transport: KafkaTransport, topic: str, **settings: Any) -> KafkaOutlet:
    return await transport.open_outlet(topic, ProducerSettings(**settings), None)


def put(outlet: KafkaOutlet, *messages: Outgoing | bytes) -> list[Pending[Position]]:
    answers = []
    for message in messages:
        answers.append(answer := Pending[Position]())
        outlet.put(message if isinstance(message, Outgoing) else Outgoing(message), answer)
    outlet.flush()
    return answers


async def send(outlet: KafkaOutlet, *messages: Outgoing | bytes) -> list[KafkaPosition]:
    return [await position(answer) for answer in put(outlet, *messages)]


async def position(answer: Pending[Position]) -> KafkaPosition:
    async with asyncio.timeout(PATIENCE_S):
        found = await answer
    assert isinstance(found, KafkaPosition)
    return found


async def acknowledged(inbox: Inbox, message: Incoming, *, cumulative: bool = False) -> None:
    done: Pending[None] = Pending()
    inbox.inlet.acknowledge(message, cumulative=cumulative, done=done)
    async with asyncio.timeout(PATIENCE_S):
        await done
