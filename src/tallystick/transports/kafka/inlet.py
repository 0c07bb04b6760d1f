"""A consumer on some topics."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from tallystick.errors import TallystickError, Unsupported
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Deliver, Incoming
from tallystick.messaging.settings import ConsumerSettings, StartAt
from tallystick.model.definition import SchemaDefinition
from tallystick.model.position import KafkaPosition, Position
from tallystick.model.subject import Version
from tallystick.transports.kafka.admin import Admin
from tallystick.transports.kafka.claims import Claim, Claims
from tallystick.transports.kafka.clients import Watch, failure_of, log, reached_partitions
from tallystick.transports.kafka.commits import Commits
from tallystick.transports.kafka.fetching import Fetching
from tallystick.transports.kafka.membership import Group, Membership, Reader
from tallystick.transports.kafka.room import Room
from tallystick.transports.kafka.settings import KafkaSettings
from tallystick.transports.kafka.starting import Place, offsets_at, require_place

T = TypeVar("T")


class AskCluster(Protocol):
    """Has something done by the cluster's administration, in another thread."""

    def __call__(self, work: Callable[[Admin], T]) -> Awaitable[T]: ...


class KafkaInlet:
    """A member of the group that the subscription names, or a reader.

    Kafka keeps one place for each partition of a group: a message that is acknowledged before others comes again when
    the partition goes to another consumer meanwhile. A rejected message is kept in memory and delivered from there.
    """

    def __init__(
        self,
        consumer: Consumer,
        claims: Claims,
        commits: Commits | None,
        settings: KafkaSettings,
        wanted: ConsumerSettings,
        watch: Watch,
        deliver: Deliver,
        ask_cluster: AskCluster,
        *,
        is_incremental: bool,
    ) -> None:
        self._consumer = consumer
        self._settings = settings
        self._wanted = wanted
        self._watch = watch
        self._deliver = deliver
        self._ask_cluster = ask_cluster
        self._loop = asyncio.get_running_loop()
        self._places: list[Place] = []
        self._claims = claims
        self._commits = commits
        self._room = Room(wanted.queue_size, settings.fetched_bytes)
        self._epoch = self._fetched_epoch = 0
        self._fetching = Fetching(consumer, watch, claims, commits, self._room, self._hand_over)
        self._membership = self._new_membership(is_incremental)

    @property
    def trouble(self) -> TallystickError | None:
        return self._watch.trouble

    @property
    def is_closed(self) -> bool:
        return self._fetching.has_ended

    async def open(self) -> None:
        """Returns when the partitions are assigned, so that what is sent from now on is received."""
        try:
            await self._fetching.start(self._join)
        except BaseException:
            await self.close()
            raise

    def taken(self, count: int) -> None:
        self._room.taken(count)

    def acknowledge(self, message: Incoming, *, cumulative: bool = False, done: Pending[None] | None = None) -> None:
        claim, offset = _receipt(message)
        if self._commits is not None:
            self._commits.acknowledge(claim, offset, cumulative=cumulative, done=done)
            if done is not None:
                self._room.wake()
            return
        with self._claims.lock:
            if cumulative:
                claim.progress.acknowledge_through(offset)
            else:
                claim.progress.acknowledge(offset)
        if done is not None:
            done.set(None)

    def reject(self, message: Incoming) -> None:
        claim, offset = _receipt(message)
        with self._claims.lock:
            comes_again = not claim.has_ended and claim.progress.reject(offset)
        if comes_again:
            self._fetching.deliver_later(message, self._wanted.reject_delay_s)

    def redeliver_all(self) -> None:
        self._fetching.ask(self._rewind)

    async def seek(self, start: StartAt | Position) -> None:
        require_place(start, self._wanted.topics)
        # What is on its way to the event loop was fetched before.
        self._epoch += 1
        await self._fetching.ask(lambda: self._seek(start))

    async def last_positions(self) -> Mapping[int, Position | None]:
        if len(self._wanted.topics) > 1:
            raise Unsupported("positions of several topics cannot be told apart; open a consumer on each topic")
        return await self._ask_cluster(lambda admin: admin.last_positions(self._wanted.topics[0]))

    async def writer(self, topic: str, version: Version | None) -> SchemaDefinition | None:
        return None

    async def unsubscribe(self) -> None:
        """Closes the consumer, and deletes the group: `Busy` where it has other members."""
        await self.close()
        group = self._wanted.subscription
        if group is not None:
            await self._ask_cluster(lambda admin: admin.delete_group(group, ", ".join(self._wanted.topics)))

    async def close(self) -> None:
        """librdkafka may take longer to let go of a broker that does not answer; it does so by itself then."""
        self._watch.close()
        ended = self._fetching.close()
        try:
            async with asyncio.timeout(self._settings.operation_timeout_s):
                await ended
        except TimeoutError:
            log.warning("a consumer of %s is still closing", ", ".join(self._wanted.topics))
        else:
            self._fetching.join()

    def _new_membership(self, is_incremental: bool) -> Membership:
        if self._commits is None:
            return Reader(self._consumer, self._claims, self._wanted.start)
        return Group(
            self._consumer,
            self._claims,
            self._commits,
            self._wanted.start,
            timeout_s=self._settings.operation_timeout_s,
            is_incremental=is_incremental,
            watch=self._watch,
            servers=self._settings.servers,
            assigned=self._fetching.assigned,
        )

    def _join(self) -> list[Message]:
        limit = time.monotonic() + self._settings.operation_timeout_s
        for topic in self._wanted.topics:
            numbers = reached_partitions(self._consumer, topic, self._settings, self._watch)
            self._places += [(topic, number) for number in numbers]
        try:
            return self._membership.join(self._places, limit)
        except KafkaException as e:
            raise self._failure(e) from e

    def _hand_over(self, incoming: list[Incoming]) -> None:
        try:
            self._loop.call_soon_threadsafe(self._receive, incoming, self._fetched_epoch)
        except RuntimeError:
            # The event loop was closed, and nobody is left to receive anything.
            self._fetching.close()

    def _receive(self, incoming: Sequence[Incoming], epoch: int) -> None:
        if epoch == self._epoch:
            self._deliver(incoming)

    def _seek(self, start: StartAt | Position) -> None:
        """In the thread that fetches."""
        try:
            places = [claim.place for claim in self._claims]
            self._move(offsets_at(self._consumer, places, start, self._settings.operation_timeout_s))
        except KafkaException as e:
            # What was fetched is dropped already.
            self._rewind()
            raise self._failure(e) from e
        finally:
            self._fetched_epoch = self._epoch

    def _move(self, offsets: Mapping[Place, int]) -> None:
        for place, offset in offsets.items():
            self._consumer.seek(TopicPartition(*place, offset))
        claims = [self._claims.begin(place, offset, None) for place, offset in offsets.items()]
        if self._commits is not None:
            self._commits.moved(claims)
        self._fetching.drop(lambda claim: claim.has_ended)
        self._room.empty()

    def _rewind(self) -> None:
        for claim in self._claims:
            with self._claims.lock:
                offset = claim.progress.rewind()
            if offset >= 0:
                self._consumer.seek(TopicPartition(*claim.place, offset))
        self._fetching.drop(lambda claim: True)

    def _failure(self, e: KafkaException) -> TallystickError:
        return failure_of(e, ", ".join(self._wanted.topics), self._settings)


def _receipt(message: Incoming) -> tuple[Claim, int]:
    claim, position = message.receipt, message.position
    assert isinstance(claim, Claim), "a message of another transport"
    assert isinstance(position, KafkaPosition)
    return claim, position.offset
