"""Collects messages into batches, each of one mark."""

import time
from collections import deque
from dataclasses import dataclass, field

from tallystick.errors import InvalidArgument
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Mark, Outgoing
from tallystick.model.position import Position
from tallystick.wire.pulsar.singles import fields

_BYTES_BESIDE_PAYLOAD = 16
"""Of the metadata that each message of a batch has."""


@dataclass(slots=True, eq=False)
class Batch:
    """Messages that travel in one entry, with sequence ids that follow each other."""

    first: Outgoing
    """One that travels alone has its metadata in the entry's."""
    mark: Mark
    replicated_from: str | None
    first_sequence_id: int
    began: float
    """When its first message came; of the monotonic clock."""
    sents: list[Pending[Position]] = field(default_factory=list)
    payloads: list[bytes] = field(default_factory=list)
    more: dict[int, bytes] = field(default_factory=dict)
    """What some messages have beside a payload, as their metadata has it."""
    size_bytes: int = 0
    is_alone: bool = False

    @property
    def last_sequence_id(self) -> int:
        return self.first_sequence_id + len(self.sents) - 1


class Batcher:
    """Not for several threads at once. `open` is the batch that waits for company, `sealed` those that are complete."""

    def __init__(self, most_messages: int, most_bytes: int, next_sequence_id: int) -> None:
        self._most_messages = most_messages
        self.most_bytes = most_bytes
        self.next_sequence_id = next_sequence_id
        self.open: Batch | None = None
        self.sealed: deque[Batch] = deque()

    @property
    def messages(self) -> int:
        """How many are collected here."""
        return sum(len(batch.sents) for batch in self.sealed) + (len(self.open.sents) if self.open is not None else 0)

    def add(self, message: Outgoing, sent: Pending[Position]) -> bool:
        """Whether there is a new batch, open or sealed. Raises `InvalidArgument` for a message that cannot be sent."""
        payload = message.payload
        if (
            payload is not None
            and message.key is None
            and not message.properties
            and message.event_time_ms is None
            and message.ordering_key is None
        ):
            own = b""
        else:
            own = _own_fields(message)
            payload = payload or b""
        size_bytes = len(payload) + len(own) + _BYTES_BESIDE_PAYLOAD
        batch = self.open
        is_new = batch is None
        if batch is None:
            batch = self._begin(message)
        elif (
            (message.mark is not batch.mark and message.mark != batch.mark)
            or message.replicated_from != batch.replicated_from
            or batch.size_bytes + size_bytes > self.most_bytes
            or (message.sequence_id is not None and message.sequence_id != self.next_sequence_id)
            or message.deliver_at_ms is not None
        ):
            self.seal()
            batch, is_new = self._begin(message), True
        if own:
            batch.more[len(batch.sents)] = own
        batch.sents.append(sent)
        batch.payloads.append(payload)
        batch.size_bytes += size_bytes
        self.next_sequence_id += 1
        if batch.is_alone or len(batch.sents) >= self._most_messages or batch.size_bytes >= self.most_bytes:
            self.seal()
            return True
        return is_new

    def _begin(self, message: Outgoing) -> Batch:
        if message.sequence_id is not None:
            if message.sequence_id < 0:
                raise InvalidArgument("sequence id", f"{message.sequence_id} is less than 0")
            self.next_sequence_id = message.sequence_id
        is_alone = self._most_messages <= 1 or message.deliver_at_ms is not None
        self.open = batch = Batch(
            message, message.mark, message.replicated_from, self.next_sequence_id, time.monotonic(), is_alone=is_alone
        )
        return batch

    def seal(self) -> None:
        """The open batch is complete, where there is one."""
        if self.open is not None:
            self.sealed.append(self.open)
            self.open = None


def _own_fields(message: Outgoing) -> bytes:
    if message.key is not None and message.is_key_text:
        try:
            message.key.decode()
        except UnicodeDecodeError as e:
            raise InvalidArgument("key", f"{message.key[:60]!r} is not UTF-8; mark it as no text") from e
    if message.event_time_ms is not None and message.event_time_ms < 0:
        raise InvalidArgument("event time", f"{message.event_time_ms} ms is before 1970")
    try:
        return fields(
            is_null=message.payload is None,
            key=message.key,
            is_key_text=message.is_key_text,
            properties=message.properties,
            event_time_ms=message.event_time_ms,
            ordering_key=message.ordering_key,
        )
    except UnicodeEncodeError as e:
        raise InvalidArgument("properties", f"a name or value is no Unicode text: {e.reason}") from e
