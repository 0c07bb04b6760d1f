"""All errors of Tallystick.

TallystickError
├── BadRequest              the caller can mend it
│   ├── InvalidSchema       a definition that cannot be parsed, with its place
│   ├── UnknownSchemaType   no format is installed for this type
│   ├── IncompatibleSchema  a schema that the strategy refuses, with findings
│   ├── InvalidRecord       a value or payload that does not fit its schema, with findings
│   ├── SchemaSerializationError   a schema of a third-party registry could not encode or decode
│   ├── InvalidPipeline     a pipeline file that cannot be run, with all its findings
│   ├── InvalidArgument     a version, mode, strategy or other argument that is none
│   ├── SchemaTooLarge      a definition above the limit
│   ├── NotPermitted        the mode of the subject, namespace or server does not allow it
│   ├── ReferenceExists     what other schemas refer to cannot be deleted
│   ├── SchemaIdTaken       an import's id belongs to another definition
│   ├── NamespaceNotEmpty   only an empty namespace can be deleted
│   ├── AlreadyExists       a tenant, namespace, topic or subscription of that name is there
│   ├── Busy                another producer or consumer is attached, or a topic has some
│   ├── Closed              the client, producer or consumer was closed
│   └── Unsupported         the registry, broker or format that is asked has no such thing
├── NotFound                what was asked for does not exist
│   ├── NamespaceNotFound, SubjectNotFound, VersionNotFound, SchemaNotFound, SettingsNotFound
│   ├── TenantNotFound, TopicNotFound, SubscriptionNotFound
│   └── AlreadyDeleted, NotDeletedYet    soft and permanent deletion in the wrong order
├── Unauthenticated         nobody, or nobody known, asks
├── Forbidden               somebody known asks, and may not
└── Unavailable             a store, broker or registry does not answer; worth a retry
    ├── TimedOut            no answer came in time; what was asked may still have happened
    └── QueueFull           too much is on its way already

Each class has a stable `code` for programs and a `transient` flag that says whether the same call may succeed
later. What an error knows are attributes; the message is for people. Errors survive pickling, so that they
reach the driver of a Spark job whole.
"""

from collections.abc import Sequence
from typing import ClassVar

from tallystick.finding import Finding, Place


class TallystickError(Exception):
    code: ClassVar[str] = "internal"
    transient: ClassVar[bool] = False

    def __init__(self, message: str, **facts: object) -> None:
        super().__init__(message)
        self.message = message
        self.__dict__.update(facts)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.args, self.__dict__)


def _restore(cls: type[TallystickError], args: tuple[object, ...], facts: dict[str, object]) -> TallystickError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(facts)
    return error


class BadRequest(TallystickError):
    code = "bad-request"


class InvalidSchema(BadRequest):
    """A definition that cannot be parsed. `place` says where, `fix` what to do where that is known."""

    code = "invalid-schema"

    def __init__(self, reason: str, place: Place | None = None, fix: str | None = None) -> None:
        where = f" at {place}" if place is not None else ""
        hint = f"; {fix}" if fix is not None else ""
        super().__init__(f"invalid schema{where}: {reason}{hint}")
        self.reason = reason
        self.place = place
        self.fix = fix


class UnknownSchemaType(BadRequest):
    code = "unknown-schema-type"

    def __init__(self, schema_type: str, known: Sequence[str]) -> None:
        super().__init__(f"schema type {schema_type!r} is not known; known are {', '.join(sorted(known))}")
        self.schema_type = schema_type


class IncompatibleSchema(BadRequest):
    code = "incompatible-schema"

    def __init__(self, message: str, findings: Sequence[Finding]) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class InvalidRecord(BadRequest):
    code = "invalid-record"

    def __init__(self, message: str, findings: Sequence[Finding]) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class SchemaSerializationError(BadRequest):
    """What `Schema.encode` and `Schema.decode` of third-party registries raise. `findings` where there are some."""

    code = "schema-serialization"

    def __init__(self, message: str, findings: Sequence[Finding] = (), **facts: object) -> None:
        super().__init__(message, **facts)
        self.findings = tuple(findings)


class InvalidPipeline(BadRequest):
    """`findings` is all that is wrong with a pipeline file, in the order of its lines; `file` is None for a text."""

    code = "invalid-pipeline"

    def __init__(self, file: str | None, findings: Sequence[Finding]) -> None:
        super().__init__("\n".join(f"{file or 'pipeline'}{_line(one)}: {one.message}; {one.fix}" for one in findings))
        self.file = file
        self.findings = tuple(findings)


