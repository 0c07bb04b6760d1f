"""How far a micro-batch goes: at most so many records, and exactly so far whenever it is read again.

A broker tells the last message of a topic, but not how many there are before it: Pulsar's ids have gaps, and an entry
may be a batch. So the driver reads entries ahead, counts the messages that their metadata tell of and drops them; what
was counted for one micro-batch and not used counts for the next. It costs the broker a second delivery, which is little
where entries are batches, and nothing where micro-batches have no limit.
"""

import contextlib
import time
from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

from tallystick.errors import Unavailable
from tallystick.spark.source.places import LAST_INDEX, Partition, Place, Places
from tallystick.transports.pulsar.feed import EntryFeed, EntryId, FedEntry

_PATIENCE_S = 0.5


class Ahead(NamedTuple):
    """An entry that was counted, with the indexes of its messages."""

    id: EntryId
    first: int
    last: int

    @property
    def end(self) -> Place:
        return Place(*self.id, self.last)

    def within(self, at: Place, end: Place, most: int) -> tuple[int, Place]:
        """How many of its messages, at most so many, lie after one place and not after another; and the last one."""
        first = max(self.first, at.batch_index + 1) if at.id == self.id else self.first
        last = min(self.last, end.batch_index) if end.id == self.id else self.last
        if self.last == LAST_INDEX:
            # It is damaged: nobody knows what it holds, and readers will tell of it once.
            return 1, self.end
        took = max(0, min(last - first + 1, most))
        return took, Place(*self.id, first + took - 1) if took else at


class Scout:
    """Counts what lies before the readers of one partition. Runs on the loop."""

    def __init__(self, feed: EntryFeed, at: Place, timeout_s: float) -> None:
        self.feed = feed
        self._at = at
        self._timeout_s = timeout_s
        self._counted: deque[Ahead] = deque()
        self._passed: EntryId = at.left_behind

    @property
    def at(self) -> Place:
        return self._at

    def move(self, at: Place) -> None:
        """Readers have come to this place."""
        self._at = max(at, self._at)
        while self._counted and self._counted[0].end <= self._at:
            self._counted.popleft()

    async def count(self, most: int, end: Place) -> tuple[int, Place]:
        """How many records lie between readers and `end`, at most so many, and the last of them.

        Where there are fewer, that is `end`, even if it exists no more.
        """
        found, last, number = 0, self._at, 0
        while found < most:
            if number == len(self._counted) and not await self._more(end):
                return found, end
            ahead = self._counted[number]
            if ahead.id > end.id:
                return found, end
            took, place = ahead.within(self._at, end, most - found)
            found, last, number = found + took, max(last, place), number + 1
        return found, last

    async def _more(self, end: Place) -> bool:
        """Whether another entry was counted; False where none is left up to `end`."""
        heard = time.monotonic()
        while self._passed < end.id:
            came = await self.feed.take(_PATIENCE_S)
            if came:
                self._passed = came[-1].id
                self._counted += map(_ahead, came)
                return True
            if (silence_s := time.monotonic() - heard) >= self._timeout_s:
                raise self.feed.silence(str(end), silence_s)
            with contextlib.suppress(Unavailable):
                self._passed = max(self._passed, await self.feed.passed())
        return False


def _ahead(entry: FedEntry) -> Ahead:
    if entry.parsed is None:
        return Ahead(entry.id, -1, LAST_INDEX)
    if not entry.parsed.metadata.HasField("num_messages_in_batch"):
        return Ahead(entry.id, -1, -1)
    return Ahead(entry.id, 0, entry.messages - 1)


async def bounded(scouts: Mapping[Partition, Scout], ends: Mapping[Partition, Place], most: int, turn: int) -> Places:
    """Ends with at most so many records before them, shared by the partitions that have some.

    The first of them gets what cannot be shared; `turn` says which that is.
    """
    active = [partition for partition, scout in sorted(scouts.items()) if scout.at < ends[partition]]
    turn %= max(1, len(active))
    active = active[turn:] + active[:turn]
    places = {partition: scout.at for partition, scout in scouts.items()}
    granted = dict.fromkeys(active, 0)
    left = most
    while left > 0 and active:
        share, more = max(1, left // len(active)), []
        for partition in active:
            wanted = granted[partition] + min(share, left)
            found, places[partition] = await scouts[partition].count(wanted, ends[partition])
            left -= found - granted[partition]
            if found >= wanted > granted[partition]:
                more.append(partition)
            granted[partition] = found
        active = more
    return places
