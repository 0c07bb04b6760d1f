"""Delete versions, subjects and namespaces: softly and for ever, and the way Pulsar does it."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from tallystick.access import Action, Caller, require
from tallystick.errors import (
    AlreadyDeleted,
    NamespaceNotEmpty,
    NamespaceNotFound,
    NotDeletedYet,
    ReferenceExists,
    SubjectNotFound,
)
from tallystick.model.subject import SchemaId, Subject, Version
from tallystick.registry.lookup import LIVE, LIVE_AND_DELETED, pick
from tallystick.registry.ports import Page, State, Transaction, VersionRow
from tallystick.registry.service import Registry, meant, record, require_writable, settings_of

T = TypeVar("T")

REMOVALS = ("version.removed", "subject.removed", "namespace.removed")
"""The kinds of journal lines after which something that was read before is gone for ever."""


def delete_version(
    registry: Registry, caller: Caller, subject: Subject, number: Version | None, *, permanent: bool = False
) -> Version:
    """Softly: not listed any more, still read by its id. Permanently: after the soft delete, for ever."""
    require(caller, Action.REGISTER, str(subject))

    def change(tx: Transaction) -> Version:
        target, history = _locked(tx, subject)
        row = pick(history, subject, number, LIVE if number is None else LIVE_AND_DELETED)
        if permanent and row.state is State.LIVE:
            raise NotDeletedYet(str(subject), row.version)
        if not permanent and row.state is State.DELETED:
            raise AlreadyDeleted(str(subject), row.version)
        _require_unreferenced(tx, target, row.version, permanent=permanent)
        if permanent:
            tx.subjects.remove(target, [row.version])
        else:
            tx.subjects.set_state(target, [row.version], State.DELETED)
        kind = "version.removed" if permanent else "version.deleted"
        record(tx, caller, kind, target, version=row.version, id=row.schema_id)
        return row.version

    return _carried_out(registry, change, for_ever=permanent)


def delete_subject(
    registry: Registry, caller: Caller, subject: Subject, *, permanent: bool = False
) -> Sequence[Version]:
    """All versions of a subject. Permanently, the subject starts again at version 1 if it comes back."""
    require(caller, Action.REGISTER, str(subject))

    def change(tx: Transaction) -> Sequence[Version]:
        target, history = _locked(tx, subject)
        live = [row for row in history if row.state is State.LIVE]
        if permanent and live:
            raise NotDeletedYet(str(subject))
        if not permanent and not live:
            raise AlreadyDeleted(str(subject))
        chosen = [row for row in history if row.state is State.DELETED] if permanent else live
        _require_unreferenced(tx, target, None, permanent=permanent)
        if permanent:
            tx.subjects.remove(target, None)
        else:
            tx.subjects.set_state(target, [row.version for row in chosen], State.DELETED)
            tx.subjects.describe(target, {})
        kind = "subject.removed" if permanent else "subject.deleted"
        record(tx, caller, kind, target, versions=[row.version for row in chosen], ids=_ids(chosen))
        return [row.version for row in chosen]

    return _carried_out(registry, change, for_ever=permanent)


def delete_like_pulsar(registry: Registry, caller: Caller, subject: Subject, *, force: bool = False) -> Version | None:
    """Pulsar's delete: earlier versions disappear and a tombstone takes the next number, which is returned.

    Forced, the whole subject goes for ever and counts from 1 again.
    """
    require(caller, Action.REGISTER, str(subject))

    def change(tx: Transaction) -> Version | None:
        target, history = _locked(tx, subject)
        _require_unreferenced(tx, target, None, permanent=force)
        if force:
            tx.subjects.remove(target, None)
            record(tx, caller, "subject.removed", target, versions=[r.version for r in history], ids=_ids(history))
            return None
        live = [row for row in history if row.state is State.LIVE]
        if not live:
            raise SubjectNotFound(str(subject))
        tx.subjects.set_state(target, [row.version for row in live], State.DELETED)
        tx.subjects.describe(target, {})
        locked = tx.subjects.lock(target, create=False)
        assert locked is not None
        number = Version(locked.last_version + 1)
        tombstone = VersionRow(target, number, SchemaId(0), State.TOMBSTONE, datetime.now(UTC))
        tx.subjects.append(tombstone)
        record(tx, caller, "subject.deleted", target, versions=[r.version for r in live], ids=_ids(live))
        return number

    return _carried_out(registry, change, for_ever=force)


def delete_namespace(registry: Registry, caller: Caller, namespace: str) -> None:
    require(caller, Action.ADMINISTER)

    def change(tx: Transaction) -> None:
        if namespace not in tx.settings.namespaces():
            raise NamespaceNotFound(namespace)
        if tx.subjects.names(namespace, "", LIVE_AND_DELETED, Page(0, 1)):
            raise NamespaceNotEmpty(namespace)
        tx.settings.remove_namespace(namespace)
        record(tx, caller, "namespace.removed", None, namespace=namespace)

    registry.change(change)


def _carried_out(registry: Registry, change: Callable[[Transaction], T], *, for_ever: bool) -> T:
    done = registry.change(change)
    if for_ever:
        registry.parsed.forget()
    return done


def _locked(tx: Transaction, subject: Subject) -> tuple[Subject, Sequence[VersionRow]]:
    target = meant(tx, subject)
    if tx.subjects.lock(target, create=False) is None:
        raise SubjectNotFound(str(subject))
    require_writable(settings_of(tx, target), target)
    history = tx.subjects.history(target)
    if not any(row.state in LIVE_AND_DELETED for row in history):
        raise SubjectNotFound(str(subject))
    return target, history


def _require_unreferenced(tx: Transaction, subject: Subject, number: Version | None, *, permanent: bool) -> None:
    """A schema that is deleted softly can still be read, so what it refers to cannot go for ever."""
    states = LIVE_AND_DELETED if permanent else LIVE
    own = subject if number is None else None
    referring = [r for r in tx.schemas.referring_to(subject, number) if r.state in states and r.subject != own]
    if referring:
        what = f"subject '{subject}'" + ("" if number is None else f" version {number}")
        raise ReferenceExists(what, [f"'{row.subject}' version {row.version}" for row in referring[:5]])


def _ids(rows: Sequence[VersionRow]) -> list[int]:
    return sorted({row.schema_id for row in rows if row.state is not State.TOMBSTONE})
