"""Connections to the log's database, and the lock that keeps a second process out of it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tallystick.errors import Unavailable

# Of 4 to 32 KiB this writes the least to the disk for small entries, and costs large ones nothing that shows.
_PAGE_BYTES = 4096
_WRITER_CACHE_KIB = 16 * 1024
BUSY_MS = 5000
MOST_WAL_BYTES = 64 * 2**20

_SETTINGS = (
    "PRAGMA synchronous = FULL",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA wal_autocheckpoint = 0",  # a commit must not wait for one; housekeeping does them
    "PRAGMA secure_delete = OFF",  # some systems build SQLite with it on: every freed page would be written once more
)
_NEW_FILE = (
    f"PRAGMA page_size = {_PAGE_BYTES}",
    "PRAGMA auto_vacuum = INCREMENTAL",
    "PRAGMA journal_mode = WAL",
)


def connect(path: Path, *settings: str) -> sqlite3.Connection:
    # Statements begin and end transactions themselves, and a connection is handed from thread to thread.
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=BUSY_MS / 1000)
    for setting in (*_SETTINGS, *settings):
        connection.execute(setting).fetchall()
    return connection


def connect_writer(path: Path) -> sqlite3.Connection:
    return connect(
        path,
        *_NEW_FILE,
        f"PRAGMA journal_size_limit = {MOST_WAL_BYTES}",
        f"PRAGMA cache_size = -{_WRITER_CACHE_KIB}",
    )


def lock(path: Path) -> sqlite3.Connection:
    """Holds the folder until it is closed or the process ends, however it ends."""
    holder = sqlite3.connect(path.with_suffix(".lock"), isolation_level=None, check_same_thread=False, timeout=0)
    try:
        holder.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as e:
        holder.close()
        if e.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise
        raise Unavailable(
            f"cannot open {path}: another process has it open; stop that one, or use another data folder"
        ) from e
    return holder


class Readers:
    """Connections to read with, one for each thread that reads at the same moment."""

    def __init__(self, path: Path, most_idle: int = 8) -> None:
        self._path = path
        self._most_idle = most_idle
        self._idle: list[sqlite3.Connection] = []
        self._is_closed = False

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        if self._is_closed:
            raise Unavailable("the log is closed")
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        try:
            yield connection
        except sqlite3.Error as e:
            raise unavailable(e) from e
        finally:
            if self._is_closed or len(self._idle) >= self._most_idle:
                connection.close()
            else:
                self._idle.append(connection)

    def close(self) -> None:
        self._is_closed = True
        while self._idle:
            self._idle.pop().close()

    def _connect(self) -> sqlite3.Connection:
        try:
            return connect(self._path, "PRAGMA query_only = ON")
        except sqlite3.Error as e:
            raise unavailable(e) from e


def unavailable(error: sqlite3.Error) -> Unavailable:
    return Unavailable(f"the broker's log cannot be read or written: {error}; see to the disk, then try again")
