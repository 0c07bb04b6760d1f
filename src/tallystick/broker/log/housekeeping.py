"""What runs beside the writer: checkpoints, the entries of deleted topics, and space that is given back.

Deleted entries leave free pages in the file, and new entries fill those first, so a log with a retention keeps its
size. Only where free pages are most of a large file do they go back to the disk, in small steps.
"""

import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path

from tallystick.broker.log import trimming
from tallystick.broker.log.connections import BUSY_MS, MOST_WAL_BYTES, connect
from tallystick.broker.log.writer import Writer
from tallystick.errors import Unavailable

_EVERY_S = 0.1
_LATEST_CHECKPOINT_S = 1.0
_COMMITS_WORTH_A_CHECKPOINT = 256
_BYTES_WORTH_A_CHECKPOINT = 4 * 2**20
_START_OVER_AT_BYTES = MOST_WAL_BYTES // 2
_LITTLE_BYTES = 2 * 2**20
_PATIENCE_MS = 10
_FREE_BYTES_WORTH_GIVING_BACK = 64 * 2**20
_PAGES_GIVEN_BACK_AT_ONCE = 512


class Housekeeping:
    def __init__(self, path: Path, writer: Writer) -> None:
        self._writer = writer
        self._connection = connect(path)
        self._page_bytes: int = self._connection.execute("PRAGMA page_size").fetchone()[0]
        self._checkpointed = 0, 0
        self._checkpoint_due = 0.0
        self._has_deleted = threading.Event()
        self._has_deleted.set()
        self._may_shrink = True
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tallystick-broker-housekeeping", daemon=True)
        self._thread.start()

    def topic_deleted(self) -> None:
        self._has_deleted.set()

    def entries_deleted(self) -> None:
        self._may_shrink = True

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self._connection.close()

    def _run(self) -> None:
        while not self._stop.wait(_EVERY_S):
            # The disk may be full or broken for a while. Producers are told of it; here it is tried again.
            with suppress(sqlite3.Error, Unavailable):
                self._checkpoint()
                self._purge()
                self._shrink()

    def _checkpoint(self) -> None:
        """Writes what is in the WAL to the database, beside the writer; then lets the WAL start from its beginning.

        Under constant load there is always something new at its end, and it would never start over by itself. So the
        writer pauses, once little is left to do.
        """
        progress = self._writer.commits, self._writer.written_bytes
        if not self._is_worth_it(*progress):
            return
        frames, left = self._pass()
        self._checkpointed, self._checkpoint_due = progress, time.monotonic() + _LATEST_CHECKPOINT_S
        if frames < _START_OVER_AT_BYTES:
            return
        if left > _LITTLE_BYTES and frames < MOST_WAL_BYTES:
            self._pass()
        self._writer.pause(_start_wal_over)

    def _is_worth_it(self, commits: int, written_bytes: int) -> bool:
        new_commits = commits - self._checkpointed[0]
        if new_commits >= _COMMITS_WORTH_A_CHECKPOINT:
            return True
        if written_bytes - self._checkpointed[1] >= _BYTES_WORTH_A_CHECKPOINT:
            return True
        return new_commits > 0 and time.monotonic() >= self._checkpoint_due

    def _pass(self) -> tuple[int, int]:
        """How many bytes the WAL holds, and how many of them are not in the database yet."""
        _, frames, written = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        return frames * self._page_bytes, (frames - written) * self._page_bytes

    def _purge(self) -> None:
        if not self._has_deleted.is_set():
            return
        self._has_deleted.clear()
        try:
            while not self._stop.is_set() and self._writer.change(trimming.purge_step):
                self._may_shrink = True
                self._checkpoint()
        except (sqlite3.Error, Unavailable):
            self._has_deleted.set()
            raise

    def _shrink(self) -> None:
        if not self._may_shrink:
            return
        self._may_shrink = self._has_much_free()
        if self._may_shrink:
            self._writer.pause(_give_back)

    def _has_much_free(self) -> bool:
        (free,) = self._connection.execute("PRAGMA freelist_count").fetchone()
        (pages,) = self._connection.execute("PRAGMA page_count").fetchone()
        return bool(free * self._page_bytes > _FREE_BYTES_WORTH_GIVING_BACK and free * 2 > pages)


def _start_wal_over(connection: sqlite3.Connection) -> None:
    """Waits for readers, but not long: it is tried again soon."""
    connection.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS}")
    try:
        connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")


def _give_back(connection: sqlite3.Connection) -> None:
    # The pragma steps once for each page. A script takes all its steps without the interpreter's lock.
    connection.executescript(f"PRAGMA incremental_vacuum({_PAGES_GIVEN_BACK_AT_ONCE})")
