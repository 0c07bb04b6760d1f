"""What the driver of a stream knows of its topics: where readers are, where the topics end, and how far to go next."""

import asyncio
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tallystick.errors import InvalidArgument, NotFound
from tallystick.messaging.settings import LATEST
from tallystick.spark.source import planning
from tallystick.spark.source.bounding import Scout, bounded
from tallystick.spark.source.link import Link
from tallystick.spark.source.options import ENDING, ReadOptions
from tallystick.spark.source.places import BEGINNING, Partition, Place, Places, place_of
from tallystick.spark.source.reading import lost

if TYPE_CHECKING:
    from tallystick.rest.credentials import Credentials

_LOOK_AGAIN_S = 2.0
"""How often it is asked for new topics and partitions."""


class Following:
    """Used by one thread; asks the broker on the link's loop."""

    def __init__(self, options: ReadOptions, credentials: "Credentials | None") -> None:
        self._options = options
        self._link = Link(options.url, credentials, options.timeout_s)
        self._at: Places = {}
        self._scouts: dict[Partition, Scout] = {}
        self._ending: Places | None = None
        self._looked = float("-inf")
        self._turn = 0

    def begin(self) -> Places:
        """Where a new query starts."""
        self._at = self._link.run(self._begin())
        return self._at

    async def _begin(self) -> Places:
        bulk = self._link.bulk
        return await planning.starts(bulk, await planning.partitions(bulk, self._options), self._options.starting)

    def came_to(self, places: Places) -> None:
        """Readers are given everything up to here."""
        self._at = places
        self._link.run(self._move())

    async def _move(self) -> None:
        for partition, scout in self._scouts.items():
            scout.move(self._at.get(partition, BEGINNING))

    def next_end(self) -> Places:
        """How far the next micro-batch goes."""
        self._turn += 1
        return self._link.run(self._next_end())

    async def _next_end(self) -> Places:
        await self._look()
        await self._resolve_ending()
        ends = dict(zip(self._scouts, await asyncio.gather(*map(self._end, self._scouts)), strict=True))
        most = self._options.most_records
        if most is not None:
            ends = await bounded(self._scouts, ends, most, self._turn)
        # What is not there any more stays where it was left.
        return self._at | ends

    async def _end(self, partition: Partition) -> Place:
        scout = self._scouts[partition]
        last = await scout.feed.last()
        end = BEGINNING if last is None else place_of(last)
        if self._ending is not None:
            end = min(end, self._ending.get(partition, BEGINNING))
        return max(end, scout.at)

    async def _look(self) -> None:
        """For topics and partitions that are new, or gone."""
        if time.monotonic() - self._looked < _LOOK_AGAIN_S:
            return
        bulk, options = self._link.bulk, self._options
        try:
            there = await planning.partitions(bulk, options)
        except NotFound as e:
            lost(e.message, options)
            return
        for partition in self._scouts.keys() - set(there):
            lost(f"topic {partition}: it is not there any more", options)
            await bulk.close_feed(self._scouts.pop(partition).feed)
        new = [partition for partition in there if partition not in self._scouts]
        await asyncio.gather(*map(self._follow, new))
        self._looked = time.monotonic()

    async def _follow(self, partition: Partition) -> None:
        at = self._at.get(partition, BEGINNING)
        feed = await self._link.bulk.feed(partition.name, at.left_behind)
        self._scouts[partition] = Scout(feed, at, self._options.timeout_s)

    async def _resolve_ending(self) -> None:
        where = self._options.ending
        if self._ending is not None or where == LATEST:
            return
        if isinstance(where, datetime) and where > datetime.now(UTC):
            raise InvalidArgument(ENDING, f"{where} has not come yet; a stream ends at a time that is over")
        self._ending = await planning.ends(self._link.bulk, list(self._scouts), where)

    def close(self) -> None:
        self._link.close()
