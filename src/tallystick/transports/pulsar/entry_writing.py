"""From a batch to the entry and the frame that carry it."""

import time
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass

from tallystick.errors import InvalidRecord
from tallystick.finding import Finding
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Mark, Outgoing
from tallystick.messaging.settings import Compression
from tallystick.model.position import Position
from tallystick.transports.pulsar.batching import Batch
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.compression import compress
from tallystick.wire.pulsar.entries import build_entry
from tallystick.wire.pulsar.frames import message_frame
from tallystick.wire.pulsar.pulsar_pb2 import BaseCommand, MessageMetadata
from tallystick.wire.pulsar.schemas import version_bytes, write_schema_id
from tallystick.wire.pulsar.singles import join_singles

TOO_LARGE = "RECORD_TOO_LARGE"

KINDS: dict[Compression, pb.CompressionType] = {
    Compression.NONE: pb.CompressionType.NONE,
    Compression.LZ4: pb.CompressionType.LZ4,
    Compression.ZLIB: pb.CompressionType.ZLIB,
    Compression.ZSTD: pb.CompressionType.ZSTD,
    Compression.SNAPPY: pb.CompressionType.SNAPPY,
}


@dataclass(slots=True, eq=False)
class Sending:
    """An entry on its way, until it is answered. The frame stays the same however often it is sent."""

    frame: bytes
    first_sequence_id: int
    last_sequence_id: int
    began: float
    sents: list[Pending[Position]]
    is_batch: bool
    damages: int = 0
    """How often it arrived damaged."""

    def has(self, sequence_id: int) -> bool:
        """Brokers name the first or the last of the ids."""
        return sequence_id in (self.first_sequence_id, self.last_sequence_id)


@dataclass(frozen=True, slots=True)
class EntryWriter:
    topic: str
    producer_id: int
    producer_name: str
    compression: Compression
    most_message_bytes: int
    now_ms: Callable[[], int] = lambda: int(time.time() * 1000)

    def sending(self, batch: Batch) -> Sending:
        """Raises `InvalidRecord` for what is larger than the broker takes."""
        metadata = MessageMetadata(
            producer_name=self.producer_name, sequence_id=batch.first_sequence_id, publish_time=self.now_ms()
        )
        _write_mark(metadata, batch.mark)
        if batch.replicated_from is not None:
            metadata.replicated_from = batch.replicated_from
        _write_keys(metadata, batch.first)
        if batch.is_alone:
            payload = batch.payloads[0]
            _write_own(metadata, batch.first)
        else:
            payload = join_singles(batch.payloads, batch.first_sequence_id, batch.more)
            metadata.num_messages_in_batch = len(batch.sents)
            metadata.highest_sequence_id = batch.last_sequence_id
        entry = build_entry(metadata, self._compressed(metadata, payload))
        if len(entry) > self.most_message_bytes:
            raise self._too_large(len(entry))
        return Sending(
            message_frame(self._command(batch), entry),
            batch.first_sequence_id,
            batch.last_sequence_id,
            batch.began,
            batch.sents,
            not batch.is_alone,
        )

    def _compressed(self, metadata: MessageMetadata, payload: bytes) -> bytes:
        # Not every client can make nothing of the compressed form of nothing.
        if self.compression is Compression.NONE or not payload:
            return payload
        metadata.compression = kind = KINDS[self.compression]
        metadata.uncompressed_size = len(payload)
        return compress(kind, payload)

    def _command(self, batch: Batch) -> BaseCommand:
        command = BaseCommand(type=BaseCommand.SEND)
        command.send.producer_id = self.producer_id
        command.send.sequence_id = batch.first_sequence_id
        command.send.num_messages = len(batch.sents)
        if not batch.is_alone:
            command.send.highest_sequence_id = batch.last_sequence_id
        return command

    def _too_large(self, size_bytes: int) -> InvalidRecord:
        text = f"the message has {size_bytes} bytes with its metadata; the broker takes {self.most_message_bytes}"
        fix = "send it in parts, compress it, or raise the broker's maxMessageSize"
        return InvalidRecord(f"topic {self.topic}: {text}", [Finding(rule=TOO_LARGE, message=text, fix=fix)])


def _write_mark(metadata: MessageMetadata, mark: Mark) -> None:
    if mark.version is not None:
        metadata.schema_version = version_bytes(mark.version)
    if mark.schema_id is not None:
        metadata.schema_id = write_schema_id(mark.schema_id)


def _write_keys(metadata: MessageMetadata, message: Outgoing) -> None:
    """Those of its first message stand for the batch: Key_Shared subscriptions go by them."""
    if message.key is not None:
        if message.is_key_text:
            metadata.partition_key = message.key.decode()
        else:
            metadata.partition_key = b64encode(message.key).decode()
            metadata.partition_key_b64_encoded = True
    if message.ordering_key is not None:
        metadata.ordering_key = message.ordering_key


def _write_own(metadata: MessageMetadata, message: Outgoing) -> None:
    for name, value in message.properties.items():
        metadata.properties.add(key=name, value=value)
    if message.event_time_ms is not None:
        metadata.event_time = message.event_time_ms
    if message.deliver_at_ms is not None:
        metadata.deliver_at_time = message.deliver_at_ms
    if message.payload is None:
        metadata.null_value = True
