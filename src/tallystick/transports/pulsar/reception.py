"""Takes entries as they come, and makes the messages of them that are to be delivered."""

import logging
from collections.abc import Callable

from tallystick.errors import TallystickError, Unsupported
from tallystick.messaging.ports import Incoming
from tallystick.transports.pulsar.acknowledger import Acknowledger
from tallystick.transports.pulsar.acknowledging import DeliveredEntry, bits_of
from tallystick.transports.pulsar.entry_reading import EntryReader, ReadEntry, messages_in, read_entry
from tallystick.transports.pulsar.permits import Permits
from tallystick.transports.pulsar.place import Place, message_id
from tallystick.transports.pulsar.topics import TopicName
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.faults import ChecksumMismatch, MalformedFrame

log = logging.getLogger("tallystick.transports.pulsar")

_VALIDATION_ERRORS = {
    ChecksumMismatch.code: pb.CommandAck.ChecksumMismatch,
    MalformedFrame.code: pb.CommandAck.BatchDeSerializeError,
}


class Reception:
    """`epoch` counts rewinds: what was sent before the last one comes again. While it is shut, nothing gets in."""

    def __init__(
        self,
        topic: TopicName,
        owner: object,
        place: Place,
        acknowledger: Acknowledger,
        permits: Permits,
        tell_unreadable: Callable[[pb.CommandAck], None],
    ) -> None:
        self.is_shut = False
        self.epoch = 0
        self._topic = topic
        self._owner = owner
        self._place = place
        self._acknowledger = acknowledger
        self._permits = permits
        self._tell_unreadable = tell_unreadable
        self._reader = EntryReader(topic)
        self._received: list[Incoming] = []

    def take(self) -> list[Incoming]:
        """What came since it was taken last."""
        received, self._received = self._received, []
        return received

    def on_message(self, message: pb.CommandMessage, entry: bytes) -> None:
        if self.is_shut or (message.HasField("consumer_epoch") and message.consumer_epoch < self.epoch):
            self._permits.received(_counted(message, entry), 0)
            return
        ledger, number = message.message_id.ledgerId, message.message_id.entryId
        try:
            read = read_entry(entry)
            delivered = self._delivered(ledger, number, read, message)
            found = self._reader.incoming(read, delivered, message.redelivery_count) if delivered.left else []
        except (MalformedFrame, ChecksumMismatch, Unsupported) as e:
            self._permits.received(_counted(message, entry), 0)
            self._leave_out(ledger, number, message.consumer_id, e)
            return
        if not found:
            self._acknowledger.finish(delivered)
        self._place.came_to(ledger, number)
        self._permits.received(bits_of(message.ack_set).bit_count() if message.ack_set else read.messages, len(found))
        self._received += found

    def _delivered(self, ledger: int, number: int, read: ReadEntry, message: pb.CommandMessage) -> DeliveredEntry:
        left = (1 << read.messages) - 1
        if message.ack_set:
            left &= bits_of(message.ack_set)
        left = self._place.wanted(ledger, number, left)
        before = self._acknowledger.partly(ledger, number)
        if before is not None and before.left & left:
            return before
        size = read.messages if read.is_batch else 0
        return DeliveredEntry(self._owner, ledger, number, size, left, self._acknowledger.generation)

    def _leave_out(self, ledger: int, number: int, consumer_id: int, error: TallystickError) -> None:
        """What nobody can read is acknowledged as such; what others may be able to read is left to them."""
        log.warning(
            "a message is left out",
            extra={"topic": str(self._topic), "position": f"{ledger}:{number}", "reason": error.message},
        )
        if error.code in _VALIDATION_ERRORS:
            ack = pb.CommandAck(consumer_id=consumer_id, ack_type=pb.CommandAck.Individual)
            ack.message_id.append(message_id(ledger, number))
            ack.validation_error = _VALIDATION_ERRORS[error.code]
            self._tell_unreadable(ack)


def _counted(message: pb.CommandMessage, entry: bytes) -> int:
    """The messages that the broker counts for an entry."""
    return bits_of(message.ack_set).bit_count() if message.ack_set else messages_in(entry)
