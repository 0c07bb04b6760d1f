"""Statements that several tables need."""

from functools import cache
from typing import Any

from sqlalchemy import Connection, Table, bindparam, update
from sqlalchemy.sql.dml import Insert

from tallystick.stores.compiled import Compiled
from tallystick.stores.tables import counters


def insert_or_ignore(connection: Connection, table: Table, values: dict[str, Any]) -> None:
    """Leaves a row that exists alone."""
    connection.execute(inserting_or_ignoring(connection.dialect.name, table), values)


# Statements are built once: that takes longer than running them.
@cache
def inserting_or_ignoring(dialect: str, table: Table) -> Insert:
    """Each database spells it its own way; the other one's need not be loaded."""
    if dialect == "sqlite":
        from sqlalchemy.dialects import sqlite

        return sqlite.insert(table).on_conflict_do_nothing()
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table).on_conflict_do_nothing()


_NEXT = Compiled(
    update(counters)
    .where(counters.c.name == bindparam("counter"))
    .values(last=counters.c.last + 1)
    .returning(counters.c.last)
)


def next_number(connection: Connection, counter: str) -> int:
    """Counts up. The counter is kept from other changes until this one ends."""
    counted = _NEXT.one(connection, {"counter": counter})
    if counted is None:
        insert_or_ignore(connection, counters, {"name": counter, "last": 0})
        counted = _NEXT.one(connection, {"counter": counter})
    number: int = counted.last
    return number
