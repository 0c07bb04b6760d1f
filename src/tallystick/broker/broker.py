"""The broker: its topics, and what it does on the clock."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path

from tallystick.broker.catalogue import Catalogue
from tallystick.broker.log.log import Log
from tallystick.broker.log.values import CursorState
from tallystick.broker.names import TopicName
from tallystick.broker.recent import RecentEntries
from tallystick.broker.retention import trim
from tallystick.broker.subscription import Subscription
from tallystick.broker.topic import Topic
from tallystick.errors import AlreadyExists, Busy, TallystickError

log = logging.getLogger("tallystick.broker")

_CURSOR_SECONDS = 0.5
"""How often cursors are stored. After a crash, what was acknowledged since comes again."""
_RATE_SECONDS = 10.0
_MOST_UNSTORED_BYTES = 64 * 1024 * 1024
_RETENTION_SECONDS = 30.0


class Broker:
    def __init__(self, data: Path, retention_seconds: float = _RETENTION_SECONDS) -> None:
        self._log = Log.open(data / "broker.db")
        self.catalogue = Catalogue(self._log)
        self.catalogue.load()
        self.started = time.time()
        self._retention_seconds = retention_seconds
        self._recent = RecentEntries()
        self._topics: dict[TopicName, Topic] = {}
        self.unstored_bytes = 0
        """Of the entries that clients have sent and that wait to be stored; sessions count them."""
        self._loading: dict[TopicName, asyncio.Task[Topic]] = {}
        self._moved: dict[tuple[int, str], Subscription | None] = {}
        """Cursors to be stored; None: to be deleted."""
        self._storing = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def is_flooded(self) -> bool:
        """Whether so much waits to be stored that producers have to wait."""
        return self.unstored_bytes > _MOST_UNSTORED_BYTES

    # Topics

    async def topic(self, name: TopicName, *, create: bool = True) -> Topic:
        """Loads a topic, and makes it where it is new. Raises `TopicNotFound`, `NamespaceNotFound`."""
        found = self._topics.get(name)
        if found is not None:
            return found
        self.catalogue.require_namespace(name.namespace)
        self.catalogue.require_possible(name)
        if not create:
            self.catalogue.require_topic(name)
        loading = self._loading.get(name)
        if loading is None:
            loading = self._loading[name] = asyncio.get_running_loop().create_task(self._load(name))
            loading.add_done_callback(lambda _: self._loading.pop(name, None))
        # Who asked first may hang up before it is there; others wait for the same one.
        return await asyncio.shield(loading)

    async def _load(self, name: TopicName) -> Topic:
        if name not in self.catalogue.topics:
            # An administrator may make it at the same moment.
            with contextlib.suppress(AlreadyExists):
                await self.catalogue.create_topic(name)
        row = self.catalogue.require_topic(name)
        if row.partitions is not None:
            raise Busy("topic", f"topic {name} is partitioned: attach to its partitions")
        cursors = await asyncio.to_thread(self._log.cursors, row.id)
        sequences = await asyncio.to_thread(self._log.sequences, row.id)
        topic = self._topics[name] = Topic(row, self._log, self._recent, self, cursors, sequences)
        self.apply_policies(topic)
        return topic

    @property
    def loaded(self) -> Iterable[Topic]:
        return list(self._topics.values())

    async def delete_topic(self, name: TopicName, *, force: bool) -> None:
        """A topic with clients is deleted by force only; a partitioned one goes with its partitions."""
        row = self.catalogue.require_topic(name)
        parts = [name.of_partition(number) for number in range(row.partitions or 0)]
        if not force:
            self._require_unused([name, *parts])
        for part in [*parts, name]:
            if part in self.catalogue.topics:
                await self._delete(part)

    def _require_unused(self, names: Iterable[TopicName]) -> None:
        for topic in filter(None, map(self._topics.get, names)):
            if topic.producers or any(s.consumers for s in topic.subscriptions.values()):
                raise Busy(
                    "topic", f"Topic {topic.name} has active producers/subscriptions; close them first, or use force"
                )

    async def _delete(self, name: TopicName) -> None:
        topic = self._topics.pop(name, None)
        if topic is not None:
            topic.is_deleted = True
            topic.disconnect()
            topic.close()
            for key in [key for key in self._moved if key[0] == topic.id]:
                del self._moved[key]
        await self.catalogue.delete_topic(name)

    def apply_policies(self, topic: Topic) -> None:
        is_system = topic.name.local.startswith("__")
        topic.is_deduplicating = is_system or bool(self.catalogue.policies(topic.name).deduplication)

    def last_sequence(self, name: TopicName, producer: str) -> int:
        """The last sequence id that a producer has stored on a topic, -1 where there is none; blocks."""
        row = self.catalogue.topics.get(name)
        return -1 if row is None else self._log.sequences(row.id).get(producer, -1)

    def remembered(self, kind: str, name: str, make: Callable[[], str]) -> str:
        """A value that is made once for a data folder; blocks."""
        found = self._log.documents(kind).get(name)
        if found is None:
            found = make()
            self._log.put_document(kind, name, found)
        return str(found)

    # Subscriptions

    def cursor_moved(self, subscription: Subscription) -> None:
        self._moved[subscription.topic.id, subscription.name] = subscription

    async def create_subscription(
        self, topic: Topic, name: str, number: int, properties: Mapping[str, str]
    ) -> Subscription:
        """Durable when it returns."""
        found = topic.subscribe(name, number, properties, is_durable=True)
        await self.store_cursors()
        return found

    async def delete_subscription(self, subscription: Subscription, *, force: bool = False) -> None:
        if subscription.consumers and not force:
            raise Busy("subscription", f"Subscription {subscription.name} has active connected consumers")
        subscription.disconnect()
        topic = subscription.topic
        topic.forget(subscription)
        if subscription.is_durable:
            self._moved[topic.id, subscription.name] = None
            await self.store_cursors()

    async def store_cursors(self) -> None:
        # Who waits for it may hang up; what was taken to be stored is stored all the same.
        await asyncio.shield(self._store_cursors())

    async def _store_cursors(self) -> None:
        # One at a time: an older state must not be written after a newer one.
        async with self._storing:
            moved, self._moved = self._moved, {}
            if not moved:
                return
            states: dict[tuple[int, str], CursorState | None] = {
                key: subscription.state() if subscription is not None else None for key, subscription in moved.items()
            }
            try:
                await asyncio.to_thread(self._log.save_cursors, states)
            except TallystickError:
                self._moved = moved | self._moved
                raise

    # The clock

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self._regularly(_CURSOR_SECONDS, self.store_cursors)),
            loop.create_task(self._regularly(_RATE_SECONDS, self._measure)),
            loop.create_task(self._regularly(self._retention_seconds, self.trim)),
        ]

    async def _regularly(self, seconds: float, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await work()
            except TallystickError as e:
                log.warning("put off", extra={"reason": e.message})

    async def _measure(self) -> None:
        for topic in self.loaded:
            topic.published.measure(_RATE_SECONDS)
            for producer in topic.producers.values():
                producer.sent.measure(_RATE_SECONDS)
            for subscription in list(topic.subscriptions.values()):
                if subscription.is_abandoned():
                    topic.forget(subscription)
                subscription.out.measure(_RATE_SECONDS)
                for consumer in subscription.consumers:
                    consumer.out.measure(_RATE_SECONDS)

    async def trim(self) -> None:
        """Drops what the policies do not keep."""
        for name, row in list(self.catalogue.topics.items()):
            # What is not loaded has not changed since the start: an empty one needs no look.
            if row.partitions is None and (name in self._topics or row.next > row.first):
                await trim(await self.topic(name, create=False), self.catalogue.policies(name), self._log)

    async def close(self) -> None:
        """Clients are gone by now."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for topic in self.loaded:
            topic.close()
        try:
            await self.store_cursors()
        finally:
            await asyncio.to_thread(self._log.close)
