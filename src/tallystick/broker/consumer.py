"""A consumer that is attached to a subscription: what it may still be sent, and what it has not acknowledged."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from tallystick.broker.cursor import words_of
from tallystick.broker.log.values import Entry
from tallystick.broker.traffic import Traffic
from tallystick.wire.pulsar.frames import message_frame
from tallystick.wire.pulsar.pulsar_pb2 import BaseCommand

if TYPE_CHECKING:
    from tallystick.broker.subscription import Subscription

MOST_UNACKED = 50_000
"""Messages that one consumer of a shared subscription may hold; it gets more when it acknowledges some."""


class Connection(Protocol):
    """What topics need of a client's connection."""

    address: str
    client_version: str
    is_writable: bool
    """False while the client does not read what it was sent."""

    def write(self, frame: bytes) -> None: ...

    def close_consumer(self, consumer: "Consumer") -> None:
        """Tells the client that its consumer is closed; it comes back by itself."""

    def tell_active(self, consumer: "Consumer", is_active: bool) -> None: ...


class Pending(NamedTuple):
    """An entry that was sent and is not acknowledged."""

    messages: int
    slot: int
    """Stands for its key, on Key_Shared subscriptions."""


@dataclass(eq=False, slots=True)
class Consumer:
    id: int
    name: str
    connection: Connection
    subscription: "Subscription"
    priority: int = 0
    sticky_ranges: tuple[tuple[int, int], ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)
    connected_ms: int = 0
    permits: int = 0
    unacked: int = 0
    pending: dict[int, Pending] = field(default_factory=dict)
    """What it holds, on shared subscriptions; the others start again from what is acknowledged."""
    epoch: int | None = None
    """Counts the client's own rewinds, so that it can tell what was sent before the last one."""
    out: Traffic = field(default_factory=Traffic)
    redelivered: int = 0

    @property
    def can_take(self) -> bool:
        return self.permits > 0 and self.unacked < MOST_UNACKED and self.connection.is_writable

    def deliver(self, ledger: int, entry: Entry, redeliveries: int = 0, unacked_bits: int = 0) -> int:
        """Sends an entry, and answers how many messages of it count."""
        command = BaseCommand(type=BaseCommand.MESSAGE)
        message = command.message
        message.consumer_id = self.id
        message.message_id.ledgerId = ledger
        message.message_id.entryId = entry.number
        partition = self.subscription.topic.partition
        if partition is not None:
            message.message_id.partition = partition
        message.redelivery_count = redeliveries
        messages = entry.messages
        if unacked_bits:
            message.ack_set.extend(words_of(unacked_bits))
            messages = unacked_bits.bit_count()
        if self.epoch is not None:
            message.consumer_epoch = self.epoch
        self.connection.write(message_frame(command, entry.data))
        self.permits -= messages
        self.out.add(messages, len(entry.data))
        self.subscription.out.add(messages, len(entry.data))
        if redeliveries:
            self.redelivered += messages
            self.subscription.redelivered += messages
        return messages
