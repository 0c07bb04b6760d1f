"""Subjects and their versions in SQL."""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    bindparam,
    case,
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


_TYPES = {State.LIVE: subjects.c.live_types, State.DELETED: subjects.c.deleted_types}
_TYPES_BY_STATE = (
    select(versions.c.state, schemas.c.type)
    .join(schemas, (schemas.c.namespace == versions.c.namespace) & (schemas.c.id == versions.c.schema_id))
    .where(versions.c.subject_id == bindparam("of_id"), versions.c.state.in_(_TYPES))
    .distinct()
    .order_by(schemas.c.type)
)
_SUMMARISE = (
    update(subjects)
    .where(subjects.c.id == bindparam("of_id"))
    .values(live_types=bindparam("live"), deleted_types=bindparam("deleted"), modified_at=bindparam("now"))
)
_TYPE_ADDED = (
    select("/" + schemas.c.type + "/")
    .where(schemas.c.namespace == bindparam("of_namespace"), schemas.c.id == bindparam("of_schema"))
    .scalar_subquery()
)


def _appending(state: State) -> Compiled:
    now = {
        "last_version": case(
            (subjects.c.last_version < bindparam("number"), bindparam("number")), else_=subjects.c.last_version
        ),
        "modified_at": bindparam("now"),
    }
    if (types := _TYPES.get(state)) is not None:
        is_there = func.replace(types, _TYPE_ADDED, "") != types
        now[types.name] = case((is_there, types), else_=types + _TYPE_ADDED)
    return Compiled(update(subjects).where(subjects.c.id == bindparam("of_id")).values(now))


_APPENDED = {state: _appending(state) for state in State}


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
        columns = [_TYPES[state] for state in states]
        if types is None:
            alternatives = [column != "" for column in columns] + ([subjects.c.described] if described else [])
        else:
            alternatives = [condition for column in columns for condition in _has_one_of(types, column)]
        listed = select(subjects.c.id).where(or_(*alternatives), *_named(namespace, prefix))
        listed = listed.order_by(*_IN_ORDER).offset(page.offset).limit(page.limit)
        query = select(subjects).where(subjects.c.id.in_(listed)).order_by(*_IN_ORDER)
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
        query = query.order_by(*_IN_ORDER, versions.c.version)
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
        changed = {
            "of_id": values["subject_id"],
            "number": row.version,
            "now": datetime.now(UTC),
            "of_namespace": row.subject.namespace,
            "of_schema": row.schema_id,
        }
        _APPENDED[row.state].run(self._connection, changed)

    def set_state(self, subject: Subject, numbers: Sequence[Version], state: State) -> None:
        chosen = (versions.c.subject_id == self._id(subject)) & versions.c.version.in_(numbers)
        self._connection.execute(update(versions).where(chosen).values(state=state))
        self._summarise(subject)

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
            self._summarise(subject)

    def describe(self, subject: Subject, about: dict[str, str]) -> None:
        self._connection.execute(
            update(subjects)
            .where(_IS_SUBJECT)
            .values(about=about, described=bool(about), modified_at=datetime.now(UTC)),
            _key(subject),
        )

    def _id(self, subject: Subject) -> int:
        if subject not in self._ids:
            self._ids[subject] = self._connection.execute(_ID, _key(subject)).scalar_one()
        return self._ids[subject]

    def _summarise(self, subject: Subject) -> None:
        of_id = {"of_id": self._id(subject)}
        types = {str(state): "" for state in _TYPES}
        for row in self._connection.execute(_TYPES_BY_STATE, of_id):
            types[row.state] += f"/{row.type}/"
        self._connection.execute(_SUMMARISE, {**of_id, **types, "now": datetime.now(UTC)})


_IN_ORDER = (subjects.c.namespace, subjects.c.name)
_IS_SCHEMA = (schemas.c.namespace == versions.c.namespace) & (schemas.c.id == versions.c.schema_id)


def _named(namespace: str | None, prefix: str) -> list[ColumnElement[bool]]:
    chosen: list[ColumnElement[bool]] = []
    if namespace is not None:
        chosen.append(subjects.c.namespace == namespace)
    if prefix:
        chosen += [subjects.c.name >= prefix, subjects.c.name < _after(prefix)]
    return chosen


def _has_one_of(types: Collection[SchemaType], column: ColumnElement[str]) -> list[ColumnElement[bool]]:
    written = [f"/{type_}/" for type_ in types]
    # Most subjects have one type: that they are equal is seen faster than that the one contains the other.
    return [column == one for one in written] + [column.contains(one, autoescape=True) for one in written]


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
