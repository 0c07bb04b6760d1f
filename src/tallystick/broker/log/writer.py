"""The one thread that writes. What waits when it wakes becomes one transaction, and one fsync.

The thread gives up the interpreter's lock for every statement that it runs, and while the event loop is busy it gets
the lock back only after the interpreter's switch interval, 5 ms by default. So a commit must take few statements:
appends alone are one INSERT that is a transaction by itself. With a busy thread beside it, 256 appends take 7 ms so,
and 370 ms as BEGIN, one INSERT for each and COMMIT.
"""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

from tallystick.broker.log.connections import unavailable
from tallystick.broker.log.many_rows import MOST_ROWS, padded
from tallystick.broker.log.next_numbers import NextNumbers
from tallystick.errors import Unavailable

T = TypeVar("T")
Done = Callable[[BaseException | None], None]
EntryColumns = tuple[int, int, int, str | None, int | None, bytes]
"""Key, time, messages, producer, sequence id, data."""

_COLUMNS = 6
_INSERT = "INSERT INTO entries SELECT * FROM {rows} WHERE column1 IS NOT NULL"
_MOST_BYTES_IN_ONE_COMMIT = 8 * 2**20


@dataclass(frozen=True, slots=True)
class Transaction:
    connection: sqlite3.Connection
    numbers: NextNumbers


@dataclass(slots=True)
class Append:
    topic_id: int
    number: int
    columns: EntryColumns
    done: Done
    failure: BaseException | None = None


@dataclass(slots=True)
class Change:
    """Of the catalogue or the cursors: a savepoint of its own in the transaction that it shares."""

    function: Callable[[Transaction], Any]
    answer: Future[Any]
    result: Any = None
    failure: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """Between two transactions."""

    function: Callable[[sqlite3.Connection], Any]
    answer: Future[Any]


class Writer:
    """`append` is called in the event loop; the rest in other threads."""

    def __init__(
        self, connection: sqlite3.Connection, numbers: NextNumbers, loop: asyncio.AbstractEventLoop | None
    ) -> None:
        self._connection = connection
        self._numbers = numbers
        self._loop = loop
        self._queue: queue.SimpleQueue[Append | Change | Pause | None] = queue.SimpleQueue()
        self._kept_back: Pause | None = None
        self._is_closing = False
        self._closing = threading.Lock()
        self._appended_bytes = 0
        self._answered_bytes = 0
        self.commits = 0
        self.written_bytes = 0
        """Both grow only; they tell how much there is to checkpoint."""
        self._thread = threading.Thread(target=self._run, name="tallystick-broker-writer", daemon=True)
        self._thread.start()

    @property
    def pending_bytes(self) -> int:
        """Of the entries that were appended and not answered yet."""
        return self._appended_bytes - self._answered_bytes

    def append(self, append: Append) -> None:
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
        with self._closing:
            if not self._is_closing:
                self._appended_bytes += len(append.columns[-1])
                self._queue.put(append)
                return
        self._loop.call_soon(append.done, Unavailable("the log is closed"))

    def change(self, function: Callable[[Transaction], T]) -> T:
        answer: Future[T] = Future()
        self._put(Change(function, answer))
        return answer.result()

    def pause(self, function: Callable[[sqlite3.Connection], T]) -> T:
        """Runs something that cannot be part of a transaction."""
        answer: Future[T] = Future()
        self._put(Pause(function, answer))
        return answer.result()

    def close(self) -> None:
        """Finishes what has been asked for."""
        with self._closing:
            self._is_closing = True
            self._queue.put(None)
        self._thread.join()

    def _put(self, work: Change | Pause) -> None:
        with self._closing:
            if self._is_closing:
                raise Unavailable("the log is closed")
            self._queue.put(work)

    def _run(self) -> None:
        while (work := self._kept_back or self._queue.get()) is not None:
            self._kept_back = None
            if isinstance(work, Pause):
                _run_pause(work, self._connection)
                self.commits += 1
                continue
            together, is_last = self._together_with(work)
            self._commit(together)
            if is_last:
                return

    def _together_with(self, first: Append | Change) -> tuple[list[Append | Change], bool]:
        """Whatever else waits, up to a limit; and whether the log is closed after it."""
        together, size = [first], 0
        while len(together) < MOST_ROWS and size < _MOST_BYTES_IN_ONE_COMMIT:
            try:
                work = self._queue.get_nowait()
            except queue.Empty:
                break
            if work is None:
                return together, True
            if isinstance(work, Pause):
                self._kept_back = work
                break
            together.append(work)
            if isinstance(work, Append):
                size += len(work.columns[-1])
        return together, False

    def _commit(self, together: list[Append | Change]) -> None:
        try:
            if all(type(work) is Append for work in together):
                self._write(together)
            else:
                self._connection.execute("BEGIN IMMEDIATE")
                self._write(together)
                self._connection.execute("COMMIT")
        except Exception as e:  # noqa: BLE001  # everybody who waits is told, and the thread lives on
            self._roll_back()
            failure = unavailable(e) if isinstance(e, sqlite3.Error) else e
            for work in together:
                work.failure = failure
        else:
            self._numbers.keep()
        self.commits += 1
        self._answer(together)

    def _roll_back(self) -> None:
        self._numbers.drop()
        with suppress(sqlite3.Error):  # SQLite may have done it already
            self._connection.execute("ROLLBACK")

    def _write(self, together: Sequence[Append | Change]) -> None:
        for kind, run in groupby(together, key=type):
            if kind is Append:
                self._insert([work for work in run if isinstance(work, Append)])
            else:
                for work in run:
                    assert isinstance(work, Change)
                    self._change(work)

    def _insert(self, appends: list[Append]) -> None:
        parameters: list[object] = []
        for append in appends:
            append.failure = self._numbers.take(append.topic_id, append.number)
            if append.failure is None:
                parameters += append.columns
                self.written_bytes += len(append.columns[-1])
        if parameters:
            values, parameters = padded(parameters, _COLUMNS)
            self._connection.execute(_INSERT.format(rows=values), parameters)

    def _change(self, change: Change) -> None:
        """One that fails takes nothing of the others with it."""
        self._connection.execute("SAVEPOINT one_change")
        try:
            change.result = change.function(Transaction(self._connection, self._numbers))
        except sqlite3.Error:
            raise
        except Exception as failure:  # noqa: BLE001  # handed to whoever asked for the change
            change.failure = failure
            self._connection.execute("ROLLBACK TO one_change")
        self._connection.execute("RELEASE one_change")

    def _answer(self, together: list[Append | Change]) -> None:
        appends = [work for work in together if isinstance(work, Append)]
        if appends and self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed, there is nobody to tell
                self._loop.call_soon_threadsafe(self._deliver, appends)
        for work in together:
            if isinstance(work, Change):
                _set(work.answer, work.result, work.failure)

    def _deliver(self, appends: list[Append]) -> None:
        """Runs in the loop. One `done` that raises does not keep others from theirs."""
        assert self._loop is not None
        for append in appends:
            self._answered_bytes += len(append.columns[-1])
            try:
                append.done(append.failure)
            except Exception as e:  # noqa: BLE001  # as the loop itself does it for what it calls
                self._loop.call_exception_handler({"message": "an answer of the log failed", "exception": e})


def _run_pause(pause: Pause, connection: sqlite3.Connection) -> None:
    try:
        pause.answer.set_result(pause.function(connection))
    except sqlite3.Error as e:
        pause.answer.set_exception(unavailable(e))


def _set(answer: Future[Any], result: Any, failure: BaseException | None) -> None:
    if failure is None:
        answer.set_result(result)
    else:
        answer.set_exception(failure)
