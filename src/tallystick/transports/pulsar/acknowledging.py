"""What of the delivered entries is acknowledged, and the commands that tell the broker.

A broker's unit is the entry. Of a batch the client keeps a bit for each message that is left; when none is, the entry
is acknowledged, and until then the broker is told which are left, so that it sends only those again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tallystick.wire.pulsar import pulsar_pb2 as pb

_MOST_IN_COMMAND = 1000
_WORD = 64
_WORD_MASK = (1 << _WORD) - 1


@dataclass(slots=True, eq=False)
class DeliveredEntry:
    """One delivery of an entry; all its messages share it."""

    owner: object = field(repr=False)
    """The consumer on one topic or partition that it came from."""
    ledger: int
    entry: int
    size: int
    """Messages of the batch; 0 for an entry that is none."""
    left: int
    """A bit for each message that is not acknowledged."""
    generation: int = 0
    """What was delivered before a seek cannot be acknowledged after it."""
    is_touched: bool = False


@dataclass(slots=True)
class Acknowledgements:
    """Not for several threads at once."""

    generation: int = 0
    partly: dict[tuple[int, int], DeliveredEntry] = field(default_factory=dict)
    """Entries of this attachment of which some messages are left: they may come again."""
    _touched: list[DeliveredEntry] = field(default_factory=list)
    _up_to: DeliveredEntry | None = None

    def __bool__(self) -> bool:
        return bool(self._touched) or self._up_to is not None

    def add(self, delivered: DeliveredEntry, index: int) -> None:
        """One message; `index` is −1 where the entry is no batch."""
        if delivered.generation != self.generation:
            return
        bit = 1 << index if index >= 0 else 1
        if delivered.left & bit:
            self._changed(delivered, delivered.left ^ bit)

    def add_up_to(self, delivered: DeliveredEntry, index: int) -> None:
        """All messages up to this one."""
        if delivered.generation != self.generation:
            return
        before = self._up_to
        if before is None or (before.ledger, before.entry) <= (delivered.ledger, delivered.entry):
            self._up_to = delivered
        delivered.left &= -1 << (index + 1) if index >= 0 else 0
        if not delivered.left:
            self.partly.pop((delivered.ledger, delivered.entry), None)

    def _changed(self, delivered: DeliveredEntry, left: int) -> None:
        delivered.left = left
        if not delivered.is_touched:
            delivered.is_touched = True
            self._touched.append(delivered)
        if delivered.size:
            if left:
                self.partly[delivered.ledger, delivered.entry] = delivered
            else:
                self.partly.pop((delivered.ledger, delivered.entry), None)

    def finish(self, delivered: DeliveredEntry) -> None:
        """All of an entry."""
        self._changed(delivered, 0)

    def forget(self) -> None:
        """After a seek: what was delivered before is nobody's business any more."""
        self.generation += 1
        self.partly.clear()
        self._touched.clear()
        self._up_to = None

    def take(self, consumer_id: int) -> list[pb.CommandAck]:
        """The commands for what was acknowledged since they were taken last."""
        touched, self._touched = self._touched, []
        up_to, self._up_to = self._up_to, None
        commands = list(_individual(consumer_id, touched))
        if up_to is not None:
            commands.append(_command(consumer_id, pb.CommandAck.Cumulative, [up_to]))
        return commands


def _individual(consumer_id: int, touched: list[DeliveredEntry]) -> Iterator[pb.CommandAck]:
    for delivered in touched:
        delivered.is_touched = False
    for start in range(0, len(touched), _MOST_IN_COMMAND):
        yield _command(consumer_id, pb.CommandAck.Individual, touched[start : start + _MOST_IN_COMMAND])


def _command(consumer_id: int, kind: pb.CommandAck.AckType, entries: Iterable[DeliveredEntry]) -> pb.CommandAck:
    command = pb.CommandAck(consumer_id=consumer_id, ack_type=kind)
    for delivered in entries:
        id_ = command.message_id.add(ledgerId=delivered.ledger, entryId=delivered.entry)
        if delivered.left:
            id_.ack_set.extend(words_of(delivered.left))
            id_.batch_size = delivered.size
    return command


def words_of(bits: int) -> list[int]:
    """The wire's signed 64-bit words, lowest first."""
    words = []
    while bits:
        word = bits & _WORD_MASK
        words.append(word - (1 << _WORD) if word >> _WORD - 1 else word)
        bits >>= _WORD
    return words


def bits_of(words: Iterable[int]) -> int:
    return sum((word & _WORD_MASK) << _WORD * at for at, word in enumerate(words))
