"""Snapshot: all that a registry holds, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.subject import DEFAULT_NAMESPACE, Subject, context_of, namespace_of, subject_of

SERVER = ""
"""The place of what is set for the whole registry."""


@dataclass(frozen=True, slots=True)
class CopiedVersion:
    subject: Subject
    version: int
    id: int
    definition: SchemaDefinition
    is_deleted: bool = False

    def __str__(self) -> str:
        return f"{self.subject} version {self.version}"


@dataclass(frozen=True, slots=True)
class Level:
    """What is set at one place, in Confluent's words; `config` is as it is written, without what says nothing."""

    config: Mapping[str, Any] = field(default_factory=dict)
    mode: str | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Versions by subject and number; levels by place: `SERVER`, `:.context:` or a subject."""

    versions: tuple[CopiedVersion, ...]
    levels: Mapping[str, Level]

    @property
    def namespaces(self) -> set[str]:
        return {each.subject.namespace for each in self.versions} | {namespace_of_place(place) for place in self.levels}

    def only(self, namespaces: set[str]) -> "Snapshot":
        return Snapshot(
            tuple(each for each in self.versions if each.subject.namespace in namespaces),
            {place: level for place, level in self.levels.items() if namespace_of_place(place) in namespaces},
        )


def place_of(namespace: str) -> str:
    return SERVER if namespace == DEFAULT_NAMESPACE else f":{context_of(namespace)}:"


def namespace_of_place(place: str) -> str:
    if place == SERVER:
        return DEFAULT_NAMESPACE
    if is_context(place):
        return namespace_of(place.strip(":"))
    return subject_of(place).namespace


def is_context(place: str) -> bool:
    return place.startswith(":.") and place.endswith(":")


def moved(snapshot: Snapshot, names: Mapping[str, str]) -> Snapshot:
    """The snapshot with its namespaces renamed, in references too."""
    if not names:
        return snapshot
    return Snapshot(
        tuple(_moved_version(each, names) for each in snapshot.versions),
        {_moved_place(place, names): _moved_level(place, level, names) for place, level in snapshot.levels.items()},
    )


def _moved_version(version: CopiedVersion, names: Mapping[str, str]) -> CopiedVersion:
    around = version.subject.namespace
    references = tuple(_moved_reference(each, around, names) for each in version.definition.references)
    definition = replace(version.definition, references=references)
    return replace(version, subject=_moved_subject(version.subject, names), definition=definition)


def _moved_subject(subject: Subject, names: Mapping[str, str]) -> Subject:
    return Subject(names.get(subject.namespace, subject.namespace), subject.name)


def _moved_reference(reference: Reference, around: str, names: Mapping[str, str]) -> Reference:
    """A name without a context goes where its schema goes."""
    if not reference.subject.startswith(":."):
        return reference
    target = _moved_subject(subject_of(reference.subject, around), names)
    # Inside another context a bare name would not mean the default one.
    name = f":.:{target.name}" if target.namespace == DEFAULT_NAMESPACE else str(target)
    return replace(reference, subject=name)


def _moved_place(place: str, names: Mapping[str, str]) -> str:
    if place == SERVER or is_context(place):
        namespace = namespace_of_place(place)
        return place_of(names.get(namespace, namespace))
    return str(_moved_subject(subject_of(place), names))


def _moved_level(place: str, level: Level, names: Mapping[str, str]) -> Level:
    """The server always has a mode; in the settings of a namespace the ordinary one goes without saying."""
    is_ordinary = place == SERVER and DEFAULT_NAMESPACE in names and level.mode == "READWRITE"
    return replace(level, mode=None) if is_ordinary else level
