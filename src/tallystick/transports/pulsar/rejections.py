"""Messages that were rejected come again after a while."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from threading import Lock

Entry = tuple[int, int]
"""Ledger and entry."""


class Rejections:
    """`add` may be called in any thread. All wait equally long, so the first that came is the first that is due."""

    def __init__(self, delay_s: float, redeliver: Callable[[Sequence[Entry]], None]) -> None:
        self._delay_s = delay_s
        self._redeliver = redeliver
        self._loop = asyncio.get_running_loop()
        self._lock = Lock()
        self._waiting: deque[tuple[float, Entry]] = deque()
        self._due: asyncio.TimerHandle | None = None
        self._is_closed = False

    def add(self, ledger: int, entry: int) -> None:
        with self._lock:
            is_first = not self._waiting
            if not self._is_closed:
                self._waiting.append((time.monotonic() + self._delay_s, (ledger, entry)))
                if is_first:
                    self._loop.call_soon_threadsafe(self._set_timer)

    def _set_timer(self) -> None:
        with self._lock:
            if self._waiting and self._due is None:
                wait_s = max(0.0, self._waiting[0][0] - time.monotonic())
                self._due = self._loop.call_later(wait_s, self._ring)

    def _ring(self) -> None:
        self._due = None
        now, due = time.monotonic(), set()
        with self._lock:
            while self._waiting and self._waiting[0][0] <= now:
                due.add(self._waiting.popleft()[1])
        if due:
            self._redeliver(sorted(due))
        self._set_timer()

    def clear(self) -> None:
        """All come again anyway."""
        with self._lock:
            self._waiting.clear()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._waiting.clear()
        if self._due is not None:
            self._due.cancel()
