"""Subjects as things of their own: created before their first version, with what people say of them."""

from collections.abc import Mapping

from tallystick.access import Action, Caller, require
from tallystick.errors import SubjectNotFound
from tallystick.model.settings import Settings
from tallystick.model.strategy import Strategy
from tallystick.model.subject import Subject
from tallystick.registry.ports import State, SubjectRow, Transaction
from tallystick.registry.service import Registry, record


def describe(
    registry: Registry, caller: Caller, subject: Subject, about: Mapping[str, str], strategy: Strategy | None = None
) -> SubjectRow:
    """Creates the subject or changes what is said of it; what is not given stays. A strategy needs the right to set it.

    A subject that has been described exists, with or without versions, until it is deleted.
    """
    require(caller, Action.REGISTER, str(subject))
    if strategy is not None:
        require(caller, Action.CONFIGURE, str(subject))

    def change(tx: Transaction) -> SubjectRow:
        row = tx.subjects.lock(subject, create=True)
        assert row is not None
        said = {"description": "", **row.about, **about}
        tx.subjects.describe(subject, said)
        if strategy is not None:
            _set_strategy(tx, subject, strategy)
        changes = {"strategy": strategy and str(strategy)} if strategy is not None else {}
        record(tx, caller, "subject.described", subject, about=dict(about), **changes)
        described = tx.subjects.lock(subject, create=True)
        assert described is not None
        return described

    return registry.change(change)


def _set_strategy(tx: Transaction, subject: Subject, strategy: Strategy) -> None:
    own = tx.settings.get(subject, None) or Settings()
    tx.settings.put(subject, None, own.with_changes({"strategy": strategy}))


def forget(registry: Registry, caller: Caller, subject: Subject) -> None:
    """Deletes a subject that has been described and has no version."""
    require(caller, Action.REGISTER, str(subject))

    def change(tx: Transaction) -> None:
        row = tx.subjects.lock(subject, create=False)
        versions = [r for r in tx.subjects.history(subject) if r.state is State.LIVE]
        if row is None or not row.about or versions:
            raise SubjectNotFound(str(subject))
        tx.subjects.describe(subject, {})
        record(tx, caller, "subject.deleted", subject, versions=[], ids=[])

    registry.change(change)
