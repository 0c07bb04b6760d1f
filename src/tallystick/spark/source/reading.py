"""One range of a partition as Arrow's record batches: what a task does."""

import contextlib
import logging
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from tallystick.errors import NotFound, TallystickError, Unavailable
from tallystick.spark.source.link import Link
from tallystick.spark.source.options import ReadOptions
from tallystick.spark.source.places import BEGINNING, LAST_INDEX, Place
from tallystick.spark.source.planning import Range
from tallystick.spark.source.record_batches import Rows
from tallystick.transports.pulsar.bulk import BulkTransport
from tallystick.transports.pulsar.feed import EntryFeed, EntryId, FedEntry
from tallystick.wire.pulsar.faults import MalformedFrame

if TYPE_CHECKING:
    from tallystick.rest.credentials import Credentials

log = logging.getLogger("tallystick.spark")

_MOST_ROWS = 10_000
_MOST_BYTES = 8 * 1024 * 1024
_PATIENCE_S = 1.0
"""After so long without an entry the broker is asked whether there is one."""


def read_range(wanted: Range, options: ReadOptions, credentials: "Credentials | None") -> Iterator[pa.RecordBatch]:
    """All records of the range, in their order.

    Raises `NotFound` where entries are gone that the range should have, unless losses are allowed, and `TimedOut` where
    the broker neither sends them nor says that it has none.
    """
    with Link(options.url, credentials, options.timeout_s) as link:
        rows = Rows(wanted.partition, options.framing)
        for entries in _entries(link, wanted, options):
            for entry in entries:
                _add(rows, entry, wanted, options)
                if len(rows) >= _MOST_ROWS or rows.size_bytes >= _MOST_BYTES:
                    yield rows.take()
        if len(rows):
            yield rows.take()


def _entries(link: Link, wanted: Range, options: ReadOptions) -> Iterator[list[FedEntry]]:
    bulk: BulkTransport = link.bulk
    after = wanted.start.left_behind
    try:
        feed = link.run(bulk.feed(wanted.partition.name, after))
    except NotFound as e:
        lost(f"topic {wanted.partition}: it is not there any more ({e.message})", options)
        return
    check_start(feed, wanted, options)
    last, heard = after, time.monotonic()
    while _is_awaited(feed, last, wanted.end):
        entries = link.run(feed.take(_PATIENCE_S))
        if entries:
            last, heard = entries[-1].id, time.monotonic()
            yield [entry for entry in entries if entry.id <= wanted.end.id]
        elif (silence_s := time.monotonic() - heard) >= options.timeout_s:
            raise feed.silence(str(wanted.end), silence_s)
        else:
            with contextlib.suppress(Unavailable):
                last = max(last, link.run(feed.passed()))


def _is_awaited(feed: EntryFeed, last: EntryId, end: Place) -> bool:
    """Whether there may be more: neither the end was passed, nor all that the topic has."""
    known = feed.last_known
    return known is not None and last < end.id and last < (known.ledger, known.entry)


def check_start(feed: EntryFeed, wanted: Range, options: ReadOptions) -> None:
    """Whether the broker begins where it was left."""
    if wanted.start == BEGINNING or feed.began_after <= wanted.start.id:
        return
    first = ":".join(map(str, feed.began_after))
    lost(
        f"topic {wanted.partition}: records after {wanted.start} are gone, the broker has only what comes after {first}"
        " (retention, a time to live, or the topic was made anew)",
        options,
    )


def lost(reason: str, options: ReadOptions) -> None:
    """Raises, unless losses are allowed."""
    if options.fails_on_loss:
        raise NotFound(
            f"{reason}; set failOnDataLoss to false to go on with what is there, and let the topic keep records longer"
        )
    log.warning("records are lost", extra={"reason": reason})


def _add(rows: Rows, entry: FedEntry, wanted: Range, options: ReadOptions) -> None:
    after = wanted.start.batch_index if entry.id == wanted.start.id else -2
    last = wanted.end.batch_index if entry.id == wanted.end.id else LAST_INDEX
    try:
        if entry.parsed is None:
            raise entry.fault or MalformedFrame("the entry is damaged")
        rows.add(entry.id, entry.parsed, after, last)
    except TallystickError as e:
        position = ":".join(map(str, entry.id))
        lost(f"topic {wanted.partition}, entry {position} cannot be read: {e.message}", options)
