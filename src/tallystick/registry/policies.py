"""Settings of a subject, a namespace or the server: read, change, take back."""

from collections.abc import Mapping

from tallystick.access import Action, Caller, is_allowed, require
from tallystick.errors import NotPermitted
from tallystick.model.settings import SERVER_DEFAULTS, Mode, Settings, effective
from tallystick.model.subject import Subject, subject_of
from tallystick.registry.ports import Page, State, Transaction
from tallystick.registry.service import Registry, record, require_writable, settings_of


def own(
    registry: Registry, subject: Subject | None, namespace: str | None = None, *, caller: Caller | None = None
) -> Settings:
    """What is set at just this level: of a subject, else of a namespace, else of the server.

    A caller needs the right to read the subject.
    """
    _require_readable(caller, subject)
    return registry.read(lambda tx: tx.settings.get(subject, namespace)) or Settings()


def in_force(
    registry: Registry,
    subject: Subject | None,
    namespace: str | None = None,
    defaults: Settings = SERVER_DEFAULTS,
    *,
    caller: Caller | None = None,
) -> Settings:
    """What counts at this level, with all that is set above it. A caller needs the right to read the subject."""
    _require_readable(caller, subject)
    return registry.read(lambda tx: _in_force(tx, subject, namespace, defaults))


def _in_force(tx: Transaction, subject: Subject | None, namespace: str | None, defaults: Settings) -> Settings:
    if subject is not None:
        return settings_of(tx, subject, defaults)
    levels = [tx.settings.get(None, namespace)] if namespace else []
    return effective([*(level or Settings() for level in [*levels, tx.settings.get(None, None)]), defaults])


def _require_readable(caller: Caller | None, subject: Subject | None) -> None:
    if caller is not None and subject is not None:
        require(caller, Action.READ, str(subject))


def aliases(registry: Registry, caller: Caller, namespace: str | None, prefix: str) -> dict[Subject, list[Subject]]:
    """The subjects that have aliases with these first letters, each with those that the caller may see."""
    found: dict[Subject, list[Subject]] = {}
    for alias, settings in registry.read(lambda tx: tx.settings.of_subjects(namespace)).items():
        if settings.alias and alias.name.startswith(prefix) and is_allowed(caller.principal, Action.READ, str(alias)):
            found.setdefault(subject_of(settings.alias, alias.namespace), []).append(alias)
    return found


def change(
    registry: Registry,
    caller: Caller,
    changes: Mapping[str, object],
    subject: Subject | None,
    namespace: str | None = None,
    *,
    force: bool = False,
    origin: str | None = None,
) -> Settings:
    """Sets some settings at a level and leaves the others; None takes one back. Answers what is set there then.

    A contract changes entry by entry. Where the mode takes no changes, only the mode itself can be changed. IMPORT
    mode wants an empty place: schemas that are there already could take an id that is to be imported. `origin` is the
    cluster that a change was made at, where that is another one.
    """
    place = Subject(namespace, "") if subject is None and namespace else subject
    require(caller, Action.CONFIGURE, "" if place is None else str(place))
    if subject is not None and changes.get("alias"):
        # Whoever reads or writes through the alias reads or writes its target.
        require(caller, Action.CONFIGURE, str(subject_of(str(changes["alias"]), subject.namespace)))

    def apply(tx: Transaction) -> Settings:
        if subject is not None:
            tx.subjects.lock(subject, create=True)
        now = _in_force(tx, subject, namespace, SERVER_DEFAULTS)
        if changes.keys() - {"mode"}:
            require_writable(now, place)
        if changes.get("mode") is Mode.IMPORT and now.mode is not Mode.IMPORT and not force:
            _require_empty(tx, subject, namespace)
        before = tx.settings.get(subject, namespace) or Settings()
        after = before.with_changes({**changes, **_contract(before, changes)})
        tx.settings.put(subject, namespace, None if after == Settings() else after)
        shown = {name: _shown(value) for name, value in changes.items()}
        made_at = {} if origin is None else {"origin": origin}
        record(tx, caller, "settings.changed", subject, namespace=namespace, changes=shown, **made_at)
        return after

    return registry.change(apply)


def take_back(
    registry: Registry, caller: Caller, names: tuple[str, ...], subject: Subject | None, namespace: str | None = None
) -> Settings:
    """Removes settings of a level, and answers what was set there before."""
    before = own(registry, subject, namespace)
    change(registry, caller, dict.fromkeys(names), subject, namespace)
    return before


def take_back_modes(registry: Registry, caller: Caller, namespace: str | None) -> None:
    """Removes the modes of all subjects of a namespace, or of the server (None)."""
    configured = registry.read(lambda tx: tx.settings.of_subjects(namespace))
    for subject, settings in configured.items():
        if settings.mode is not None:
            take_back(registry, caller, ("mode",), subject)


def _contract(before: Settings, changes: Mapping[str, object]) -> dict[str, object]:
    if "contract" not in changes:
        return {}
    entries = changes["contract"]
    merged = {**before.contract, **entries} if isinstance(entries, Mapping) else {}
    return {"contract": {name: value for name, value in merged.items() if value is not None}}


def _require_empty(tx: Transaction, subject: Subject | None, namespace: str | None) -> None:
    if subject is not None:
        found = any(row.state is State.LIVE for row in tx.subjects.history(subject))
    else:
        found = bool(tx.subjects.names(namespace, "", [State.LIVE], Page(0, 1)))
    if found:
        raise NotPermitted(
            "Cannot import since found existing subjects: delete them, import into another namespace, or use force"
        )


def _shown(value: object) -> object:
    return value if value is None or isinstance(value, bool | dict) else str(value)
