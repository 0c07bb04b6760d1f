"""The entries of a producer that the broker has not answered, in their order."""

import time
from collections import deque
from collections.abc import Iterable

from tallystick.errors import TallystickError
from tallystick.transports.pulsar.entry_writing import Sending


class Unanswered:
    """Some are on their way on the present connection, the rest waits for one. Brokers answer in the order of sends."""

    def __init__(self) -> None:
        self._on_their_way: deque[Sending] = deque()
        self._waiting: deque[Sending] = deque()

    def __len__(self) -> int:
        return len(self._on_their_way) + len(self._waiting)

    @property
    def messages(self) -> int:
        return sum(len(one.sents) for part in (self._on_their_way, self._waiting) for one in part)

    @property
    def head(self) -> Sending | None:
        """What the broker answers next."""
        return self._on_their_way[0] if self._on_their_way else None

    def add(self, sending: Sending) -> None:
        self._waiting.append(sending)

    def to_send(self) -> list[bytes]:
        """The frames that wait; from here on they are on their way."""
        frames = [sending.frame for sending in self._waiting]
        self._on_their_way.extend(self._waiting)
        self._waiting.clear()
        return frames

    def detached(self) -> None:
        """The connection is gone: all is to be sent again."""
        self._on_their_way.extend(self._waiting)
        self._on_their_way, self._waiting = self._waiting, self._on_their_way
        self._on_their_way.clear()

    def answered(self, sequence_id: int) -> Sending | None:
        """Takes off what the broker has answered; None for what nobody waits for, or not yet."""
        head = self.head
        return self._on_their_way.popleft() if head is not None and head.has(sequence_id) else None

    def is_ahead(self, sequence_id: int) -> bool:
        """Whether an answer skips others that come before it."""
        return any(one.has(sequence_id) for one in list(self._on_their_way)[1:])

    def expires_in_s(self, timeout_s: float) -> float | None:
        oldest = self._oldest()
        return None if oldest is None else max(0.0, oldest.began + timeout_s - time.monotonic())

    def take_expired(self, timeout_s: float) -> list[Sending]:
        limit, expired = time.monotonic() - timeout_s, []
        while (oldest := self._oldest()) is not None and oldest.began <= limit:
            expired.append((self._on_their_way or self._waiting).popleft())
        return expired

    def take_all(self) -> list[Sending]:
        taken = [*self._on_their_way, *self._waiting]
        self._on_their_way.clear()
        self._waiting.clear()
        return taken

    def _oldest(self) -> Sending | None:
        first = self._on_their_way or self._waiting
        return first[0] if first else None


def fail(sendings: Iterable[Sending], error: TallystickError) -> None:
    for sending in sendings:
        for sent in sending.sents:
            sent.fail(error)
