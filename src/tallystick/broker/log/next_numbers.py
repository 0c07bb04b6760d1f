"""The number that each topic expects next, so that no entry is written twice, out of order or after a gap."""

from tallystick.broker.log.tables import NUMBER_MASK
from tallystick.errors import TallystickError, TopicNotFound, Unavailable


class NextNumbers:
    """What is committed, and on top of it what the open transaction has changed. One thread uses it."""

    def __init__(self, committed: dict[int, int]) -> None:
        self._committed = committed
        self._open: dict[int, int | None] = {}

    def take(self, topic_id: int, number: int) -> TallystickError | None:
        """Takes the number, or says why it cannot be had."""
        expected = self._open[topic_id] if topic_id in self._open else self._committed.get(topic_id)
        if expected is None:
            return TopicNotFound(f"with the id {topic_id}")
        if number != expected or number > NUMBER_MASK:
            return Unavailable(
                f"entry {number} of topic {topic_id} was not written: it takes {expected} now; try again"
            )
        self._open[topic_id] = number + 1
        return None

    def add(self, topic_id: int) -> None:
        self._open[topic_id] = 0

    def remove(self, topic_id: int) -> None:
        self._open[topic_id] = None

    def keep(self) -> None:
        """The transaction is committed."""
        for topic_id, number in self._open.items():
            if number is None:
                self._committed.pop(topic_id, None)
            else:
                self._committed[topic_id] = number
        self._open.clear()

    def drop(self) -> None:
        """The transaction is rolled back."""
        self._open.clear()
