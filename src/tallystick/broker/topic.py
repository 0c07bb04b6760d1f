"""A topic, or one partition of one: its log, its producers, its subscriptions."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tallystick.broker.log.log import Log
from tallystick.broker.log.values import CursorState, Entry, TopicRow
from tallystick.broker.names import topic_name
from tallystick.broker.producer import Producer
from tallystick.broker.recent import RecentEntries
from tallystick.broker.subscription import Subscription
from tallystick.broker.traffic import Traffic
from tallystick.errors import AlreadyExists, Busy, SubscriptionNotFound, Unavailable
from tallystick.wire.pulsar.entries import parse_entry
from tallystick.wire.pulsar.pulsar_pb2 import MessageMetadata

Done = Callable[[int, BaseException | None], None]
"""Is called with the entry's number when it is durable, or with what went wrong."""

_MOST_VERSIONS = 1000
_OTHER_VERSIONS = b"*"
DUPLICATE = -1
"""The number of an entry that was there already."""


class CursorKeeper(Protocol):
    def cursor_moved(self, subscription: Subscription) -> None:
        """The cursor is to be stored before long."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a message is: `batch_index` is -1 where the entry is no batch."""

    number: int
    batch_index: int = -1


@dataclass(slots=True)
class Appended:
    """An entry on its way to the log."""

    entry: Entry
    schema_version: bytes
    sequence: tuple[str, int] | None
    done: Done
    then: list[Callable[[BaseException | None], None]] = field(default_factory=list)
    """What waits for it without being stored itself."""


