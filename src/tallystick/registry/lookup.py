"""Read what is registered."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar
from uuid import UUID

from tallystick.access import Action, Caller, is_allowed, reads_everything, require
from tallystick.errors import Forbidden, SchemaNotFound, SubjectNotFound, VersionNotFound
from tallystick.model.schema_type import SchemaType
from tallystick.model.settings import Settings
from tallystick.model.subject import SchemaId, Subject, Version
from tallystick.registry.ports import ALL, Page, State, StoredSchema, SubjectRow, Transaction, VersionRow
from tallystick.registry.service import Registry, meant, settings_of

T = TypeVar("T")

_AT_ONCE = 500
"""How many ids one statement asks for: databases limit the number of parameters."""

LIVE = frozenset({State.LIVE})
DELETED = frozenset({State.DELETED})
LIVE_AND_DELETED = LIVE | DELETED


@dataclass(frozen=True, slots=True)
class SubjectVersion:
    """A version with its schema."""

    row: VersionRow
    schema: StoredSchema


def subjects(
    registry: Registry,
    caller: Caller,
    namespace: str | None,
    *,
    prefix: str = "",
    states: frozenset[State] = LIVE,
    page: Page = ALL,
    described: bool = False,
    types: Collection[SchemaType] | None = None,
) -> Sequence[SubjectRow]:
    """Subjects with a version in one of the states, that the caller may see; namespace None: all.

    With `described` also those that have no version yet and were created by what is said about them; with `types`
    only those that have a version of one of these types.
    """
    sees_all = reads_everything(caller.principal)
    asked = page if sees_all else ALL
    rows = registry.read(
        lambda tx: tx.subjects.names(namespace, prefix, states, asked, described=described, types=types)
    )
    return rows if sees_all else _paged([row for row in rows if _may_read(caller, row.subject)], page)


def schemas(
    registry: Registry,
    caller: Caller,
    namespace: str | None,
    *,
    prefix: str = "",
    states: frozenset[State] = LIVE,
    page: Page = ALL,
    types: Collection[SchemaType],
    latest_only: bool = False,
) -> Sequence[SubjectVersion]:
    """The versions of the subjects that the caller may see, or the last one of each, with their schemas."""
    sees_all = reads_everything(caller.principal)
    asked = page if sees_all else ALL

    def find(tx: Transaction) -> Sequence[SubjectVersion]:
        rows = tx.subjects.versions(namespace, prefix, states, asked, types=types, latest_only=latest_only)
        seen = rows if sees_all else _paged([row for row in rows if _may_read(caller, row.subject)], page)
        return _with_schemas(tx, seen)

    return registry.read(find)


def _with_schemas(tx: Transaction, rows: Sequence[VersionRow]) -> Sequence[SubjectVersion]:
    ids: dict[str, set[SchemaId]] = {}
    for row in rows:
        ids.setdefault(row.subject.namespace, set()).add(row.schema_id)
    found: dict[tuple[str, SchemaId], StoredSchema] = {}
    for namespace, wanted in ids.items():
        for some in _batched(sorted(wanted), _AT_ONCE):
            found.update({(namespace, stored.id): stored for stored in tx.schemas.get(namespace, some)})
    return [SubjectVersion(row, found[row.subject.namespace, row.schema_id]) for row in rows]


def _batched(values: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(values)
    while some := list(islice(left, size)):
        yield some


def _may_read(caller: Caller, subject: Subject) -> bool:
    return is_allowed(caller.principal, Action.READ, str(subject))


def _paged(rows: Sequence[T], page: Page) -> Sequence[T]:
    return rows[page.offset :] if page.limit is None else rows[page.offset : page.offset + page.limit]


def subject(
    registry: Registry,
    caller: Caller,
    subject: Subject,
    states: frozenset[State] = LIVE,
    *,
    described: bool = False,
) -> SubjectRow:
    require(caller, Action.READ, str(subject))

    def find(tx: Transaction) -> SubjectRow | None:
        named = tx.subjects.names(subject.namespace, subject.name, states, Page(0, 1), described=described)
        return next((row for row in named if row.subject == subject), None)

    found = registry.read(find)
    if found is None:
        raise SubjectNotFound(str(subject))
    return found


def versions(
    registry: Registry,
    caller: Caller,
    subject: Subject,
    *,
    states: frozenset[State] = LIVE,
    types: Collection[SchemaType] | None = None,
) -> Sequence[VersionRow]:
    """The versions of a subject in these states; a subject that has none in any listed state is not found."""
    require(caller, Action.READ, str(subject))

    def find(tx: Transaction) -> Sequence[VersionRow]:
        target = meant(tx, subject)
        rows = [row for row in tx.subjects.history(target) if row.state in states]
        if types is None or not rows:
            return rows
        known = tx.schemas.types(target.namespace, [row.schema_id for row in rows])
        return [row for row in rows if known[row.schema_id] in types]

    rows = registry.read(find)
    if not rows:
        raise SubjectNotFound(str(subject))
    return rows


def version(
    registry: Registry,
    caller: Caller,
    subject: Subject,
    number: Version | None,
    *,
    states: frozenset[State] = LIVE,
) -> SubjectVersion:
    """A version with its schema; None is the latest."""
    require(caller, Action.READ, str(subject))

    def find(tx: Transaction) -> SubjectVersion:
        target = meant(tx, subject)
        row = pick(tx.subjects.history(target), subject, number, states)
        return SubjectVersion(row, tx.schemas.get(target.namespace, [row.schema_id])[0])

    return registry.read(find)


def pick(
    history: Sequence[VersionRow], subject: Subject, number: Version | None, states: frozenset[State]
) -> VersionRow:
    """The version of a history, or the error that says what is missing: the subject or only the version."""
    rows = [row for row in history if row.state in states]
    if not rows:
        raise SubjectNotFound(str(subject))
    found = [row for row in rows if number is None or row.version == number]
    if not found:
        raise VersionNotFound(number if number is not None else "latest")
    return found[-1]


def by_id(registry: Registry, namespace: str, id_: SchemaId, caller: Caller | None = None) -> StoredSchema:
    """A caller sees a schema that one of its subjects has; without a caller everybody does."""
    found = registry.read(lambda tx: tx.schemas.get(namespace, [id_]))
    if not found:
        raise SchemaNotFound(f"Schema {id_}")
    if caller is None or reads_everything(caller.principal) or _is_visible(registry, caller, namespace, id_):
        return found[0]
    raise Forbidden(f"{caller.principal.name!r} may read no subject that has the schema {id_}")


def last_id(registry: Registry, namespace: str) -> int:
    return registry.read(lambda tx: tx.schemas.last_id(namespace))


def meant_by(registry: Registry, subject: Subject) -> Subject:
    """The subject itself, or the one that it is an alias of."""
    return registry.read(lambda tx: meant(tx, subject))


def _is_visible(registry: Registry, caller: Caller, namespace: str, id_: SchemaId) -> bool:
    users = registry.read(lambda tx: tx.schemas.versions_of(namespace, id_))
    return any(is_allowed(caller.principal, Action.READ, str(row.subject)) for row in users)


def by_guid(registry: Registry, guid: UUID, caller: Caller | None = None) -> Sequence[StoredSchema]:
    """The schema with a GUID in each namespace that has it, as far as the caller may see it there."""
    found = registry.read(lambda tx: tx.schemas.by_guid(guid))
    if caller is not None and not reads_everything(caller.principal):
        found = [stored for stored in found if _is_visible(registry, caller, stored.namespace, stored.id)]
    if not found:
        raise SchemaNotFound(f"Schema {guid}")
    return found


def versions_of(registry: Registry, caller: Caller, namespace: str, id_: SchemaId) -> Sequence[VersionRow]:
    """Where a schema is used: its versions that are live or softly deleted, in subjects that the caller may see."""
    rows = registry.read(lambda tx: tx.schemas.versions_of(namespace, id_))
    if not rows:
        raise SchemaNotFound(f"Schema {id_}")
    return [
        r for r in rows if r.state in LIVE_AND_DELETED and is_allowed(caller.principal, Action.READ, str(r.subject))
    ]


def referring_to(
    registry: Registry,
    caller: Caller,
    subject: Subject,
    number: Version | None,
    *,
    states: frozenset[State] = LIVE,
) -> Sequence[VersionRow]:
    """The versions whose schemas refer to a version of a subject."""
    require(caller, Action.READ, str(subject))

    def find(tx: Transaction) -> Sequence[VersionRow]:
        target = meant(tx, subject)
        row = pick(tx.subjects.history(target), subject, number, LIVE_AND_DELETED)
        return [r for r in tx.schemas.referring_to(target, row.version) if r.state in states]

    return registry.read(find)


def namespaces(registry: Registry) -> Sequence[str]:
    return registry.read(lambda tx: tx.settings.namespaces())


def settings(registry: Registry, subject: Subject) -> Settings:
    return registry.read(lambda tx: settings_of(tx, subject))
