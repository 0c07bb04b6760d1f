"""One task's rows into a topic.

What makes a repeated task harmless: the producer of a task has the same name every time, its messages the same numbers,
and its batches the same borders, because nothing but the rows decides them. A broker that deduplicates drops what it
has already.
"""

import asyncio
import time
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from tallystick.errors import Busy, TimedOut
from tallystick.messaging.engine import Engine
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Outgoing, Outlet
from tallystick.messaging.settings import ProducerSettings
from tallystick.model.position import Position
from tallystick.spark.source.link import pulsar_settings
from tallystick.spark.source.options import WriteOptions
from tallystick.spark.source.outgoing import outgoing
from tallystick.transports.pulsar import PulsarSettings, PulsarTransport
from tallystick.transports.pulsar.outlet import key_hash

if TYPE_CHECKING:
    from tallystick.rest.credentials import Credentials

_BATCH_MESSAGES = 1000
_MOST_ON_THEIR_WAY = 20_000
_NEVER_S = 7 * 24 * 3600.0
"""Batches end where they are full, never because time is up: a repeated task must have the same."""
_NUMBERS = 36
"""Bits for the numbers of a task's messages; the rest are for the micro-batch."""
_BUSY_PAUSE_S = 0.5
_LOOK_S = 0.002

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sender:
    """Who sends: None as a name lets the broker choose one, and nothing is deduplicated."""

    name: str | None
    batch_id: int

    @property
    def last_number(self) -> int:
        """Before the first message of the micro-batch."""
        return (self.batch_id << _NUMBERS) - 1


def write_rows(
    batches: Iterator[pa.RecordBatch], options: WriteOptions, credentials: "Credentials | None", sender: Sender
) -> int:
    """Sends all rows, waits until the broker has them, and tells how many they are. Raises the first error."""
    engine = Engine()
    try:
        topic = _Topic(engine, options, credentials, sender)
        try:
            for rows in batches:
                for partition, message in outgoing(rows, options.framing):
                    topic.put(partition, message)
            topic.finish()
        finally:
            topic.close()
        return topic.sent
    finally:
        engine.close()


class _Answers(Pending[Position]):
    """The answers to all messages of a task, counted on the loop. Who waits looks now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.first_error: BaseException | None = None

    def set(self, answer: Position) -> None:
        self.count += 1

    def fail(self, error: BaseException) -> None:
        self.first_error = self.first_error or error
        self.count += 1


class _Topic:
    """A topic with its partitions, each with an outlet once it is needed."""

    def __init__(
        self, engine: Engine, options: WriteOptions, credentials: "Credentials | None", sender: Sender
    ) -> None:
        self.sent = 0
        self._engine = engine
        self._options = options
        self._settings = _settings(options, sender)
        self._answers = _Answers()
        self._outlets: dict[int, Outlet] = {}
        self._keyless = 0
        self._transport = self._run(_opened(pulsar_settings(options.url, credentials, options.timeout_s)))
        self._partitions = self._run(self._transport.partitions(options.topic))
        # Like AUTO_PRODUCE: who has the topic's schema may send what carries any version of it.
        self._definition = self._run(self._transport.latest_schema(options.topic))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._engine.run(work).result(4 * self._options.timeout_s)

    def put(self, came_from: int, message: Outgoing) -> None:
        outlet = self._outlet(self._partition(came_from, message))
        outlet.put(message, self._answers)
        self.sent += 1
        # What waits in batches that are not full is not on its way, and is not sent before they are.
        if not self.sent % _BATCH_MESSAGES:
            self._wait(_MOST_ON_THEIR_WAY + _BATCH_MESSAGES * len(self._outlets))

    def _partition(self, came_from: int, message: Outgoing) -> int:
        """By the key as all clients do; without one where it was before, or else they take turns by batches."""
        if self._partitions == 0:
            return -1
        if message.key is not None:
            return key_hash(message.key, message.is_key_text) % self._partitions
        if 0 <= came_from < self._partitions:
            return came_from
        self._keyless += 1
        return (self._keyless - 1) // _BATCH_MESSAGES % self._partitions

    def _outlet(self, partition: int) -> Outlet:
        outlet = self._outlets.get(partition)
        if outlet is None:
            topic = self._options.topic if partition < 0 else f"{self._options.topic}-partition-{partition}"
            outlet = self._outlets[partition] = self._run(self._open(topic))
        return outlet

    async def _open(self, topic: str) -> Outlet:
        until = time.monotonic() + self._options.timeout_s
        while True:
            try:
                return await self._transport.open_outlet(topic, self._settings, self._definition)
            except Busy:
                # An earlier try of this task, of which the broker does not know yet that it is dead.
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(_BUSY_PAUSE_S)

    def finish(self) -> None:
        for outlet in self._outlets.values():
            outlet.flush()
        self._wait(0)

    def _wait(self, most: int) -> None:
        """Until no more than so many are without an answer. Raises an error that came, or `TimedOut`."""
        seen, since = self._answers.count, time.monotonic()
        while self._answers.first_error is None and self.sent - self._answers.count > most:
            time.sleep(_LOOK_S)
            if self._answers.count > seen:
                seen, since = self._answers.count, time.monotonic()
            elif time.monotonic() - since > self._options.timeout_s:
                left, url = self.sent - seen, self._options.url
                raise TimedOut(
                    f"topic {self._options.topic}: {url} has not taken {left} records for {self._options.timeout_s:g} s"
                )
        if self._answers.first_error is not None:
            raise self._answers.first_error

    def close(self) -> None:
        """Without waiting for what has no answer yet."""
        self._run(self._transport.close())


async def _opened(settings: PulsarSettings) -> PulsarTransport:
    return PulsarTransport(settings)


def _settings(options: WriteOptions, sender: Sender) -> ProducerSettings:
    return ProducerSettings(
        name=sender.name,
        batch_messages=_BATCH_MESSAGES,
        batch_delay_s=_NEVER_S,
        send_timeout_s=_NEVER_S,
        compression=options.compression,
        initial_sequence_id=None if sender.name is None else sender.last_number,
    )
