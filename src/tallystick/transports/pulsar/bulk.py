"""A connection to a cluster for those who read much: which partitions there are, where they begin and end, entries."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from tallystick.messaging.settings import ConsumerSettings
from tallystick.transports.pulsar.cluster import Cluster
from tallystick.transports.pulsar.feed import BEGINNING, EntryFeed, EntryId
from tallystick.transports.pulsar.lookup import Lookup
from tallystick.transports.pulsar.partition_inlet import PartitionInlet
from tallystick.transports.pulsar.pool import Pool
from tallystick.transports.pulsar.settings import PulsarSettings
from tallystick.transports.pulsar.topics import TopicName


class BulkTransport:
    """Made, used and closed on one event loop. Makes no topics."""

    def __init__(self, settings: PulsarSettings) -> None:
        self.url = settings.url
        self._pool = Pool(settings)
        self._cluster = Cluster(settings, Lookup(self._pool))
        self._feeds: set[EntryFeed] = set()

    async def partitions(self, topic: TopicName) -> Sequence[TopicName]:
        """Those that it has, or the topic itself. Raises `NotFound` where there is none."""
        count = await self._cluster.lookup.partitions(topic, may_create=False)
        return [topic.of_partition(number) for number in range(count)] or [topic]

    async def topics(self, namespace: str) -> Sequence[str]:
        """Whole names, of every partition."""
        return await self._cluster.lookup.topics(namespace)

    async def feed(self, topic: TopicName, after: EntryId = BEGINNING) -> EntryFeed:
        """Raises `NotFound` for a topic that is not there."""
        feed = EntryFeed(topic, self._cluster, after)
        try:
            await feed.open()
        except BaseException:
            await feed.close()
            raise
        self._feeds.add(feed)
        return feed

    async def close_feed(self, feed: EntryFeed) -> None:
        self._feeds.discard(feed)
        await feed.close()

    async def before(self, topic: TopicName, time: datetime) -> EntryId:
        """The last entry before the first one that was published then or later."""
        settings = ConsumerSettings(topics=[str(topic)])
        inlet = PartitionInlet(topic, self._cluster, settings, time, 1, None, lambda *_: None)
        try:
            await inlet.open()
            return await inlet.standing()
        finally:
            await inlet.close()

    async def close(self) -> None:
        await asyncio.gather(*(feed.close() for feed in self._feeds))
        self._feeds.clear()
        await self._pool.close()
