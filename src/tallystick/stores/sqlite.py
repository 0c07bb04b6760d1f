"""SQLite: the default, one file in the data folder.

One thread writes. It takes all changes that wait at that moment into one transaction, each in a savepoint of its
own, and answers them after the one commit: the cost of making it durable is shared by whoever came together.
"""

import queue
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import OperationalError

from tallystick.errors import Unavailable
from tallystick.registry.ports import Transaction
from tallystick.stores.migrations import migrate
from tallystick.stores.transaction import SqlTransaction

T = TypeVar("T")
_Work = tuple[Callable[[Transaction], Any], "Future[Any]"]

_MOST_IN_ONE_COMMIT = 64
_BUSY_MS = 10_000
_FAILURES = (OperationalError, sqlite3.OperationalError)


class SqliteStore:
    others_seconds = 2.0

    def __init__(self, path: Path, readers: int = 8) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._engine = create_engine(f"sqlite:///{path}", max_overflow=-1, connect_args={"check_same_thread": False})
        self._most_idle = readers
        self._idle: list[Connection] = []
        """Connections to read with. SQLAlchemy's pool takes longer to hand one out than most reads last."""
        event.listen(self._engine, "connect", _set_up)
        event.listen(self._engine, "begin", _begin)
        self._queue: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._is_closed = False
        with ExitStack() as unless_opened:
            unless_opened.callback(self._engine.dispose)
            self._writing = self._opened(path, unless_opened)
            unless_opened.pop_all()
        self._writer = threading.Thread(target=self._write, name="tallystick-sqlite-writer", daemon=True)
        self._writer.start()

    def _opened(self, path: Path, unless_opened: ExitStack) -> Connection:
        try:
            writing = self._engine.connect().execution_options(tallystick_writes=True)
            unless_opened.callback(writing.close)
            with writing.begin():
                migrate(writing)
        except _FAILURES as e:
            raise Unavailable(f"cannot open {path}: {_reason(e)}") from e
        return writing

    def change(self, function: Callable[[Transaction], T]) -> T:
        if self._is_closed:
            raise Unavailable("the store is closed")
        done: Future[T] = Future()
        self._queue.put((function, done))
        return done.result()

    def read(self, function: Callable[[Transaction], T]) -> T:
        try:
            with self._reading() as connection, connection.begin():
                return function(SqlTransaction(connection, is_change=False))
        except _FAILURES as e:
            raise _unavailable(e) from e

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._engine.connect()
        try:
            yield connection
        finally:
            if connection.in_transaction() or len(self._idle) >= self._most_idle or self._is_closed:
                connection.close()
            else:
                self._idle.append(connection)

    def close(self) -> None:
        """Finishes what has been asked for, then closes."""
        if not self._is_closed:
            self._is_closed = True
            self._queue.put(None)
            self._writer.join()
            for connection in (self._writing, *self._idle):
                connection.close()
            self._engine.dispose()

    def _write(self) -> None:
        while (first := self._queue.get()) is not None:
            together = [first]
            while len(together) < _MOST_IN_ONE_COMMIT and not self._queue.empty():
                following = self._queue.get()
                if following is None:
                    self._queue.put(None)
                    break
                together.append(following)
            self._commit(together)

    def _commit(self, together: list[_Work]) -> None:
        answers: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            with self._writing.begin():
                for function, done in together:
                    answers.append((done, *_run(self._writing, function)))
        except _FAILURES as e:
            error = _unavailable(e)
            error.__cause__ = e
            answers = [(done, None, error) for _, done in together]
        for done, result, failure in answers:
            if failure is None:
                done.set_result(result)
            else:
                done.set_exception(failure)


def _run(connection: Connection, function: Callable[[Transaction], Any]) -> tuple[Any, BaseException | None]:
    """A change in its own savepoint: one that fails takes nothing of the others with it."""
    driver = _driver(connection)
    driver.execute("SAVEPOINT one_change")
    try:
        result = function(SqlTransaction(connection, is_change=True))
    except _FAILURES:
        raise
    except Exception as failure:  # noqa: BLE001  # handed to whoever asked for the change
        driver.execute("ROLLBACK TO one_change")
        driver.execute("RELEASE one_change")
        return None, failure
    driver.execute("RELEASE one_change")
    return result, None


def _set_up(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions are begun by us, not by the driver
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("tallystick_writes", False)
    _driver(connection).execute("BEGIN IMMEDIATE" if writes else "BEGIN")


def _driver(connection: Connection) -> Any:
    """For what every transaction does and needs no translation: SQLAlchemy takes many times as long for it."""
    return connection.connection.driver_connection


def _unavailable(error: Exception) -> Unavailable:
    return Unavailable(f"the store does not answer: {_reason(error)}")


def _reason(error: Exception) -> object:
    return error.orig if isinstance(error, OperationalError) else error
