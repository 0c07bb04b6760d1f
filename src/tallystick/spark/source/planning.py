"""Which partitions there are, and which range of each is read."""

import asyncio
import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql.datasource import InputPartition

from tallystick.errors import InvalidArgument, NotFound, TopicNotFound
from tallystick.messaging.settings import EARLIEST
from tallystick.spark.source.options import PATTERN, ReadOptions, Where
from tallystick.spark.source.places import BEGINNING, Partition, Place, Places, partition_of, place_of, whole_entry
from tallystick.transports.pulsar.bulk import BulkTransport
from tallystick.transports.pulsar.topics import topic_name


@dataclass(frozen=True)
class Range(InputPartition):
    """What comes after `start`, up to and with `end`."""

    partition: Partition
    start: Place
    end: Place


async def partitions(bulk: BulkTransport, options: ReadOptions) -> list[Partition]:
    """Of all topics that are asked for, as they are now. Raises `TopicNotFound` for one that is named and missing."""
    if options.pattern is not None:
        return await _matching(bulk, options.pattern)
    found = await asyncio.gather(*(_of_topic(bulk, topic) for topic in options.topics))
    return sorted({partition for partitions in found for partition in partitions})


async def _of_topic(bulk: BulkTransport, topic: str) -> Iterable[Partition]:
    name = topic_name(topic)
    try:
        return [partition_of(one) for one in await bulk.partitions(name)]
    except NotFound as e:
        error = TopicNotFound(str(name))
        error.message = f"{error.message} on {bulk.url}; it is made by its first producer"
        error.args = (error.message,)
        raise error from e


async def _matching(bulk: BulkTransport, pattern: str) -> list[Partition]:
    """A pattern is of one namespace; its last part is a regular expression for the whole local name."""
    head, separator, local = pattern.removeprefix("persistent://").rpartition("/")
    namespace = head if separator else "public/default"
    if namespace.count("/") != 1:
        raise InvalidArgument(
            PATTERN, f"{pattern!r} names no namespace; write a pattern, or tenant/namespace/ and a pattern"
        )
    expression = re.compile(local)
    names = [topic_name(text) for text in await bulk.topics(namespace)]
    return sorted(partition_of(name) for name in names if expression.fullmatch(name.local))


async def starts(bulk: BulkTransport, wanted: list[Partition], where: Where) -> Places:
    """The place before the first record of each partition. Partitions that are not named begin with the earliest."""
    if isinstance(where, dict):
        return {partition: where.get(partition, BEGINNING) for partition in wanted}
    if where == EARLIEST:
        return dict.fromkeys(wanted, BEGINNING)
    return await ends(bulk, wanted, where)


async def ends(bulk: BulkTransport, wanted: list[Partition], where: Where) -> Places:
    """The last record of each partition. Those that are not named, or are empty, have none: `BEGINNING`."""
    if isinstance(where, dict):
        return {partition: where.get(partition, BEGINNING) for partition in wanted}
    found = await asyncio.gather(*(_end(bulk, partition, where) for partition in wanted))
    return dict(zip(wanted, found, strict=True))


async def _end(bulk: BulkTransport, partition: Partition, where: str | datetime) -> Place:
    if isinstance(where, datetime):
        return whole_entry(await bulk.before(partition.name, where))
    feed = await bulk.feed(partition.name)
    try:
        return BEGINNING if feed.last_known is None else place_of(feed.last_known)
    finally:
        await bulk.close_feed(feed)


def ranges(starting: Mapping[Partition, Place], ending: Mapping[Partition, Place]) -> list[Range]:
    """Those that may hold something, always in the same order. What has no start begins with the earliest."""
    pairs = [(partition, starting.get(partition, BEGINNING), end) for partition, end in sorted(ending.items())]
    return [Range(partition, start, end) for partition, start, end in pairs if start < end]


def split(whole: list[Range], at_least: int | None) -> list[Range]:
    """At least so many ranges, where the entries are enough and lie in one ledger."""
    if at_least is None or not whole or len(whole) >= at_least:
        return whole
    each = -(-at_least // len(whole))
    return [part for one in whole for part in _parts(one, each)]


def _parts(whole: Range, count: int) -> list[Range]:
    start, end = whole.start, whole.end
    if start == BEGINNING:
        start = Place(end.ledger, -1, -1)
    if start.ledger != end.ledger:
        return [whole]
    entries = end.entry - start.entry
    cuts = sorted({start.entry + entries * number // count for number in range(1, count)} - {start.entry, end.entry})
    bounds = [whole.start, *(whole_entry((end.ledger, cut)) for cut in cuts), end]
    return [Range(whole.partition, *pair) for pair in itertools.pairwise(bounds)]
