"""How many messages a broker may send ahead."""


class Permits:
    """What the broker may still send and what is delivered but not taken never exceed the queue, but for the rest of a
    batch: brokers send batches whole.

    More is granted when a quarter of the queue was taken. Whoever takes may tell of it later, after up to half of the
    queue: there is always something to send, or to take, until then.
    """

    def __init__(self, queue_size: int) -> None:
        self._queue_size = max(1, queue_size)
        self._granted = 0
        self._delivered = 0

    @property
    def least_taken(self) -> int:
        """How many have to be taken for new ones to be granted."""
        return max(1, self._queue_size // 4)

    def attached(self) -> None:
        """A new consumer on the broker's side has none."""
        self._granted = 0

    def received(self, counted: int, delivered: int) -> None:
        """The broker counts messages that are not passed on, too."""
        self._granted -= counted
        self._delivered += delivered

    def taken(self, count: int) -> None:
        self._delivered = max(0, self._delivered - count)

    def dropped(self) -> None:
        """Nothing of what was delivered will be taken."""
        self._delivered = 0

    def to_grant(self) -> int:
        """How many to grant now; 0 while it is too few to be worth a command."""
        lacking = self._queue_size - self._delivered - max(0, self._granted)
        if lacking < self.least_taken:
            return 0
        # A broker that sent more than it might owes us the difference.
        grant = self._queue_size - self._delivered - self._granted
        self._granted += grant
        return grant
