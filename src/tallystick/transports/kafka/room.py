"""How much may be fetched ahead of the program."""

from collections import deque
from threading import Condition


class Room:
    """Counts messages, and their bytes, that were delivered and not taken yet."""

    def __init__(self, most_messages: int, most_bytes: int) -> None:
        self._most = max(1, most_messages)
        self._most_bytes = most_bytes
        self._changed = Condition()
        self._messages = 0
        self._bytes = 0
        self._batches: deque[list[int]] = deque()
        """Messages that are left of each batch, and the bytes of one of them."""
        self._waits_for = -1

    def left(self) -> int:
        """Messages that may be delivered now."""
        return 0 if self._bytes >= self._most_bytes else max(0, self._most - self._messages)

    def fill(self, messages: int, size_bytes: int) -> None:
        with self._changed:
            self._messages += messages
            self._bytes += size_bytes
            self._batches.append([messages, size_bytes])

    def taken(self, messages: int) -> None:
        """In the order of delivery."""
        with self._changed:
            while messages > 0 and self._batches:
                messages -= self._take_from(self._batches[0], messages)
            if self._messages <= self._waits_for:
                self._changed.notify_all()

    def empty(self) -> None:
        """All that was delivered is dropped."""
        with self._changed:
            self._messages = self._bytes = 0
            self._batches.clear()

    def wait(self, timeout_s: float) -> None:
        """Until half of it is free: with less, the two sides would wake each other for every message."""
        with self._changed:
            self._waits_for = self._most // 2
            self._changed.wait_for(lambda: self._messages <= self._waits_for, timeout_s)
            self._waits_for = -1

    def wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _take_from(self, batch: list[int], messages: int) -> int:
        in_batch, size_bytes = batch
        if messages >= in_batch:
            self._batches.popleft()
            count, freed = in_batch, size_bytes
        else:
            count, freed = messages, size_bytes * messages // in_batch
            batch[0], batch[1] = in_batch - count, size_bytes - freed
        self._messages -= count
        self._bytes -= freed
        return count
