"""The entries that a subscription is about to send: from memory where they are recent, else read from the log."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from tallystick.broker.log.values import Entry
from tallystick.errors import TallystickError

if TYPE_CHECKING:
    from tallystick.broker.topic import Topic

_MOST_ENTRIES = 200
_MOST_BYTES = 1024 * 1024
_PAUSE_SECONDS = 1.0
"""Before the next try where the log cannot be read."""


class Window:
    def __init__(self, topic: "Topic", on_read: Callable[[], None]) -> None:
        self._topic = topic
        self._on_read = on_read
        self._read: dict[int, Entry] = {}
        self._reading: asyncio.Task[None] | None = None

    def get(self, number: int) -> Entry | None:
        """The entry, or None after which it is read; `on_read` is called when it is there."""
        found = self._topic.recent(number) or self._read.get(number)
        if found is None and self._reading is None:
            self._reading = asyncio.get_running_loop().create_task(self._fetch(number))
        return found

    async def _fetch(self, number: int) -> None:
        try:
            entries = await self._topic.read(number, _MOST_ENTRIES, _MOST_BYTES)
            self._read = {entry.number: entry for entry in entries}
        except TallystickError:
            await asyncio.sleep(_PAUSE_SECONDS)
        finally:
            self._reading = None
        self._on_read()

    def close(self) -> None:
        self._read = {}
        if self._reading is not None:
            self._reading.cancel()
