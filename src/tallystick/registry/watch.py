"""When to look at the journal: at once after a change of this process, and now and then for those of others."""

import asyncio
import time

from tallystick.registry.service import Registry

_LOOK_SECONDS = 0.2
"""Between two looks at a counter in memory: the store is asked only when there is a reason."""


class JournalWatch:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._seen = -1
        self._due = 0.0

    async def wait(self) -> None:
        """Returns when the journal may have grown."""
        while self._registry.changes == self._seen and time.monotonic() < self._due:
            await asyncio.sleep(_LOOK_SECONDS)
        # Before the journal is read: what is written meanwhile is a reason to read it again.
        self._seen = self._registry.changes
        self._due = time.monotonic() + self._registry.others_seconds
