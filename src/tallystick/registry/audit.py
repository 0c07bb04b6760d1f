"""Who changed what, and from where: the journal for those who answer for the registry."""

from collections.abc import Sequence

from tallystick.access import Action, Caller, require
from tallystick.registry.ports import Entry, JournalFilter
from tallystick.registry.service import Registry


def entries(registry: Registry, caller: Caller, wanted: JournalFilter, limit: int) -> tuple[Sequence[Entry], bool]:
    """The newest ones first, and whether there are more."""
    require(caller, Action.ADMINISTER)
    found = registry.read(lambda tx: tx.journal.newest(wanted, limit + 1))
    return found[:limit], len(found) > limit
