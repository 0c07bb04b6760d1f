"""PostgreSQL: for as many servers as one likes over one database. There is no leader: the database decides."""

import random
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeVar

from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError

from tallystick.errors import Unavailable
from tallystick.registry.ports import Transaction
from tallystick.stores.migrations import migrate
from tallystick.stores.transaction import SqlTransaction

T = TypeVar("T")

_RETRY = {"40001", "40P01"}  # serialisation failure, deadlock
_TRIES = 20
_MIGRATION_LOCK = 0x7A11957  # any number, the same for every server


class PostgresStore:
    others_seconds = 0.2

    def __init__(self, url: str, pool_size: int = 8) -> None:
        self._engine = create_engine(
            make_url(url).set(drivername="postgresql+psycopg"),
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_pre_ping=True,
            isolation_level="READ COMMITTED",
            connect_args={"connect_timeout": 10},
        )
        with ExitStack() as unless_opened:
            unless_opened.callback(self._engine.dispose)
            self._migrate()
            unless_opened.pop_all()

    def _migrate(self) -> None:
        try:
            with self._engine.begin() as connection:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
                migrate(connection)
        except OperationalError as e:
            raise Unavailable(f"cannot reach PostgreSQL: {e.orig}") from e

    def change(self, function: Callable[[Transaction], T]) -> T:
        for attempt in range(1, _TRIES + 1):
            try:
                with self._engine.begin() as connection:
                    return function(SqlTransaction(connection, is_change=True))
            except IntegrityError:
                # Another server wrote the same row first: what it wrote is seen on the next try.
                if attempt == _TRIES:
                    raise
            except (OperationalError, InterfaceError) as e:
                if attempt == _TRIES or getattr(e.orig, "sqlstate", None) not in _RETRY:
                    raise Unavailable(f"PostgreSQL does not answer: {e.orig}") from e
            time.sleep(random.uniform(0, 0.002 * attempt))  # noqa: S311  # only spreads the tries
        raise AssertionError("the last try returns or raises")

    def read(self, function: Callable[[Transaction], T]) -> T:
        try:
            with self._engine.connect() as connection:
                return function(SqlTransaction(connection, is_change=False))
        except (OperationalError, InterfaceError) as e:
            raise Unavailable(f"PostgreSQL does not answer: {e.orig}") from e

    def close(self) -> None:
        self._engine.dispose()
