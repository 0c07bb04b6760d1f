"""A plan → the target registry."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType

from tallystick.errors import BadRequest, NotFound, TallystickError
from tallystick.model.subject import Subject, Version
from tallystick.rest.confluent import ConfluentRegistry
from tallystick.rest.transfer.plan import Plan, SettingsChange, referred_to
from tallystick.rest.transfer.progress import SILENT, Progress
from tallystick.rest.transfer.snapshot import CopiedVersion

_IMPORT = "IMPORT"
_AT_ONCE = 8


@dataclass(slots=True)
class Outcome:
    """How much was done, and what the target refused: its name and the target's reason."""

    registered: int = 0
    deleted: int = 0
    configured: int = 0
    failures: list[tuple[str, str]] = field(default_factory=list)


def carry_out(registry: ConfluentRegistry, plan: Plan, progress: Progress = SILENT) -> Outcome:
    """Goes on past what the target refuses, and stops where the target does not answer.

    Whatever has happened by then is part of the whole: a later run does the rest.
    """
    outcome = Outcome()
    with progress.task("Copying", plan.steps) as advance, ThreadPoolExecutor(_AT_ONCE) as pool:
        with _Importing(registry, plan) as importing:
            for group in _waves(plan.registrations):
                outcome.registered += sum(pool.map(partial(_register_all, outcome, importing, advance), group))
        for version in plan.deletions:
            outcome.deleted += _attempt(outcome, f"delete {version}", partial(_delete, registry, version))
            advance()
        # Configurations before modes: a place that takes no changes takes no configuration either.
        for change in plan.settings:
            name = f"settings of {change.place or 'the registry'}"
            outcome.configured += _attempt(outcome, name, partial(_configure, registry, change))
        for change in plan.settings:
            name = f"mode of {change.place or 'the registry'}"
            _attempt(outcome, name, partial(_set_mode, registry, change))
            advance()
    return outcome


def _waves(registrations: tuple[CopiedVersion, ...]) -> list[list[list[CopiedVersion]]]:
    """Versions that may be registered at once, each wave after those that it refers to; a list for each subject."""
    depth: dict[tuple[Subject, int], int] = {}
    waves: list[dict[Subject, list[CopiedVersion]]] = []
    for version in registrations:
        needed = [depth[place] for place in referred_to(version) if place in depth]
        own = depth[version.subject, version.version] = max(needed, default=-1) + 1
        if own == len(waves):
            waves.append({})
        waves[own].setdefault(version.subject, []).append(version)
    return [list(wave.values()) for wave in waves]


def _register_all(
    outcome: Outcome, importing: "_Importing", advance: Callable[[], None], versions: list[CopiedVersion]
) -> int:
    done = 0
    for version in versions:
        done += _attempt(outcome, str(version), partial(importing.register, version))
        advance()
    return done


def _attempt(outcome: Outcome, name: str, step: Callable[[], object]) -> bool:
    try:
        step()
    except (BadRequest, NotFound) as e:
        outcome.failures.append((name, e.message))
        return False
    return True


class _Importing:
    """Holds each subject in IMPORT mode from its first registration to its last, and no longer.

    Threads may share it, as long as each subject is one thread's at a time.
    """

    def __init__(self, registry: ConfluentRegistry, plan: Plan) -> None:
        self._registry = registry
        self._left = Counter(each.subject for each in plan.registrations)
        self._modes = plan.modes
        self._before: dict[Subject, str | None] = {}

    def __enter__(self) -> "_Importing":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for subject in list(self._before):
            try:
                self._close(subject)
            except TallystickError:
                if error is None:
                    raise
                return  # the target is out of reach; what took us here says why, and a later run tidies up

    def register(self, version: CopiedVersion) -> None:
        subject = version.subject
        if subject not in self._before:
            self._open(subject)
        try:
            self._registry.register(subject, version.definition, id_=version.id, version=version.version)
        finally:
            self._left[subject] -= 1
        if not self._left[subject]:
            self._close(subject)

    def _open(self, subject: Subject) -> None:
        before = self._modes.get(str(subject))
        self._registry.put_mode(str(subject), _IMPORT, force=True)
        self._before[subject] = None if before == _IMPORT else before

    def _close(self, subject: Subject) -> None:
        before = self._before.pop(subject)
        self._registry.put_mode(str(subject), before, force=True)


def _delete(registry: ConfluentRegistry, version: CopiedVersion) -> None:
    registry.delete_version(version.subject, Version(version.version))


def _configure(registry: ConfluentRegistry, change: SettingsChange) -> None:
    if change.config is not None:
        registry.put_config(change.place, change.config)


def _set_mode(registry: ConfluentRegistry, change: SettingsChange) -> None:
    if change.mode is not None or change.takes_mode_back:
        registry.put_mode(change.place, change.mode, force=True)
