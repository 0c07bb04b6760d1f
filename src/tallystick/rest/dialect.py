"""What each dialect's client offers: the same methods, whatever the paths and bodies are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID

from tallystick.finding import Finding
from tallystick.model.definition import SchemaDefinition
from tallystick.model.settings import Mode, Settings
from tallystick.model.strategy import Strategy
from tallystick.model.subject import SchemaId, Subject, Version
from tallystick.serde.ports import RegisteredSchema


@dataclass(frozen=True, slots=True)
class Compatibility:
    """A registry's own verdict: findings where it gives them, else what it says in its own words."""

    is_compatible: bool
    findings: tuple[Finding, ...] = ()
    messages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Config:
    """What is configured at a level. `more` holds what else the registry tells, under the names that it uses."""

    strategy: Strategy | None
    more: Mapping[str, Any] = field(default_factory=dict)


POLICY = ("strategy", "enforce", "payload_validation", "auto_update", "validation_enforced")
"""The settings of a policy, which `configure` takes."""


def asked(wanted: Settings) -> dict[str, Any]:
    return {name: value for name in POLICY if (value := getattr(wanted, name)) is not None}


class RegistryDialect(Protocol):
    """A `subject` of None stands for the whole registry. What a dialect lacks raises `Unsupported`."""

    name: str

    def register(self, subject: Subject, definition: SchemaDefinition, *, normalize: bool) -> RegisteredSchema: ...

    def look_up(
        self, subject: Subject, definition: SchemaDefinition, *, normalize: bool, deleted: bool
    ) -> RegisteredSchema: ...

    def by_id(self, schema_id: SchemaId, namespace: str) -> SchemaDefinition: ...

    def by_guid(self, guid: UUID) -> SchemaDefinition: ...

    def by_version(self, subject: Subject, version: Version | None, *, deleted: bool) -> RegisteredSchema: ...

    def versions(self, subject: Subject, *, deleted: bool) -> list[Version]: ...

    def subjects(self, prefix: str, *, deleted: bool, page_size: int) -> Iterator[Subject]: ...

    def check(self, subject: Subject, definition: SchemaDefinition, version: Version | None) -> Compatibility: ...

    def config(self, subject: Subject | None) -> Config:
        """What counts for a subject, or for the registry."""

    def set_strategy(self, subject: Subject | None, strategy: Strategy | None) -> None:
        """None takes it back."""

    def configure(self, subject: Subject | None, wanted: Settings) -> None:
        """Sets what is not None, and leaves the rest."""

    def mode(self, subject: Subject | None) -> Mode: ...

    def set_mode(self, subject: Subject | None, mode: Mode | None, *, force: bool) -> None:
        """None takes it back."""

    def delete_subject(self, subject: Subject, *, permanent: bool) -> list[Version]: ...

    def delete_version(self, subject: Subject, version: Version | None, *, permanent: bool) -> Version: ...
