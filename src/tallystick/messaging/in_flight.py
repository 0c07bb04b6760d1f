"""How much of a producer is on its way: a limit, and knowing when all of it has arrived."""

import asyncio
from collections import deque
from collections.abc import Sequence
from threading import Condition

from tallystick.errors import Closed, QueueFull
from tallystick.messaging.pending import Pending


class InFlight:
    """Counts messages by the flush that comes after them, so that a flush waits for what was sent before it alone."""

    def __init__(self, most: int, patience_s: float) -> None:
        self._most = most
        self._patience_s = patience_s
        self._room = Condition()
        self._total = 0
        self._counts = {0: 0}
        self._round = 0
        self._flushes: deque[tuple[int, Pending[None]]] = deque()
        self._is_closed = False

    def __len__(self) -> int:
        return self._total

    def enter(self) -> int:
        """Counts one more, and says what to leave with. Waits for room; in an event loop it raises `QueueFull`."""
        with self._room:
            if self._total >= self._most:
                self._wait_for_room()
            if self._is_closed:
                raise Closed("the producer is closed")
            self._total += 1
            self._counts[self._round] += 1
            return self._round

    def leave(self, entered: int) -> Sequence[Pending[None]]:
        """Makes room; the flushes that waited for this one alone are to be set once its answer is there."""
        with self._room:
            self._total -= 1
            self._counts[entered] -= 1
            if self._total == self._most - 1:
                self._room.notify_all()
            return self._flushed() if self._flushes else ()

    def flushed(self) -> Pending[None]:
        """Set once all that has entered until now has left."""
        flush: Pending[None] = Pending()
        with self._room:
            self._flushes.append((self._round, flush))
            self._round += 1
            self._counts[self._round] = 0
            done = self._flushed()
        for each in done:
            each.set(None)
        return flush

    def close(self) -> None:
        with self._room:
            self._is_closed = True
            self._room.notify_all()

    def _flushed(self) -> list[Pending[None]]:
        done = []
        while self._flushes and not self._counts[self._flushes[0][0]]:
            number, flush = self._flushes.popleft()
            del self._counts[number]
            done.append(flush)
        return done

    def _wait_for_room(self) -> None:
        told = f"{self._most} messages are on their way, the most that max_pending allows"
        if is_in_event_loop():
            raise QueueFull(f"{told}; await some of the sends, or allow more")
        has_room = self._room.wait_for(lambda: self._is_closed or self._total < self._most, self._patience_s)
        if not has_room:
            raise QueueFull(f"{told}, and none arrived within {self._patience_s:g} s; is the broker reachable?")


def is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