class Topic:
    """`committed` is where the next entry will be, as far as consumers may know: all before it is durable."""

    def __init__(
        self,
        row: TopicRow,
        log: Log,
        recent: RecentEntries,
        keeper: CursorKeeper,
        cursors: Mapping[str, CursorState],
        sequences: Mapping[str, int],
    ) -> None:
        self.id = row.id
        self.name = topic_name(row.name)
        self.partition = self.name.partition
        self.properties = dict(row.properties)
        self.created_ms = row.created_ms
        self.first = row.first
        self.committed = row.next
        self.bytes = row.bytes
        self.published = Traffic()
        self.by_schema: Counter[bytes] = Counter()
        """Messages by the schema version that they name, as the wire has it. A client can invent versions, so there is
        a limit to those that are told apart."""
        self.refused = 0
        """Entries that were not taken for what they are."""
        self.producers: dict[str, Producer] = {}
        self.is_deduplicating = False
        self._sequences = dict(sequences)
        """The last sequence id of each producer, where they are kept to tell what comes twice."""
        self._sequences_sent: dict[str, int] = {}
        """The same, of what is on its way."""
        self._log = log
        self._recent = recent
        self._keeper = keeper
        self._next = row.next
        self._on_their_way: deque[Appended] = deque()
        self._is_failing = False
        self.is_deleted = False
        self.subscriptions = {name: Subscription(self, name, state, is_durable=True) for name, state in cursors.items()}

    # Publishing

    def add_producer(self, producer: Producer) -> None:
        """Takes the place of a producer of the same client that comes back; raises `Busy` for another one."""
        before = self.producers.get(producer.name)
        if before is not None:
            comes_back = before.epoch < producer.epoch or (
                before.connection is producer.connection and before.id == producer.id
            )
            if not comes_back:
                raise Busy(
                    "producer", f"Producer with name '{producer.name}' is already connected to topic {self.name}"
                )
            before.connection.close_producer(before)
        self.producers[producer.name] = producer

    def remove_producer(self, producer: Producer) -> None:
        if self.producers.get(producer.name) is producer:
            del self.producers[producer.name]

    def append(self, data: bytes, metadata: MessageMetadata, done: Done) -> None:
        """`done` is called in the order of the calls."""
        if self._is_failing or self.is_deleted:
            raise Unavailable(f"topic {self.name} takes no messages at the moment; try again")
        sequence = None
        if self.is_deduplicating:
            sequence = metadata.producer_name, max(metadata.sequence_id, metadata.highest_sequence_id)
            if sequence[1] <= self.last_sequence(sequence[0]):
                # What it repeats may not be durable yet.
                self.after_appends(lambda error: done(DUPLICATE, error))
                return
            self._sequences_sent[sequence[0]] = sequence[1]
        messages = metadata.num_messages_in_batch if metadata.HasField("num_messages_in_batch") else 1
        entry = Entry(self._next, metadata.publish_time, messages, data)
        self._next += 1
        self._on_their_way.append(Appended(entry, metadata.schema_version, sequence, done))
        self._log.append(self.id, entry, self._appended, sequence)

    @property
    def next(self) -> int:
        """The number of the next entry to be appended."""
        return self._next

    def last_sequence(self, producer: str) -> int:
        return self._sequences_sent.get(producer, self._sequences.get(producer, -1))

    def after_appends(self, call: Callable[[BaseException | None], None]) -> None:
        """Calls when what is on its way now has been answered, with its error where it failed."""
        if self._on_their_way:
            self._on_their_way[-1].then.append(call)
        else:
            call(None)

    def _appended(self, error: BaseException | None) -> None:
        """The log answers in the order of the appends."""
        appended = self._on_their_way.popleft()
        if error is None:
            self._commit(appended)
        else:
            self._is_failing = True
        if not self._on_their_way:
            # After a failure the numbers and sequence ids that were given out are free again.
            self._next, self._is_failing = self.committed, False
            self._sequences_sent.clear()
        appended.done(appended.entry.number, error)
        for call in appended.then:
            call(error)

    def _commit(self, appended: Appended) -> None:
        entry = appended.entry
        self.committed = entry.number + 1
        self.bytes += len(entry.data)
        self.published.add(entry.messages, len(entry.data))
        version = appended.schema_version
        is_told = version in self.by_schema or len(self.by_schema) < _MOST_VERSIONS
        self.by_schema[version if is_told else _OTHER_VERSIONS] += entry.messages
        if appended.sequence is not None:
            self._sequences[appended.sequence[0]] = appended.sequence[1]
        self._recent.put(self.id, entry)
        self.wake()

    # Reading

    def recent(self, number: int) -> Entry | None:
        return self._recent.get(self.id, number)

    async def read(self, first: int, most_entries: int, most_bytes: int) -> list[Entry]:
        return await asyncio.to_thread(self._log.read, self.id, first, most_entries, most_bytes)

    async def last_position(self) -> Position:
        """Where the last message is; number -1 where there is none."""
        number = self.committed - 1
        if number < self.first:
            return Position(-1)
        entry = self.recent(number)
        if entry is None:
            read = await self.read(number, 1, 1)
            if not read:
                return Position(number)
            entry = read[0]
        metadata = parse_entry(entry.data, verify=False).metadata
        is_batch = metadata.HasField("num_messages_in_batch")
        return Position(number, metadata.num_messages_in_batch - 1 if is_batch else -1)

    async def number_at(self, published_ms: int) -> int:
        """The first entry that was published at this time or later; the next one to come where there is none."""
        found = await asyncio.to_thread(self._log.first_published_at_or_after, self.id, published_ms)
        return self.committed if found is None else found

    def number_of(self, ledger: int, entry: int) -> int:
        """The entry of a message id, which may be of another topic of this name, before or after this one."""
        if ledger == self.id:
            return min(max(entry, self.first), self.committed)
        return self.first if ledger < self.id else self.committed

    def trimmed(self, first: int, size: int) -> None:
        """The log has dropped the entries before `first`."""
        self.first, self.bytes = first, size

    # Subscriptions

    def subscription(self, name: str) -> Subscription:
        try:
            return self.subscriptions[name]
        except KeyError as e:
            raise SubscriptionNotFound(name, str(self.name)) from e

    def subscribe(self, name: str, number: int, properties: Mapping[str, str], *, is_durable: bool) -> Subscription:
        """A new subscription that starts at an entry."""
        if name in self.subscriptions:
            raise AlreadyExists(f"Subscription {name} of topic {self.name} exists already")
        state = CursorState(min(max(number, self.first), self.committed), (), {}, properties)
        found = self.subscriptions[name] = Subscription(self, name, state, is_durable=is_durable)
        if is_durable:
            self.cursor_moved(found)
        return found

    def forget(self, subscription: Subscription) -> None:
        subscription.close()
        if self.subscriptions.get(subscription.name) is subscription:
            del self.subscriptions[subscription.name]

    def cursor_moved(self, subscription: Subscription) -> None:
        self._keeper.cursor_moved(subscription)

    @property
    def is_in_use(self) -> bool:
        """Whether a schema that a consumer brings now would come too late."""
        has_consumers = any(subscription.consumers for subscription in self.subscriptions.values())
        return bool(self.producers) or has_consumers or self.committed > self.first

    @property
    def needed_from(self) -> int:
        """The first entry that a durable subscription has not acknowledged."""
        durable = [s.cursor.acked_before for s in self.subscriptions.values() if s.is_durable]
        return min(durable, default=self.committed)

    def wake(self) -> None:
        for subscription in self.subscriptions.values():
            subscription.wake()

    def disconnect(self) -> None:
        """Sends everybody away; they come back if they want to."""
        for producer in list(self.producers.values()):
            producer.connection.close_producer(producer)
        self.producers.clear()
        for subscription in list(self.subscriptions.values()):
            subscription.disconnect()
            if not subscription.is_durable:
                self.forget(subscription)

    def close(self) -> None:
        for subscription in self.subscriptions.values():
            subscription.close()
