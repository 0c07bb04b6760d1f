"""What the registry needs of a store.

A store runs functions in transactions: `change` for those that write, `read` for those that do not. The function may
run several times (a database may ask for a retry), so it does nothing but talk to its transaction. A change is
durable when `change` returns.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeVar
from uuid import UUID

from tallystick.model.definition import SchemaDefinition
from tallystick.model.pipeline import PipelineStatus
from tallystick.model.schema_type import SchemaType
from tallystick.model.settings import Settings
from tallystick.model.subject import SchemaId, Subject, Version

T = TypeVar("T")


class State(StrEnum):
    LIVE = "live"
    DELETED = "deleted"
    """Deleted softly: not listed unless asked for, still read by its id."""
    TOMBSTONE = "tombstone"
    """The number that a Pulsar delete took; never listed."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version of a subject, without its text."""

    subject: Subject
    version: Version
    schema_id: SchemaId
    state: State
    created_at: datetime
    properties: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredSchema:
    namespace: str
    id: SchemaId
    guid: UUID
    identity: bytes
    definition: SchemaDefinition


@dataclass(frozen=True, slots=True)
class SubjectRow:
    subject: Subject
    last_version: Version
    created_at: datetime
    modified_at: datetime
    about: dict[str, str]
    """What OpenSchema lets users say of a subject: app, description, status, coordinate …"""


@dataclass(frozen=True, slots=True)
class Page:
    offset: int = 0
    limit: int | None = None


ALL = Page()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line of the journal: who changed what, and the event that tells others."""

    kind: str
    """`schema.registered`, `version.deleted`, `settings.changed` …"""
    subject: Subject | None
    data: dict[str, object]
    principal: str
    address: str | None
    at: datetime
    id: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalFilter:
    """Which lines of the journal are wanted; None lets all pass."""

    subject: Subject | None = None
    principal: str | None = None
    kind: str | None = None
    since: datetime | None = None
    before: int | None = None
    """Only lines with a smaller id: where the page before ended."""


@dataclass(frozen=True, slots=True)
class PipelineRow:
    """What a pipeline last said of itself, who said it, and when."""

    name: str
    status: PipelineStatus
    principal: str
    updated_at: datetime


class Subjects(Protocol):
    def lock(self, subject: Subject, *, create: bool) -> SubjectRow | None:
        """The subject, kept from other changes until the transaction ends; None where it does not exist."""

    def history(self, subject: Subject) -> Sequence[VersionRow]:
        """Every version in any state, in order."""

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
        """Subjects that have a version in one of the states, by namespace (None: all) and name.

        With `described` also those that something is said about; with `types` only those with such a version.
        """

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
        """The versions of such subjects, or the last one of each, in the order of `names`."""

    def append(self, row: VersionRow) -> None: ...

    def set_state(self, subject: Subject, versions: Sequence[Version], state: State) -> None: ...

    def remove(self, subject: Subject, versions: Sequence[Version] | None) -> None:
        """Versions for ever, and schemas that nobody uses then; None: the whole subject."""

    def describe(self, subject: Subject, about: dict[str, str]) -> None: ...


class Schemas(Protocol):
    def put(
        self, namespace: str, definition: SchemaDefinition, identity: bytes, guid: UUID, id_: SchemaId | None
    ) -> SchemaId:
        """The id of a definition in its namespace: the one it has, or the given or next one."""

    def get(self, namespace: str, ids: Sequence[SchemaId]) -> Sequence[StoredSchema]: ...

    def types(self, namespace: str, ids: Sequence[SchemaId]) -> Mapping[SchemaId, SchemaType]: ...

    def by_identity(self, namespace: str, identity: bytes) -> StoredSchema | None: ...

    def by_guid(self, guid: UUID) -> Sequence[StoredSchema]: ...

    def versions_of(self, namespace: str, id_: SchemaId) -> Sequence[VersionRow]:
        """Where a schema is used, in any state."""

    def referring_to(self, subject: Subject, version: Version | None) -> Sequence[VersionRow]:
        """Versions, in any state, whose schema refers to this version (None: to any version) of a subject."""

    def last_id(self, namespace: str) -> int: ...


class SettingsTable(Protocol):
    def levels(self, subject: Subject) -> tuple[Settings | None, Settings | None, Settings | None]:
        """What is set for a subject, for its namespace and for the server; settled while the change lasts."""

    def get(self, subject: Subject | None, namespace: str | None) -> Settings | None:
        """What is set for a subject, else for a namespace, else (both None) for the server."""

    def put(self, subject: Subject | None, namespace: str | None, settings: Settings | None) -> None: ...

    def of_subjects(self, namespace: str | None) -> Mapping[Subject, Settings]:
        """What is set for single subjects of a namespace (None: of all)."""

    def namespaces(self) -> Sequence[str]: ...

    def remove_namespace(self, namespace: str) -> None: ...


class Journal(Protocol):
    def write(self, entry: Entry) -> None: ...

    def after(self, id_: int, limit: int, kinds: Collection[str] | None = None) -> Sequence[Entry]:
        """In order; only those of some kinds where they are given."""

    def newest(self, wanted: JournalFilter, limit: int) -> Sequence[Entry]:
        """The newest one first."""

    def last(self) -> int: ...


class Pipelines(Protocol):
    def put(self, row: PipelineRow) -> None:
        """In the place of what the pipeline said before."""

    def get(self, name: str) -> PipelineRow | None: ...

    def all(self) -> Sequence[PipelineRow]:
        """By name."""

    def remove(self, name: str) -> bool:
        """Whether it was there."""


class Transaction(Protocol):
    @property
    def subjects(self) -> Subjects: ...

    @property
    def schemas(self) -> Schemas: ...

    @property
    def settings(self) -> SettingsTable: ...

    @property
    def journal(self) -> Journal: ...

    @property
    def pipelines(self) -> Pipelines: ...


class SchemaStore(Protocol):
    others_seconds: float
    """How often to look for what other processes wrote: often where they share the store by design."""

    def change(self, function: Callable[[Transaction], T]) -> T: ...

    def read(self, function: Callable[[Transaction], T]) -> T: ...

    def close(self) -> None: ...
