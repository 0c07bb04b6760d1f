"""The registry: what all its operations share. The operations are in the modules beside it, one subject each."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from tallystick.access import Caller
from tallystick.errors import NotPermitted
from tallystick.finding import Finding
from tallystick.model.settings import SERVER_DEFAULTS, Mode, Settings, effective
from tallystick.model.subject import Subject, subject_of
from tallystick.registry.parsed import ParsedSchemas
from tallystick.registry.ports import Entry, SchemaStore, Transaction

if TYPE_CHECKING:
    from tallystick.registry.registration import Registration

T = TypeVar("T")

_READ_ONLY = {Mode.READONLY, Mode.READONLY_OVERRIDE, Mode.FORWARD}


@dataclass(frozen=True, slots=True)
class Limits:
    schema_bytes: int = 5_000_000


class Observer:
    """Is told what the registry does; for metrics."""

    def registered(self, registration: "Registration") -> None: ...

    def refused(self, findings: Sequence[Finding]) -> None: ...

    def warned(self, findings: Sequence[Finding]) -> None:
        """A client was let in all the same, without a new version."""

    def stored(self, kind: str, seconds: float) -> None:
        """How long a transaction took; `kind` is "read" or "change"."""


class Registry:
    def __init__(self, store: SchemaStore, limits: Limits | None = None, observer: Observer | None = None) -> None:
        self.limits = limits or Limits()
        self.observer = observer or Observer()
        self.parsed = ParsedSchemas()
        self.changes = 0
        """Counts the changes that this process made."""
        self._store = store

    def read(self, function: Callable[[Transaction], T]) -> T:
        started = time.perf_counter()
        try:
            return self._store.read(function)
        finally:
            self.observer.stored("read", time.perf_counter() - started)

    def change(self, function: Callable[[Transaction], T]) -> T:
        started = time.perf_counter()
        try:
            return self._store.change(function)
        finally:
            self.changes += 1
            self.observer.stored("change", time.perf_counter() - started)

    @property
    def others_seconds(self) -> float:
        """How often to look for changes of other processes."""
        return self._store.others_seconds

    def close(self) -> None:
        self._store.close()


def settings_of(tx: Transaction, subject: Subject, defaults: Settings = SERVER_DEFAULTS) -> Settings:
    """The settings that count for a subject; the defaults where no level says anything."""
    own, *around = tx.settings.levels(subject)
    return effective([own or Settings(), *filter(None, around), defaults])


def meant(tx: Transaction, subject: Subject) -> Subject:
    """The subject itself, or the one that it is an alias of."""
    own, _, _ = tx.settings.levels(subject)
    return subject_of(own.alias, subject.namespace) if own is not None and own.alias else subject


def require_writable(settings: Settings, subject: Subject | None) -> None:
    if settings.mode in _READ_ONLY:
        where = "The server" if subject is None else f"Subject {subject}"
        raise NotPermitted(f"{where} is in {settings.mode} mode: it takes no changes; set its mode to READWRITE first")


def record(tx: Transaction, caller: Caller, kind: str, subject: Subject | None, **data: object) -> None:
    """Writes the change to the journal, in its own transaction: the audit log cannot miss it."""
    tx.journal.write(
        Entry(
            kind=kind,
            subject=subject,
            data=data,
            principal=caller.principal.name,
            address=caller.address,
            at=datetime.now(UTC),
        )
    )
