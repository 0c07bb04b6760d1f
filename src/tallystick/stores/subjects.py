"""Subjects and their versions in SQL."""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    ScalarSelect,
    Text,
    bindparam,
    case,
    cast,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from tallystick.model.schema_type import SchemaType
from tallystick.model.subject import Subject, Version
from tallystick.registry.ports import Page, State, SubjectRow, VersionRow
from tallystick.stores.compiled import Compiled
from tallystick.stores.rows import aware, version_row
from tallystick.stores.schemas import remove_unused
from tallystick.stores.statements import inserting_or_ignoring
from tallystick.stores.tables import schemas, settings, subjects, versions

_IS_SUBJECT = (subjects.c.namespace == bindparam("of_namespace")) & (subjects.c.name == bindparam("of_name"))
_LOCK = Compiled(select(subjects).where(_IS_SUBJECT).with_for_update())
_ID = select(subjects.c.id).where(_IS_SUBJECT)
_INSERT_VERSION = Compiled(
    insert(versions), "subject_id", "version", "namespace", "schema_id", "state", "created_at", "properties"
)
_HISTORY = Compiled(select(versions, subjects.c.name).join(subjects).where(_IS_SUBJECT).order_by(versions.c.version))


# An empty object is written in one way on every database.
_IS_DESCRIBED = cast(subjects.c.about, Text) != "{}"


def _count(state: State) -> ScalarSelect[int]:
    matching = (versions.c.subject_id == subjects.c.id) & (versions.c.state == state)
    return select(func.count()).select_from(versions).where(matching).scalar_subquery()


_RECOUNT = (
    update(subjects)
    .where(_IS_SUBJECT)
    .values(live=_count(State.LIVE), deleted=_count(State.DELETED), modified_at=bindparam("now"))
)
_APPENDED = Compiled(
    update(subjects)
    .where(subjects.c.id == bindparam("of_id"))
    .values(
        live=subjects.c.live + bindparam("more_live"),
        deleted=subjects.c.deleted + bindparam("more_deleted"),
        last_version=case(
            (subjects.c.last_version < bindparam("number"), bindparam("number")), else_=subjects.c.last_version
        ),
        modified_at=bindparam("now"),
    )
)


@cache
def _creating(dialect: str) -> Compiled:
    statement = inserting_or_ignoring(dialect, subjects).returning(*subjects.c)
    return Compiled(statement, "namespace", "name", "created_at", "modified_at", "about")


