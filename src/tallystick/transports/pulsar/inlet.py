"""A consumer on some topics, with all their partitions."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any

from tallystick.errors import TallystickError, Unsupported
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Deliver, Incoming
from tallystick.messaging.settings import StartAt
from tallystick.model.definition import SchemaDefinition
from tallystick.model.position import Position, PulsarPosition
from tallystick.model.subject import Version
from tallystick.transports.pulsar.acknowledging import DeliveredEntry
from tallystick.transports.pulsar.cluster import Cluster
from tallystick.transports.pulsar.partition_inlet import PartitionInlet
from tallystick.transports.pulsar.place import start_of
from tallystick.transports.pulsar.together import together
from tallystick.transports.pulsar.topics import topic_name


class PulsarInlet:
    """Implements `Inlet`."""

    def __init__(self, cluster: Cluster, deliver: Deliver) -> None:
        self.on_closed: Callable[[Any], object] = lambda _: None
        self._cluster = cluster
        self._deliver = deliver
        self._loop = asyncio.get_running_loop()
        self._parts: Sequence[PartitionInlet] = ()
        self._lock = Lock()
        self._taken = 0
        self._least_taken = 1
        self._is_handed_over = False
        self._is_closed = False
        self._delivered: deque[tuple[PartitionInlet, int]] = deque()
        """How many messages of which partition were delivered, in their order, and are not taken."""

    async def open(self, parts: Sequence[PartitionInlet]) -> None:
        """All of them, or none."""
        self._parts = parts
        self._least_taken = min(part.permits.least_taken for part in parts)
        try:
            await together(part.open() for part in parts)
        except BaseException:
            self.abort()
            raise
        # The caller has the inlet before its first message.
        self._loop.call_soon(self._begin)

    def _begin(self) -> None:
        for part in self._parts:
            part.begin()

    @property
    def trouble(self) -> TallystickError | None:
        """Why nothing comes at present from some of it; None where all is well."""
        return next((part.trouble for part in self._parts if part.trouble is not None), None)

    def delivered(self, part: PartitionInlet, messages: Sequence[Incoming]) -> None:
        """Of a partition, on the loop."""
        self._delivered.append((part, len(messages)))
        self._deliver(messages)

    def taken(self, count: int) -> None:
        with self._lock:
            self._taken += count
            if self._taken >= self._least_taken and not self._is_handed_over and not self._is_closed:
                self._is_handed_over = True
                self._loop.call_soon_threadsafe(self._credit)

    def _credit(self) -> None:
        """What was delivered first was taken first."""
        with self._lock:
            count, self._taken, self._is_handed_over = self._taken, 0, False
        counts: dict[PartitionInlet, int] = {}
        while count and self._delivered:
            part, size = self._delivered.popleft()
            credited = min(size, count)
            if credited < size:
                self._delivered.appendleft((part, size - credited))
            counts[part] = counts.get(part, 0) + credited
            count -= credited
        for part, credited in counts.items():
            part.taken(credited)

    def acknowledge(self, message: Incoming, *, cumulative: bool = False, done: Pending[None] | None = None) -> None:
        _owner(message).acknowledge(message, cumulative=cumulative, done=done)

    def reject(self, message: Incoming) -> None:
        self._require_subscription()
        _owner(message).reject(message)

    def redeliver_all(self) -> None:
        self._require_subscription()
        if not self._is_closed:
            self._loop.call_soon_threadsafe(self._redeliver_all)

    def _redeliver_all(self) -> None:
        for part in self._parts:
            part.redeliver_all()

    def _require_subscription(self) -> None:
        if any(part.is_reader for part in self._parts):
            raise Unsupported("a reader keeps no list of what it has read; seek to have it again")

    async def seek(self, start: StartAt | Position) -> None:
        """A position moves its own partition alone. The first message comes after the caller has its answer."""
        place = start_of(start)
        moved = [part for part in self._parts if _is_meant(part, place)]
        stay = [part for part in self._parts if part not in moved]
        if stay and stay[0].is_reader:
            raise Unsupported("a reader of several partitions can seek a time or an end, but no position of one")
        if not moved:
            raise Unsupported(f"{start} is of no partition that is consumed here")
        for part in moved:
            part.shut()
        self._delivered.clear()
        try:
            await asyncio.gather(*(part.seek(place) for part in moved))
        finally:
            self._loop.call_soon(self._begin)
        for part in stay:
            # What it had delivered is dropped with the rest.
            part.permits.dropped()
            part.redeliver_all()

    async def last_positions(self) -> Mapping[int, Position | None]:
        if len({part.topic.given for part in self._parts}) > 1:
            raise Unsupported("the last positions are known of one topic at a time")
        found = await asyncio.gather(*(part.last_position() for part in self._parts))
        return {part.topic.partition: position for part, position in zip(self._parts, found, strict=True)}

    async def writer(self, topic: str, version: Version | None) -> SchemaDefinition | None:
        lookup, name = self._cluster.lookup, topic_name(topic)
        if version is not None:
            return await lookup.schema(name, version)
        latest = await lookup.latest(name)
        return None if latest is None else latest[1]

    async def unsubscribe(self) -> None:
        self._require_subscription()
        await asyncio.gather(*(part.unsubscribe() for part in self._parts))
        self.on_closed(self)

    async def close(self) -> None:
        self._is_closed = True
        await asyncio.gather(*(part.close() for part in self._parts))
        self.on_closed(self)

    def abort(self, _: TallystickError | None = None) -> None:
        self._is_closed = True
        for part in self._parts:
            part.abort()


def _owner(message: Incoming) -> PartitionInlet:
    delivered = message.receipt
    assert isinstance(delivered, DeliveredEntry)
    assert isinstance(delivered.owner, PartitionInlet)
    return delivered.owner


def _is_meant(part: PartitionInlet, start: StartAt | PulsarPosition) -> bool:
    return not isinstance(start, PulsarPosition) or start.partition == part.topic.partition
