"""What serializers need of a registry."""

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from tallystick.model.definition import References, SchemaDefinition
from tallystick.model.subject import DEFAULT_NAMESPACE, SchemaId, Subject, Version


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A schema and where it stands in a registry. `id` and `guid` are None where the registry has none (Pulsar)."""

    subject: Subject
    version: Version
    id: SchemaId | None
    definition: SchemaDefinition
    guid: UUID | None = None


class SchemaLookup(Protocol):
    """Subjects are given by name, qualified (`:.context:name`) or not.

    Raises `NotFound` for what is not there, `IncompatibleSchema` with findings for what the registry refuses,
    `Unavailable` where it does not answer, and `Unsupported` where its API has no such thing.
    """

    def by_id(self, schema_id: int, namespace: str = DEFAULT_NAMESPACE) -> SchemaDefinition:
        """The definition with an id. It never changes, so it is asked for once."""

    def by_guid(self, guid: UUID) -> SchemaDefinition:
        """The definition with a GUID."""

    def by_version(self, subject: str, version: int | None = None) -> RegisteredSchema:
        """A version of a subject; None is the latest."""

    def register(self, subject: str, definition: SchemaDefinition, *, normalize: bool = False) -> RegisteredSchema:
        """Get or create: where the schema stands then."""

    def look_up(self, subject: str, definition: SchemaDefinition, *, normalize: bool = False) -> RegisteredSchema:
        """Where a schema stands that is registered already."""

    def referenced(self, definition: SchemaDefinition, namespace: str = DEFAULT_NAMESPACE) -> References:
        """Everything that a definition refers to, directly or through others."""