def _line(finding: Finding) -> str:
    """As compilers write places, so that editors find them."""
    place = finding.new
    return "" if place is None or place.line is None else f":{place.line}:{place.column}"


class InvalidArgument(BadRequest):
    """`argument` names it: version, mode, strategy, subject …"""

    code = "invalid-argument"

    def __init__(self, argument: str, reason: str) -> None:
        super().__init__(f"{argument}: {reason}")
        self.argument = argument


class SchemaTooLarge(BadRequest):
    code = "schema-too-large"

    def __init__(self, size_bytes: int, limit_bytes: int) -> None:
        super().__init__(f"the schema has {size_bytes} bytes, more than the {limit_bytes} that are allowed")


class NotPermitted(BadRequest):
    code = "not-permitted"


class ReferenceExists(BadRequest):
    code = "reference-exists"

    def __init__(self, target: str, referring: Sequence[str]) -> None:
        super().__init__(f"{target} is referred to by {', '.join(referring)}; delete those first")
        self.referring = tuple(referring)


class SchemaIdTaken(BadRequest):
    code = "schema-id-taken"

    def __init__(self, namespace: str, schema_id: int, reason: str) -> None:
        super().__init__(
            f"schema id {schema_id} cannot be used in namespace {namespace}: {reason}; import into another namespace"
        )
        self.schema_id = schema_id


class NamespaceNotEmpty(BadRequest):
    code = "namespace-not-empty"

    def __init__(self, namespace: str) -> None:
        super().__init__(f"namespace {namespace} has subjects; delete them first")


class AlreadyExists(BadRequest):
    code = "already-exists"


class Busy(BadRequest):
    """`what` is the part that is taken: producer, consumer, subscription or topic."""

    code = "busy"

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(reason, what=what)


class Closed(BadRequest):
    code = "closed"


class Unsupported(BadRequest):
    code = "unsupported"


class NotFound(TallystickError):
    code = "not-found"


class NamespaceNotFound(NotFound):
    code = "namespace-not-found"

    def __init__(self, namespace: str) -> None:
        super().__init__(f"Namespace {namespace} not found")


class SubjectNotFound(NotFound):
    code = "subject-not-found"

    def __init__(self, subject: str) -> None:
        super().__init__(f"Subject '{subject}' not found.", subject=subject)


class VersionNotFound(NotFound):
    code = "version-not-found"

    def __init__(self, version: int | str) -> None:
        super().__init__(f"Version {version} not found.", version=version)


class TenantNotFound(NotFound):
    code = "tenant-not-found"

    def __init__(self, tenant: str) -> None:
        super().__init__(f"Tenant {tenant} not found")


class TopicNotFound(NotFound):
    code = "topic-not-found"

    def __init__(self, topic: str) -> None:
        super().__init__(f"Topic {topic} not found", topic=topic)


class SubscriptionNotFound(NotFound):
    code = "subscription-not-found"

    def __init__(self, subscription: str, topic: str) -> None:
        super().__init__(f"Subscription {subscription} of topic {topic} not found", subscription=subscription)


class SchemaNotFound(NotFound):
    code = "schema-not-found"

    def __init__(self, what: str = "Schema") -> None:
        super().__init__(f"{what} not found")


class SettingsNotFound(NotFound):
    """`kind` is "compatibility" or "mode"."""

    code = "settings-not-found"

    def __init__(self, kind: str, subject: str) -> None:
        super().__init__(f"Subject '{subject}' does not have subject-level {kind} configured", kind=kind)


class AlreadyDeleted(NotFound):
    """It is deleted softly already; only a permanent delete is left. `version` is None for a whole subject."""

    code = "already-deleted"

    def __init__(self, subject: str, version: int | None = None) -> None:
        which = f"Subject '{subject}'" + ("" if version is None else f" Version {version}")
        super().__init__(
            f"{which} was soft deleted. Set permanent=true to delete permanently", subject=subject, version=version
        )


class NotDeletedYet(NotFound):
    """A permanent delete comes after a soft one. `version` is None for a whole subject."""

    code = "not-deleted-yet"

    def __init__(self, subject: str, version: int | None = None) -> None:
        which = f"Subject '{subject}'" + ("" if version is None else f" Version {version}")
        super().__init__(
            f"{which} was not deleted first before being permanently deleted", subject=subject, version=version
        )


class Unauthenticated(TallystickError):
    code = "unauthenticated"


class Forbidden(TallystickError):
    code = "forbidden"


class Unavailable(TallystickError):
    code = "unavailable"
    transient = True


class TimedOut(Unavailable):
    code = "timed-out"


class QueueFull(Unavailable):
    code = "queue-full"
