"""The journal as it grows: wakes those who follow it, and has answers forgotten that are no longer true.

Every server of a database reads the same journal, so it also learns what the others did.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

from tallystick.access import Caller
from tallystick.errors import TallystickError, Unavailable
from tallystick.registry import events
from tallystick.registry.deletion import REMOVALS
from tallystick.registry.ports import Entry, Transaction
from tallystick.registry.service import Registry
from tallystick.registry.watch import JournalWatch
from tallystick.server.prepared import PreparedAnswers

log = logging.getLogger("tallystick.feed")

_PAUSE_SECONDS = 2.0
"""Between two tries where the store does not answer."""
_HEARTBEAT_SECONDS = 15.0
_PAGE = 200
MOST_STREAMS = 64
_MOST_BYTES = 4_000_000
"""After which a stream ends. The HTTP server keeps what a client does not read, so it must not become more; clients
come back by themselves and say where they were."""


class Feed:
    def __init__(self, registry: Registry, prepared: PreparedAnswers, heartbeat_seconds: float = _HEARTBEAT_SECONDS):
        self._registry = registry
        self._prepared = prepared
        self._heartbeat_seconds = heartbeat_seconds
        self._last: int | None = None
        self._grown = asyncio.Event()
        self._is_closed = False
        self.streams = 0

    async def run(self) -> None:
        """Reads on until cancelled."""
        watch = JournalWatch(self._registry)
        while True:
            await watch.wait()
            try:
                last, is_removed = await asyncio.to_thread(self._registry.read, self._new)
            except TallystickError as e:
                log.warning("the journal cannot be read", extra={"reason": e.message})
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            if is_removed:
                self._prepared.forget()
                self._registry.parsed.forget()
            if last != self._last:
                self._last = last
                self._wake()

    def _new(self, tx: Transaction) -> tuple[int, bool]:
        """Where the journal ends now, and whether something was deleted for ever since the last time."""
        last, before = tx.journal.last(), self._last
        is_removed = before not in (None, last) and bool(tx.journal.after(before or 0, 1, REMOVALS))
        return last, is_removed

    def _wake(self) -> None:
        self._grown.set()
        self._grown = asyncio.Event()

    def close(self) -> None:
        """Ends all streams."""
        self._is_closed = True
        self._wake()

    async def follow(self, caller: Caller, after: int | None) -> AsyncIterator[bytes]:
        """Server-sent events from after an event, or from now on."""
        self.streams += 1
        try:
            cursor = await asyncio.to_thread(events.last, self._registry) if after is None else after
            yield b"retry: 500\n\n"
            size = 0
            while not self._is_closed and size < _MOST_BYTES:
                grown = self._grown
                entries, cursor_then = await asyncio.to_thread(events.page, self._registry, caller, cursor, _PAGE)
                for entry in entries:
                    event = event_of(entry)
                    size += len(event)
                    yield event
                if cursor_then != cursor:
                    cursor = cursor_then
                    continue
                try:
                    await asyncio.wait_for(grown.wait(), self._heartbeat_seconds)
                except TimeoutError:
                    yield b": still here\n\n"
        except Unavailable:
            # The client comes back by itself and says where it was.
            return
        finally:
            self.streams -= 1


def too_many() -> Unavailable:
    return Unavailable(f"{MOST_STREAMS} clients follow the events already; try again later")


def event_of(entry: Entry) -> bytes:
    """A CloudEvent in JSON as one server-sent event."""
    body: dict[str, Any] = {
        "specversion": "1.0",
        "id": str(entry.id),
        "source": "/tallystick/registry",
        "type": f"tallystick.{entry.kind}",
        "time": entry.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "datacontenttype": "application/json",
        "data": entry.data,
    }
    if entry.subject is not None:
        body["subject"] = str(entry.subject)
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return f"id: {entry.id}\nevent: {body['type']}\ndata: {text}\n\n".encode()
