"""From an entry to its messages."""

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass

from tallystick.errors import InvalidArgument, Unsupported
from tallystick.messaging.ports import NO_MARK, Incoming, Mark
from tallystick.model.position import PulsarPosition
from tallystick.transports.pulsar.acknowledging import DeliveredEntry
from tallystick.transports.pulsar.positions import positions_of_batch
from tallystick.transports.pulsar.topics import TopicName
from tallystick.wire.pulsar.compression import decompress
from tallystick.wire.pulsar.entries import parse_entry
from tallystick.wire.pulsar.faults import MalformedFrame
from tallystick.wire.pulsar.pulsar_pb2 import MessageMetadata, SingleMessageMetadata
from tallystick.wire.pulsar.schemas import read_schema_id, version_of
from tallystick.wire.pulsar.singles import split_singles

_MOST_MARKS = 1000
"""That are kept to be used again."""


@dataclass(frozen=True, slots=True)
class ReadEntry:
    metadata: MessageMetadata
    payload: bytes

    @property
    def is_batch(self) -> bool:
        return self.metadata.HasField("num_messages_in_batch")

    @property
    def messages(self) -> int:
        return self.metadata.num_messages_in_batch


def read_entry(entry: bytes) -> ReadEntry:
    """Raises `MalformedFrame` or `ChecksumMismatch` for damage, `Unsupported` for what needs more than we can do."""
    parsed = parse_entry(entry)
    metadata = parsed.metadata
    if metadata.encryption_keys:
        raise Unsupported("the message is encrypted, and this client has no keys")
    if metadata.num_chunks_from_msg > 1:
        raise Unsupported("the message comes in chunks, which this client does not put together")
    if metadata.HasField("num_messages_in_batch") and metadata.num_messages_in_batch < 1:
        raise MalformedFrame(f"a batch says it has {metadata.num_messages_in_batch} messages")
    return ReadEntry(metadata, decompress(metadata.compression, parsed.payload, metadata.uncompressed_size))


def messages_in(entry: bytes) -> int:
    """How many messages a broker counts for an entry that is not read."""
    try:
        return parse_entry(entry, verify=False).metadata.num_messages_in_batch
    except MalformedFrame:
        return 1


class EntryReader:
    """Makes the messages of one topic's entries."""

    def __init__(self, topic: TopicName) -> None:
        self._topic = topic
        self._marks: dict[tuple[bytes, bytes], Mark] = {}

    def incoming(self, read: ReadEntry, delivered: DeliveredEntry, redeliveries: int) -> list[Incoming]:
        """The messages of an entry that are left to be acknowledged."""
        return (
            self._of_batch(read, delivered, redeliveries)
            if read.is_batch
            else [self._single(read, delivered, redeliveries)]
        )

    def _single(self, read: ReadEntry, delivered: DeliveredEntry, redeliveries: int) -> Incoming:
        metadata = read.metadata
        return Incoming(
            self._topic.given,
            PulsarPosition(delivered.ledger, delivered.entry, self._topic.partition),
            None if metadata.null_value else read.payload,
            self._mark(metadata),
            _key(metadata),
            not metadata.partition_key_b64_encoded,
            _properties(metadata),
            metadata.event_time or None,
            metadata.publish_time,
            metadata.producer_name,
            metadata.sequence_id,
            redeliveries,
            metadata.replicated_from or None,
            (),
            delivered,
        )

    def _of_batch(self, read: ReadEntry, delivered: DeliveredEntry, redeliveries: int) -> list[Incoming]:
        metadata, data = read.metadata, read.payload
        topic, mark = self._topic.given, self._mark(metadata)
        published, producer = metadata.publish_time, metadata.producer_name
        replicated_from = metadata.replicated_from or None
        first, left, size = metadata.sequence_id, delivered.left, metadata.num_messages_in_batch
        positions = positions_of_batch(delivered.ledger, delivered.entry, self._topic.partition, size)
        is_whole = left == (1 << size) - 1
        found: list[Incoming] = []
        for index, (start, end, sequence_id, own) in enumerate(split_singles(data, size)):
            if not is_whole and not left >> index & 1:
                continue
            position = positions[index]
            if sequence_id is None:
                sequence_id = first + index
            if own is None:
                found.append(
                    Incoming(
                        topic, position, data[start:end], mark, None, True, {}, None, published, producer,
                        sequence_id, redeliveries, replicated_from, (), delivered,
                    )
                )  # fmt: skip
            elif own.compacted_out:
                delivered.left &= ~(1 << index)
            else:
                payload = None if own.null_value else data[start:end]
                found.append(
                    Incoming(
                        topic, position, payload, mark, _key(own), not own.partition_key_b64_encoded, _properties(own),
                        own.event_time or None, published, producer, sequence_id, redeliveries, replicated_from, (),
                        delivered,
                    )
                )  # fmt: skip
        return found

    def _mark(self, metadata: MessageMetadata) -> Mark:
        version, schema_id = metadata.schema_version, metadata.schema_id
        if not version and not schema_id:
            return NO_MARK
        known = self._marks.get((version, schema_id))
        if known is None:
            if len(self._marks) >= _MOST_MARKS:
                self._marks.clear()
            known = self._marks[version, schema_id] = _mark_of(version, schema_id)
        return known


def _mark_of(version: bytes, schema_id: bytes) -> Mark:
    """What is no version or id of ours is left out: the payload may be of use all the same."""
    try:
        number = version_of(version) if version else None
    except InvalidArgument:
        number = None
    try:
        return Mark(number, read_schema_id(schema_id) if schema_id else None)
    except MalformedFrame:
        return Mark(number)


def _key(metadata: MessageMetadata | SingleMessageMetadata) -> bytes | None:
    if metadata.null_partition_key or not metadata.HasField("partition_key"):
        return None
    if not metadata.partition_key_b64_encoded:
        return metadata.partition_key.encode()
    try:
        return b64decode(metadata.partition_key, validate=True)
    except ValueError as e:
        raise MalformedFrame(f"the key of a message says it is Base64, and is not: {e}") from e


def _properties(metadata: MessageMetadata | SingleMessageMetadata) -> Mapping[str, str]:
    return {pair.key: pair.value for pair in metadata.properties}
