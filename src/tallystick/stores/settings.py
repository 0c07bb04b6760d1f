"""Settings at their levels in SQL."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, union

from tallystick.model.settings import Enforce, Mode, PayloadValidation, Settings
from tallystick.model.strategy import Strategy
from tallystick.model.subject import Subject
from tallystick.stores.compiled import Compiled
from tallystick.stores.statements import insert_or_ignore
from tallystick.stores.tables import scopes, settings, subjects

_GET = select(settings.c.settings).where(
    settings.c.namespace == bindparam("namespace"), settings.c.subject == bindparam("subject")
)
_LEVELS = Compiled(
    select(settings).where(
        ((settings.c.namespace == bindparam("of_namespace")) & settings.c.subject.in_(["", bindparam("of_subject")]))
        | ((settings.c.namespace == "") & (settings.c.subject == ""))
    )
)
_INSERT = insert(settings)
_DELETE = delete(settings).where(
    settings.c.namespace == bindparam("key_namespace"), settings.c.subject == bindparam("key_subject")
)
_SHARE = (
    select(scopes.c.name)
    .where(scopes.c.name.in_(bindparam("scopes", expanding=True)))
    .order_by(scopes.c.name)
    .with_for_update(read=True)
)
_LOCK = select(scopes).where(scopes.c.name == bindparam("scope")).with_for_update()

_READERS: dict[str, Any] = {
    "strategy": Strategy,
    "mode": Mode,
    "enforce": Enforce,
    "payload_validation": PayloadValidation,
}

_Levels = tuple[Settings | None, Settings | None, Settings | None]


class SqlSettings:
    def __init__(self, connection: Connection, *, is_change: bool) -> None:
        self._connection = connection
        self._is_change = is_change
        self._read: dict[Subject, _Levels] = {}

    def levels(self, subject: Subject) -> _Levels:
        if self._is_change:
            return self._levels(subject)
        if subject not in self._read:
            self._read[subject] = self._levels(subject)
        return self._read[subject]

    def _levels(self, subject: Subject) -> _Levels:
        if self._is_change and self._connection.dialect.name != "sqlite":
            # Settings that are being changed are waited for; a subject's own are guarded by the subject's lock, and
            # SQLite has one writer anyway.
            self._share("", subject.namespace)
        rows = _LEVELS.run(self._connection, {"of_namespace": subject.namespace, "of_subject": subject.name})
        found = {(row.namespace, row.subject): _settings(row.settings) for row in rows}
        return (
            found.get((subject.namespace, subject.name)),
            found.get((subject.namespace, "")),
            found.get(("", "")),
        )

    def _share(self, *wanted: str) -> None:
        shared = set(self._connection.execute(_SHARE, {"scopes": wanted}).scalars())
        if len(shared) < len(wanted):
            for scope in wanted:
                insert_or_ignore(self._connection, scopes, {"name": scope})
            self._connection.execute(_SHARE, {"scopes": wanted})

    def get(self, subject: Subject | None, namespace: str | None) -> Settings | None:
        found = self._connection.execute(_GET, _key(subject, namespace)).scalar()
        return None if found is None else _settings(found)

    def put(self, subject: Subject | None, namespace: str | None, wanted: Settings | None) -> None:
        if subject is None:
            insert_or_ignore(self._connection, scopes, {"name": namespace or ""})
            self._connection.execute(_LOCK, {"scope": namespace or ""})
        key = _key(subject, namespace)
        self._connection.execute(_DELETE, {f"key_{name}": value for name, value in key.items()})
        if wanted is not None:
            self._connection.execute(_INSERT, {**key, "settings": _as_json(wanted)})

    def of_subjects(self, namespace: str | None) -> Mapping[Subject, Settings]:
        query = select(settings).where(settings.c.subject != "").order_by(settings.c.namespace, settings.c.subject)
        if namespace is not None:
            query = query.where(settings.c.namespace == namespace)
        rows = self._connection.execute(query)
        return {Subject(row.namespace, row.subject): _settings(row.settings) for row in rows}

    def namespaces(self) -> Sequence[str]:
        known = union(select(subjects.c.namespace), select(settings.c.namespace))
        return sorted(name for name in self._connection.execute(known).scalars() if name)

    def remove_namespace(self, namespace: str) -> None:
        # Its counter stays: a namespace that comes back goes on counting, ids are never used again.
        self._connection.execute(delete(settings).where(settings.c.namespace == namespace))
        self._connection.execute(delete(subjects).where(subjects.c.namespace == namespace))
        self._connection.execute(delete(scopes).where(scopes.c.name == namespace))


def _key(subject: Subject | None, namespace: str | None) -> dict[str, str]:
    if subject is not None:
        return {"namespace": subject.namespace, "subject": subject.name}
    return {"namespace": namespace or "", "subject": ""}


def _settings(stored: dict[str, Any]) -> Settings:
    return Settings(**{name: _READERS.get(name, _as_is)(value) for name, value in stored.items()})


def _as_is(value: Any) -> Any:
    return value


def _as_json(wanted: Settings) -> dict[str, Any]:
    fields = {name: getattr(wanted, name) for name in Settings.__dataclass_fields__}
    return {name: value for name, value in fields.items() if value is not None and value != {}}
