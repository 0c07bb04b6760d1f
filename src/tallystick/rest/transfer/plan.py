"""What has to be done so that a registry holds what another one does, and what stands against it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Any

from tallystick.errors import InvalidSchema, UnknownSchemaType
from tallystick.formats import identity
from tallystick.model.definition import SchemaDefinition
from tallystick.model.subject import Subject, subject_of
from tallystick.rest.transfer.snapshot import CopiedVersion, Level, Snapshot


@dataclass(frozen=True, slots=True)
class Clash:
    """Why a version cannot be copied. `is_about_ids`: in another namespace it could be."""

    version: CopiedVersion
    reason: str
    is_about_ids: bool = False


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """`config` is what to send, None for nothing; `mode` likewise, and `takes_mode_back` removes it."""

    place: str
    config: Mapping[str, Any] | None
    mode: str | None
    takes_mode_back: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    registrations: tuple[CopiedVersion, ...]
    """Each after all that it refers to."""
    deletions: tuple[CopiedVersion, ...]
    """Soft ones; each before all that it refers to."""
    settings: tuple[SettingsChange, ...]
    unchanged: int
    clashes: tuple[Clash, ...]
    modes: Mapping[str, str | None] = field(default_factory=dict)
    """Those that the target has now, by place."""

    @property
    def is_empty(self) -> bool:
        return not (self.registrations or self.deletions or self.settings or self.clashes)

    @property
    def steps(self) -> int:
        return len(self.registrations) + len(self.deletions) + len(self.settings)


def plan(source: Snapshot, target: Snapshot) -> Plan:
    """`target` holds at least the namespaces that the source has."""
    there = _Content(target.versions)
    registrations, deletions, clashes, unchanged = [], [], [], 0
    for version in _dependencies_first(source.versions):
        clash = there.clash(version)
        if clash is not None:
            clashes.append(clash)
            continue
        known = there.at(version)
        if known is None:
            registrations.append(version)
            there.add(version)
        if version.is_deleted and not (known is not None and known.is_deleted):
            deletions.append(version)
        elif known is not None:
            unchanged += 1
    settings = tuple(_settings(source.levels, target.levels))
    modes = {place: level.mode for place, level in target.levels.items()}
    return Plan(tuple(registrations), tuple(reversed(deletions)), settings, unchanged, tuple(clashes), modes)


class _Content:
    """What the target holds, by all that has to be unique there."""

    def __init__(self, versions: Iterable[CopiedVersion]) -> None:
        self._by_place: dict[tuple[Subject, int], CopiedVersion] = {}
        self._by_id: dict[tuple[str, int], CopiedVersion] = {}
        self._by_identity: dict[tuple[str, bytes], CopiedVersion] = {}
        for version in versions:
            self.add(version)

    def add(self, version: CopiedVersion) -> None:
        namespace = version.subject.namespace
        self._by_place[version.subject, version.version] = version
        self._by_id.setdefault((namespace, version.id), version)
        self._by_identity.setdefault((namespace, _identity(version)), version)

    def at(self, version: CopiedVersion) -> CopiedVersion | None:
        return self._by_place.get((version.subject, version.version))

    def clash(self, version: CopiedVersion) -> Clash | None:
        namespace, own = version.subject.namespace, _identity(version)
        there = self.at(version)
        if there is not None and _identity(there) != own:
            return Clash(version, "the target has another schema as this version")
        holder = self._by_id.get((namespace, version.id))
        if holder is not None and _identity(holder) != own:
            return Clash(version, f"id {version.id} belongs to another schema there, {holder}", is_about_ids=True)
        same = self._by_identity.get((namespace, own))
        if same is not None and same.id != version.id:
            return Clash(version, f"the same schema has id {same.id} there, as {same}", is_about_ids=True)
        if there is not None and there.is_deleted and not version.is_deleted:
            return Clash(version, "the target has it as a deleted version, and a delete cannot be taken back")
        return None


def _identity(version: CopiedVersion) -> bytes:
    return _identity_of(version.definition)


@lru_cache(maxsize=10_000)
def _identity_of(definition: SchemaDefinition) -> bytes:
    try:
        return identity(definition)
    except (InvalidSchema, UnknownSchemaType):
        # Of a type or text that only other registries know: what it looks like is all that can be compared.
        return repr((definition.type, definition.text, definition.references)).encode()


def _dependencies_first(versions: Iterable[CopiedVersion]) -> list[CopiedVersion]:
    by_place = {(each.subject, each.version): each for each in versions}
    needed = {place: [wanted for wanted in referred_to(each) if wanted in by_place] for place, each in by_place.items()}
    try:
        return [by_place[place] for place in TopologicalSorter(needed).static_order()]
    except CycleError as e:
        circle = " → ".join(f"{subject} version {version}" for subject, version in e.args[1])
        raise InvalidSchema(f"references form a circle: {circle}") from e


def referred_to(version: CopiedVersion) -> list[tuple[Subject, int]]:
    around = version.subject.namespace
    return [(subject_of(each.subject, around), each.version) for each in version.definition.references]


def _settings(source: Mapping[str, Level], target: Mapping[str, Level]) -> Iterable[SettingsChange]:
    """What the source sets; what only the target sets stays. IMPORT that nobody set is left from a stopped import."""
    for place in sorted(source.keys() | target.keys()):
        wanted, there = source.get(place, Level()), target.get(place, Level())
        config = {name: value for name, value in wanted.config.items() if there.config.get(name) != value}
        mode = wanted.mode if wanted.mode != there.mode else None
        is_left_over = wanted.mode is None and there.mode == "IMPORT" and place != ""
        if config or mode or is_left_over:
            yield SettingsChange(place, config or None, mode, is_left_over)
