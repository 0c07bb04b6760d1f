"""Where a consumer begins; of a reader, which the broker forgets, also where it is."""

from dataclasses import dataclass
from datetime import datetime

from tallystick.errors import InvalidArgument
from tallystick.messaging.settings import EARLIEST, LATEST, StartAt
from tallystick.model.position import KafkaPosition, Position, PulsarPosition
from tallystick.wire.pulsar import pulsar_pb2 as pb

_WITHOUT_SIGN = 2**64
_LAST = 2**63 - 1
_ENDS: dict[object, tuple[int, int]] = {EARLIEST: (-1, -1), LATEST: (_LAST, _LAST)}


@dataclass(slots=True)
class Place:
    start: "StartAt | PulsarPosition"
    is_reader: bool
    _after: tuple[int, int] | None = None
    """The last entry that a reader has got, or is known to begin after."""
    _first: PulsarPosition | None = None
    """Of the entry that was sought, messages before this one are not wanted."""

    def seek(self, start: "StartAt | PulsarPosition") -> None:
        self.start, self._after = start, None
        self._first = start if isinstance(start, PulsarPosition) else None

    def came_to(self, ledger: int, entry: int) -> None:
        if self.is_reader:
            self._after = ledger, entry
        elif self._first is not None and (ledger, entry) != (self._first.ledger, self._first.entry):
            # From here on the broker knows, and somebody else may rewind the subscription.
            self._first = None

    def begins_after(self, ledger: int, entry: int) -> None:
        """Where the broker has put a reader that has got nothing yet."""
        if self.is_reader:
            self._after = max(self._after or (ledger, entry), (ledger, entry))

    def wanted(self, ledger: int, entry: int, left: int) -> int:
        """Of the messages of an entry, those that come after the place; a broker sends entries whole."""
        if self._after is not None and (ledger, entry) <= self._after:
            return 0
        first = self._first
        if first is None or (ledger, entry) != (first.ledger, first.entry):
            return left
        return left & -1 << max(0, first.batch_index)

    @property
    def initial(self) -> pb.CommandSubscribe.InitialPosition:
        """Of a new subscription. A time is sought after it was made, and nothing is sent before that."""
        return pb.CommandSubscribe.Latest if self.start == LATEST else pb.CommandSubscribe.Earliest

    def reader_id(self) -> pb.MessageIdData:
        if self._after is not None:
            return message_id(*self._after)
        if isinstance(self.start, PulsarPosition):
            # An entry without an index is the last one that is not wanted; with one it is the first that is.
            return message_id(self.start.ledger, self.start.entry, max(0, self.start.batch_index))
        return message_id(*_ENDS.get(self.start, (-1, -1)))


def start_of(start: "StartAt | Position") -> "StartAt | PulsarPosition":
    """Raises `InvalidArgument` for what is no place to begin at."""
    if isinstance(start, KafkaPosition):
        raise InvalidArgument("position", f"{start} is one of Kafka's; this topic is Pulsar's")
    if isinstance(start, datetime):
        if start.tzinfo is None:
            raise InvalidArgument("start", f"{start} has no time zone; write datetime(…, tzinfo=UTC)")
        return start
    if isinstance(start, str) and start not in _ENDS:
        raise InvalidArgument("start", f'{start!r} is none; use "{EARLIEST}", "{LATEST}" or a datetime')
    return start


def seek_command(consumer_id: int, start: "StartAt | PulsarPosition") -> pb.CommandSeek:
    if isinstance(start, datetime):
        return pb.CommandSeek(consumer_id=consumer_id, message_publish_time=max(0, int(start.timestamp() * 1000)))
    ends = (start.ledger, start.entry) if isinstance(start, PulsarPosition) else _ENDS[start]
    return pb.CommandSeek(consumer_id=consumer_id, message_id=message_id(*ends))


def message_id(ledger: int, entry: int, batch_index: int | None = None) -> pb.MessageIdData:
    """−1 travels as the largest number without a sign."""
    id_ = pb.MessageIdData(ledgerId=ledger % _WITHOUT_SIGN, entryId=entry % _WITHOUT_SIGN)
    if batch_index is not None:
        id_.batch_index = batch_index
    return id_


def signed(number: int) -> int:
    """−1 for a message or entry that is none."""
    return number - _WITHOUT_SIGN if number >> 63 else number