class SqlSubjects:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ids: dict[Subject, int] = {}
        self._empty: set[Subject] = set()
        """Those that are locked and never had a version."""

    def lock(self, subject: Subject, *, create: bool) -> SubjectRow | None:
        found = _LOCK.one(self._connection, _key(subject))
        if found is None and create:
            now = datetime.now(UTC)
            row = {
                "namespace": subject.namespace,
                "name": subject.name,
                "created_at": now,
                "modified_at": now,
                "about": {},
            }
            found = _creating(self._connection.dialect.name).one(self._connection, row)
            if found is None:
                found = _LOCK.one(self._connection, _key(subject))
        if found is None:
            return None
        if found.last_version == 0:
            self._empty.add(subject)
        self._ids[subject] = found.id
        return _subject_row(found)

    def history(self, subject: Subject) -> Sequence[VersionRow]:
        if subject in self._empty:
            return []
        return [version_row(row) for row in _HISTORY.run(self._connection, _key(subject))]

    def names(
        self,
        namespace: str | None,
        prefix: str,
        states: Iterable[State],
        page: Page,
        *,
        described: bool = False,
        types: Collection[SchemaType] | None = None,
    ) -> Sequence[SubjectRow]:
        chosen = list(states)
        wanted = {State.LIVE: subjects.c.live > 0, State.DELETED: subjects.c.deleted > 0}
        alternatives = [wanted[state] for state in chosen] + ([_IS_DESCRIBED] if described else [])
        query = select(subjects).where(or_(*alternatives), *_named(namespace, prefix))
        if types is not None:
            query = query.where(exists().where(versions.c.subject_id == subjects.c.id, *_kept(chosen, types)))
        query = query.order_by(subjects.c.namespace, subjects.c.name).offset(page.offset).limit(page.limit)
        return [_subject_row(row) for row in self._connection.execute(query)]

    def versions(
        self,
        namespace: str | None,
        prefix: str,
        states: Iterable[State],
        page: Page,
        *,
        types: Collection[SchemaType],
        latest_only: bool = False,
    ) -> Sequence[VersionRow]:
        chosen = list(states)
        query = select(versions, subjects.c.name).join(subjects).join(schemas, _IS_SCHEMA)
        query = query.where(*_named(namespace, prefix), *_kept(chosen, types))
        if latest_only:
            query = query.where(~_has_later(chosen))
        query = query.order_by(subjects.c.namespace, subjects.c.name, versions.c.version)
        return [version_row(row) for row in self._connection.execute(query.offset(page.offset).limit(page.limit))]

    def append(self, row: VersionRow) -> None:
        values = {
            "subject_id": self._id(row.subject),
            "version": row.version,
            "namespace": row.subject.namespace,
            "schema_id": row.schema_id,
            "state": row.state,
            "created_at": row.created_at,
            "properties": row.properties,
        }
        _INSERT_VERSION.run(self._connection, values)
        self._empty.discard(row.subject)
        counted = {"more_live": int(row.state is State.LIVE), "more_deleted": int(row.state is State.DELETED)}
        changed = {"of_id": values["subject_id"], "number": row.version, "now": datetime.now(UTC), **counted}
        _APPENDED.run(self._connection, changed)

    def set_state(self, subject: Subject, numbers: Sequence[Version], state: State) -> None:
        chosen = (versions.c.subject_id == self._id(subject)) & versions.c.version.in_(numbers)
        self._connection.execute(update(versions).where(chosen).values(state=state))
        self._recount(subject)

    def remove(self, subject: Subject, numbers: Sequence[Version] | None) -> None:
        of_subject = versions.c.subject_id == self._id(subject)
        chosen = of_subject if numbers is None else of_subject & versions.c.version.in_(numbers)
        used = self._connection.execute(select(versions.c.schema_id).where(chosen).distinct()).scalars().all()
        self._connection.execute(delete(versions).where(chosen))
        remove_unused(self._connection, subject.namespace, used)
        if numbers is None:
            self._connection.execute(
                delete(settings).where(settings.c.namespace == subject.namespace, settings.c.subject == subject.name)
            )
            self._connection.execute(delete(subjects).where(_IS_SUBJECT), _key(subject))
        else:
            self._recount(subject)

    def describe(self, subject: Subject, about: dict[str, str]) -> None:
        self._connection.execute(
            update(subjects).where(_IS_SUBJECT).values(about=about, modified_at=datetime.now(UTC)), _key(subject)
        )

    def _id(self, subject: Subject) -> int:
        if subject not in self._ids:
            self._ids[subject] = self._connection.execute(_ID, _key(subject)).scalar_one()
        return self._ids[subject]

    def _recount(self, subject: Subject) -> None:
        self._connection.execute(_RECOUNT, {**_key(subject), "now": datetime.now(UTC)})


_IS_SCHEMA = (schemas.c.namespace == versions.c.namespace) & (schemas.c.id == versions.c.schema_id)


def _named(namespace: str | None, prefix: str) -> list[ColumnElement[bool]]:
    chosen: list[ColumnElement[bool]] = []
    if namespace is not None:
        chosen.append(subjects.c.namespace == namespace)
    if prefix:
        chosen += [subjects.c.name >= prefix, subjects.c.name < _after(prefix)]
    return chosen


def _kept(states: Collection[State], types: Collection[SchemaType]) -> list[ColumnElement[bool]]:
    return [versions.c.state.in_(states), _IS_SCHEMA, schemas.c.type.in_(types)]


def _has_later(states: Collection[State]) -> ColumnElement[bool]:
    later = versions.alias()
    is_later = (later.c.subject_id == versions.c.subject_id) & (later.c.version > versions.c.version)
    return exists().where(is_later, later.c.state.in_(states)).correlate(versions)


def _subject_row(row: Row[Any]) -> SubjectRow:
    subject = Subject(row.namespace, row.name)
    return SubjectRow(subject, Version(row.last_version), aware(row.created_at), aware(row.modified_at), row.about)


def _key(subject: Subject) -> dict[str, Any]:
    return {"of_namespace": subject.namespace, "of_name": subject.name}


def _after(prefix: str) -> str:
    """The first name after all that start with the prefix."""
    return prefix + "\U0010ffff"
