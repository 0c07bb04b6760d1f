"""What happened, in order, for whoever wants to follow it."""

from collections.abc import Sequence

from tallystick.access import Action, Caller, is_allowed
from tallystick.registry.ports import Entry
from tallystick.registry.service import Registry


def after(registry: Registry, caller: Caller, id_: int, limit: int = 500) -> Sequence[Entry]:
    """The changes after one, as far as the caller may see them."""
    entries = registry.read(lambda tx: tx.journal.after(id_, limit))
    return [e for e in entries if e.subject is None or is_allowed(caller.principal, Action.READ, str(e.subject))]


def page(registry: Registry, caller: Caller, id_: int, limit: int = 500) -> tuple[Sequence[Entry], int]:
    """The changes after one that the caller may see, and the last one that was looked at: read on from there."""
    entries = registry.read(lambda tx: tx.journal.after(id_, limit))
    seen = [e for e in entries if _is_visible(e, caller)]
    return seen, entries[-1].id if entries else id_


def _is_visible(entry: Entry, caller: Caller) -> bool:
    return is_allowed(caller.principal, Action.READ, "" if entry.subject is None else str(entry.subject))


def last(registry: Registry) -> int:
    return registry.read(lambda tx: tx.journal.last())
