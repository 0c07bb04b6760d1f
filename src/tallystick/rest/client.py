"""RegistryClient: one client for every registry."""

from collections.abc import Iterator
from datetime import datetime
from threading import Lock
from types import TracebackType
from uuid import UUID

from tallystick.errors import InvalidArgument
from tallystick.model.definition import Reference, References, SchemaDefinition
from tallystick.model.pipeline import PipelineStatus
from tallystick.model.settings import Mode, Settings
from tallystick.model.strategy import Strategy
from tallystick.model.subject import DEFAULT_NAMESPACE, SchemaId, Subject, Version, subject_of
from tallystick.rest import audit, pipelines
from tallystick.rest.audit import AuditEntry
from tallystick.rest.cache import Cache
from tallystick.rest.connection import Connection, Retries
from tallystick.rest.credentials import Credentials, split_url
from tallystick.rest.detection import DIALECTS, detect
from tallystick.rest.dialect import Compatibility, Config, RegistryDialect
from tallystick.rest.pipelines import ReportedPipeline
from tallystick.serde.ports import RegisteredSchema


class RegistryClient:
    """A registry by its URL, in any of the three dialects; "auto" asks the server once which one it speaks.

    Subjects are given by name, qualified (`:.context:name`) or not; for Pulsar the name is the topic's. A user and a
    password may stand in the URL. Threads may share a client. Every method raises our own errors: `NotFound`,
    `IncompatibleSchema` with findings, `Unavailable` after some retries, `Unsupported` where the dialect has no such
    thing.
    """

    def __init__(
        self,
        url: str,
        dialect: str = "auto",
        *,
        credentials: Credentials | None = None,
        timeout_s: float = 10.0,
        retries: Retries | None = None,
        cache_size: int = 10_000,
    ) -> None:
        if dialect not in DIALECTS:
            raise InvalidArgument("dialect", f"{dialect!r} is none; use one of {', '.join(DIALECTS)}")
        self.url, self._credentials = split_url(url, credentials)
        self._connection = Connection(self.url, self._credentials, timeout_s, retries)
        self._wanted = dialect
        self._found: RegistryDialect | None = None
        self._detecting = Lock()
        self._by_id: Cache[tuple[str, int], SchemaDefinition] = Cache(cache_size)
        self._by_guid: Cache[UUID, SchemaDefinition] = Cache(cache_size)
        self._by_reference: Cache[tuple[Subject, int], SchemaDefinition] = Cache(cache_size)

    def __enter__(self) -> "RegistryClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    @property
    def registry(self) -> RegistryDialect:
        """The client of the dialect that the server speaks."""
        with self._detecting:
            if self._found is None:
                self._found = detect(self._connection, self._wanted)
            return self._found

    @property
    def dialect(self) -> str:
        return self.registry.name

    def register(self, subject: str, definition: SchemaDefinition, *, normalize: bool = False) -> RegisteredSchema:
        """Get or create. Raises `IncompatibleSchema` with the registry's findings where it gives some."""
        return self.registry.register(subject_of(subject), definition, normalize=normalize)

    def look_up(
        self, subject: str, definition: SchemaDefinition, *, normalize: bool = False, deleted: bool = False
    ) -> RegisteredSchema:
        return self.registry.look_up(subject_of(subject), definition, normalize=normalize, deleted=deleted)

    def by_id(self, schema_id: int, namespace: str = DEFAULT_NAMESPACE) -> SchemaDefinition:
        """The definition with an id. It never changes, so it is asked for once and kept."""
        return self._by_id.get((namespace, schema_id), lambda: self.registry.by_id(SchemaId(schema_id), namespace))

    def by_guid(self, guid: UUID) -> SchemaDefinition:
        """The definition with a GUID, which is the same in every namespace."""
        return self._by_guid.get(guid, lambda: self.registry.by_guid(guid))

    def by_version(self, subject: str, version: int | None = None, *, deleted: bool = False) -> RegisteredSchema:
        """A version of a subject; None is the latest."""
        number = None if version is None else Version(version)
        return self.registry.by_version(subject_of(subject), number, deleted=deleted)

    def versions(self, subject: str, *, deleted: bool = False) -> list[Version]:
        return self.registry.versions(subject_of(subject), deleted=deleted)

    def subjects(self, prefix: str = "", *, deleted: bool = False, page_size: int = 1000) -> Iterator[str]:
        """Names of subjects, qualified where they are not in the default namespace; read page by page."""
        for subject in self.registry.subjects(prefix, deleted=deleted, page_size=page_size):
            yield str(subject)

    def check(self, subject: str, definition: SchemaDefinition, version: int | None = None) -> Compatibility:
        """The registry's own verdict: against a version, or (None) as the subject's policy says."""
        return self.registry.check(subject_of(subject), definition, None if version is None else Version(version))

    def config(self, subject: str | None = None) -> Config:
        """What counts for a subject, or for the registry."""
        return self.registry.config(_level(subject))

    def set_strategy(self, subject: str | None, strategy: Strategy | None) -> None:
        """None takes the strategy back: the next level's counts then."""
        self.registry.set_strategy(_level(subject), strategy)

    def configure(self, subject: str | None, wanted: Settings) -> None:
        """Sets the policy of a subject, or of the registry: what is None stays as it is.

        Confluent's API carries strategy, `enforce`, payload validation, auto-update and validation enforced to our
        own servers. Other registries and the other two APIs have fewer of them, and raise `Unsupported`.
        """
        self.registry.configure(_level(subject), wanted)

    def mode(self, subject: str | None = None) -> Mode:
        return self.registry.mode(_level(subject))

    def set_mode(self, subject: str | None, mode: Mode | None, *, force: bool = False) -> None:
        """None takes the mode back. `force` sets IMPORT where there are schemas already."""
        self.registry.set_mode(_level(subject), mode, force=force)

    def delete_subject(self, subject: str, *, permanent: bool = False) -> list[Version]:
        """The versions that are gone. A permanent delete comes after one that is not, except on Pulsar."""
        return self.registry.delete_subject(subject_of(subject), permanent=permanent)

    def delete_version(self, subject: str, version: int | None = None, *, permanent: bool = False) -> Version:
        number = None if version is None else Version(version)
        return self.registry.delete_version(subject_of(subject), number, permanent=permanent)

    def audit(
        self,
        *,
        subject: str | None = None,
        principal: str | None = None,
        kind: str | None = None,
        since: datetime | None = None,
    ) -> Iterator[AuditEntry]:
        """Every change, the newest first; our own servers tell it to those who may administer them."""
        return audit.entries(self._connection, subject, principal, kind, since)

    def report(self, pipeline: str, status: PipelineStatus) -> None:
        """What a pipeline says of itself, in the place of what it said before; our own servers keep it."""
        pipelines.report(self._connection, pipeline, status)

    def pipelines(self) -> list[ReportedPipeline]:
        """What every pipeline last said, by name."""
        return pipelines.every(self._connection)

    def pipeline(self, pipeline: str) -> ReportedPipeline:
        """What a pipeline last said. Raises `NotFound` where it has not said anything."""
        return pipelines.status(self._connection, pipeline)

    def forget_pipeline(self, pipeline: str) -> None:
        """For one that will not come back."""
        pipelines.forget(self._connection, pipeline)

    def referenced(self, definition: SchemaDefinition, namespace: str = DEFAULT_NAMESPACE) -> References:
        """Everything that a definition refers to, directly or through others."""
        found: dict[Reference, SchemaDefinition] = {}
        waiting = [(reference, namespace) for reference in definition.references]
        while waiting:
            reference, around = waiting.pop()
            if reference in found:
                continue
            target = subject_of(reference.subject, around)
            found[reference] = self._version_of(target, reference.version)
            waiting.extend((inner, target.namespace) for inner in found[reference].references)
        return found

    def _version_of(self, subject: Subject, version: int) -> SchemaDefinition:
        # What is referred to cannot be deleted for ever, so its text stays what it is; it may be deleted softly.
        def ask() -> SchemaDefinition:
            return self.registry.by_version(subject, Version(version), deleted=True).definition

        return self._by_reference.get((subject, version), ask)


def _level(subject: str | None) -> Subject | None:
    return None if subject is None else subject_of(subject)
