"""Which messages of a partition are acknowledged, and up to where all of them are."""

from bisect import bisect_left, bisect_right


class Progress:
    """Of one partition since it was assigned. Kafka keeps one place only, so what is acknowledged ahead is kept here.

    Offsets that never arrive (compacted away, or marks of transactions) count as acknowledged.
    """

    __slots__ = ("_ends", "_rejections", "_rewinds", "_starts", "expected", "is_rewound", "low")

    def __init__(self, start: int) -> None:
        self.low = start
        """The first that is not acknowledged: where a group goes on."""
        self.expected = start
        """The next to arrive, if there is no gap. Whoever takes messages may set it in place of calling `arrives`."""
        self.is_rewound = False
        """Whether some may come again, so that every message must be asked about."""
        # Acknowledged ranges above `low`, in order, that do not touch.
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._rewinds: list[tuple[int, int]] = []
        self._rejections: dict[int, int] = {}

    @property
    def is_behind(self) -> bool:
        """Whether something was delivered and is not acknowledged."""
        return self.low < self.expected

    def arrives(self, offset: int) -> bool:
        """Whether a message is to be delivered: not where it is acknowledged already."""
        if offset < self.expected:
            # The topic was made anew: nothing that is known of it holds.
            self._start_anew(offset)
        elif offset > self.expected:
            self._settle(self.expected, offset)
        self.expected = offset + 1
        if self.is_rewound:
            self._forget_rewinds()
        return not self.is_acknowledged(offset)

    def acknowledge(self, offset: int) -> None:
        if self._rejections:
            self._rejections.pop(offset, None)
        if offset == self.low and not self._starts:
            self.low = offset + 1
        elif not self.is_acknowledged(offset):
            self._settle(offset, offset + 1)

    def acknowledge_through(self, offset: int) -> None:
        """This one and all before it."""
        if offset >= self.low:
            self._rejections = {other: times for other, times in self._rejections.items() if other > offset}
            self._settle(self.low, offset + 1)

    def rewind(self) -> int:
        """All that is not acknowledged will arrive again, from the returned offset on."""
        if self.low < self.expected:
            self._rewinds.append((self.low, self.expected))
            self.is_rewound = True
            self.expected = self.low
        return self.expected

    def reject(self, offset: int) -> bool:
        """Whether the message is to come again: not where it is acknowledged already."""
        if self.is_acknowledged(offset):
            return False
        self._rejections[offset] = self._rejections.get(offset, 0) + 1
        return True

    def redeliveries(self, offset: int) -> int:
        """How often a message has been rejected or rewound to."""
        return self._rejections.get(offset, 0) + sum(start <= offset < end for start, end in self._rewinds)

    def is_acknowledged(self, offset: int) -> bool:
        if offset < self.low:
            return True
        at = bisect_right(self._starts, offset) - 1
        return at >= 0 and offset < self._ends[at]

    def _settle(self, start: int, end: int) -> None:
        """Adds a range, and joins it with those that it touches."""
        start = max(start, self.low)
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last], self._ends[first:last] = [start], [end]
        if start <= self.low:
            self.low = max(self.low, end)
            del self._starts[: first + 1], self._ends[: first + 1]

    def _forget_rewinds(self) -> None:
        self._rewinds = [(start, end) for start, end in self._rewinds if end > self.low]
        self.is_rewound = bool(self._rewinds)

    def _start_anew(self, offset: int) -> None:
        self.low = offset
        self._starts, self._ends, self._rewinds, self._rejections = [], [], [], {}
        self.is_rewound = False
