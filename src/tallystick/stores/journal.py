"""The journal in SQL: the audit log, and the events that tell others of a change."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, insert, select

from tallystick.model.subject import Subject
from tallystick.registry.ports import Entry, JournalFilter
from tallystick.stores.compiled import Compiled
from tallystick.stores.rows import aware
from tallystick.stores.statements import next_number
from tallystick.stores.tables import counters, journal

_COUNTER = "journal"  # no namespace: those have a slash

_INSERT = Compiled(insert(journal), *journal.c.keys())
_AFTER = select(journal).where(journal.c.id > bindparam("id")).order_by(journal.c.id).limit(bindparam("limit"))
_LAST = select(counters.c.last).where(counters.c.name == _COUNTER)


class SqlJournal:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def write(self, entry: Entry) -> None:
        # The counter's row is locked until the change commits, so entries become visible in the order of their ids
        # and whoever reads on from the last one misses none.
        number = next_number(self._connection, _COUNTER)
        _INSERT.run(self._connection, {**_row(entry), "id": number})

    def after(self, id_: int, limit: int, kinds: Collection[str] | None = None) -> Sequence[Entry]:
        query = _AFTER if kinds is None else _AFTER.where(journal.c.kind.in_(sorted(kinds)))
        return [_entry(row) for row in self._connection.execute(query, {"id": id_, "limit": limit})]

    def newest(self, wanted: JournalFilter, limit: int) -> Sequence[Entry]:
        query = select(journal).where(*_conditions(wanted)).order_by(journal.c.id.desc()).limit(limit)
        return [_entry(row) for row in self._connection.execute(query)]

    def last(self) -> int:
        return self._connection.execute(_LAST).scalar() or 0


def _conditions(wanted: JournalFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.subject is not None:
        yield journal.c.namespace == wanted.subject.namespace
        yield journal.c.subject == wanted.subject.name
    if wanted.principal is not None:
        yield journal.c.principal == wanted.principal
    if wanted.kind is not None:
        yield journal.c.kind == wanted.kind
    if wanted.since is not None:
        yield journal.c.at >= wanted.since
    if wanted.before is not None:
        yield journal.c.id < wanted.before


def _row(entry: Entry) -> dict[str, Any]:
    subject = entry.subject
    return {
        "kind": entry.kind,
        "namespace": subject and subject.namespace,
        "subject": subject and subject.name,
        "data": entry.data,
        "principal": entry.principal,
        "address": entry.address,
        "at": entry.at,
    }


def _entry(row: Row[Any]) -> Entry:
    subject = None if row.subject is None else Subject(row.namespace, row.subject)
    return Entry(
        id=row.id,
        kind=row.kind,
        subject=subject,
        data=row.data,
        principal=row.principal,
        address=row.address,
        at=aware(row.at),
    )
