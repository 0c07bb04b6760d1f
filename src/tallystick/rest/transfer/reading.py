"""A live registry → snapshot, over Confluent's API."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from tallystick.errors import InvalidArgument, NotFound, SubjectNotFound, Unsupported
from tallystick.model.subject import Subject, Version, namespace_of, subject_of
from tallystick.rest.confluent import ConfluentRegistry, level_in
from tallystick.rest.transfer.progress import SILENT, Progress
from tallystick.rest.transfer.snapshot import SERVER, CopiedVersion, Level, Snapshot, place_of
from tallystick.serde.ports import RegisteredSchema

A = TypeVar("A")
B = TypeVar("B")

_AT_ONCE = 8
_NO_SUBJECT = "tallystick-asks-for-a-subject-that-is-not-there"


def read(registry: ConfluentRegistry, namespaces: set[str] | None = None, progress: Progress = SILENT) -> Snapshot:
    """All versions with their deleted flags, and all settings; of some namespaces, or of all (None)."""
    listed = sorted(registry.subjects(deleted=True))
    subjects = [subject for subject in listed if namespaces is None or subject.namespace in namespaces]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        versions = _at_once(registry, set(subjects))
        if versions is None:
            histories = _each(pool, lambda each: _history(registry, each), subjects, "Reading subjects", progress)
            versions = [version for history in histories for version in history]
        places = _places(registry, subjects, namespaces)
        levels = _levels(registry, pool, places, progress)
    return Snapshot(tuple(versions), {place: level for place, level in levels if level != Level()})


def _at_once(registry: ConfluentRegistry, subjects: set[Subject]) -> list[CopiedVersion] | None:
    """The versions from the registry's list of all; None where it has no such list, or one that is not whole."""
    try:
        found = {(each.subject, each.version): each for each in registry.listed_versions(deleted=True)}
        live = {(each.subject, each.version) for each in registry.listed_versions(deleted=False)}
    except (NotFound, Unsupported, InvalidArgument):
        return None
    if not subjects <= {subject for subject, _ in found}:
        return None
    return [
        CopiedVersion(each.subject, each.version, _id(each), each.definition, place not in live)
        for place, each in sorted(found.items(), key=lambda item: item[0])
        if each.subject in subjects
    ]


def _each(
    pool: ThreadPoolExecutor, function: Callable[[A], B], values: Iterable[A], title: str, progress: Progress
) -> Iterator[B]:
    wanted = list(values)
    with progress.task(title, len(wanted)) as advance:
        for result in pool.map(function, wanted):
            advance()
            yield result


def _history(registry: ConfluentRegistry, subject: Subject) -> list[CopiedVersion]:
    live = set(_listed(registry, subject, deleted=False))
    numbers = sorted({*_listed(registry, subject, deleted=True), *live})
    return [_version(registry, subject, number, number not in live) for number in numbers]


def _listed(registry: ConfluentRegistry, subject: Subject, *, deleted: bool) -> list[Version]:
    try:
        return registry.versions(subject, deleted=deleted)
    except SubjectNotFound:
        return []


def _version(registry: ConfluentRegistry, subject: Subject, number: Version, is_deleted: bool) -> CopiedVersion:
    found = registry.by_version(subject, number, deleted=True)
    return CopiedVersion(subject, number, _id(found), found.definition, is_deleted)


def _id(found: RegisteredSchema) -> int:
    assert found.id is not None, "Confluent's API has ids"
    return found.id


def _places(registry: ConfluentRegistry, subjects: list[Subject], namespaces: set[str] | None) -> list[str]:
    """Contexts come from the subjects, too: some registries do not list them."""
    known = {namespace_of(context.strip(":")) for context in registry.contexts()}
    wanted = known | {subject.namespace for subject in subjects}
    contexts = {place_of(each) for each in wanted if namespaces is None or each in namespaces}
    named = {str(subject) for subject in subjects}
    aliases = {alias for alias in registry.aliases() if namespaces is None or subject_of(alias).namespace in namespaces}
    return sorted(contexts | named | aliases)


def _levels(
    registry: ConfluentRegistry, pool: ThreadPoolExecutor, places: list[str], progress: Progress
) -> list[tuple[str, Level]]:
    """Some registries answer for every name, set or not: with them, what is set for all is not set for one."""
    server = _level(registry, SERVER)
    unset = server if _level(registry, _NO_SUBJECT) != Level() else Level()

    def level(place: str) -> tuple[str, Level]:
        if place == SERVER:
            return place, server
        found = _level(registry, place)
        config = {} if found.config == unset.config else found.config
        return place, Level(config, None if found.mode == unset.mode else found.mode)

    return list(_each(pool, level, places, "Reading settings", progress))


def _level(registry: ConfluentRegistry, place: str) -> Level:
    return Level(as_written(_or_nothing(registry.config_at, place) or {}), _or_nothing(registry.mode_at, place))


def _or_nothing(ask: Callable[[str], B], place: str) -> B | None:
    """None where nothing is set, and where the registry has no such settings at all."""
    try:
        return ask(place)
    except (NotFound, Unsupported):
        return None


def as_written(config: dict[str, Any]) -> dict[str, Any]:
    """Settings as they are sent, without what says nothing."""
    more = {name: _said(value) for name, value in config.items() if name not in ("compatibilityLevel", "compatibility")}
    found = {"compatibility": level_in(config), **more}
    return {name: value for name, value in sorted(found.items()) if value not in (None, {}, [])}


def _said(value: Any) -> Any:
    """Null and empty are the same to a registry."""
    if not isinstance(value, dict):
        return value
    inner = {key: _said(entry) for key, entry in value.items()}
    return {key: entry for key, entry in inner.items() if entry not in (None, {}, [])}
