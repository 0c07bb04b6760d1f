"""What is written by `entry_writing` is what `entry_reading` reads."""

from typing import Any

import pytest

from tallystick.errors import InvalidRecord, Unsupported
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Incoming, Mark, Outgoing
from tallystick.messaging.settings import Compression
from tallystick.model.position import PulsarPosition
from tallystick.model.subject import Version
from tallystick.transports.pulsar.acknowledging import DeliveredEntry
from tallystick.transports.pulsar.batching import Batcher
from tallystick.transports.pulsar.entry_reading import EntryReader, messages_in, read_entry
from tallystick.transports.pulsar.entry_writing import EntryWriter, Sending
from tallystick.transports.pulsar.topics import topic_name
from tallystick.wire.pulsar.batches import join
from tallystick.wire.pulsar.entries import build_entry
from tallystick.wire.pulsar.faults import ChecksumMismatch, MalformedFrame
from tallystick.wire.pulsar.frames import Frame, FrameReader
from tallystick.wire.pulsar.pulsar_pb2 import MessageMetadata, SingleMessageMetadata
from tallystick.wire.pulsar.schemas import KeyValueIds

TOPIC = topic_name("orders").of_partition(3)


def written(
    *messages: Outgoing, most_messages: int = 1000, compression: Compression = Compression.NONE, limit: int = 5_000_000
) -> list[Sending]:
    batches = Batcher(most_messages, 100_000, 10)
    for message in messages:
        batches.add(message, Pending())
    batches.seal()
    writer = EntryWriter("orders", 4, "me", compression, limit, lambda: 1234)
    return [writer.sending(batch) for batch in batches.sealed]


def frame_of(sending: Sending) -> Frame:
    (frame,) = FrameReader().feed(sending.frame)
    return frame


def read(sending: Sending, left: int | None = None) -> list[Incoming]:
    entry = read_entry(frame_of(sending).body)
    whole = (1 << entry.messages) - 1
    delivered = DeliveredEntry(None, 7, 8, entry.messages, whole if left is None else left)
    return EntryReader(TOPIC).incoming(entry, delivered, 2)


DETAILS: list[dict[str, Any]] = [
    {},
    {"key": b"text"},
    {"key": b"\x00\xff", "is_key_text": False},
    {"key": b"", "is_key_text": True},
    {"properties": {"a": "b", "": "ü"}},
    {"event_time_ms": 99},
]


@pytest.mark.parametrize("compression", Compression)
@pytest.mark.parametrize("most_messages", [1, 100])
def test_all_comes_back(compression: Compression, most_messages: int) -> None:
    sent = [Outgoing(b"payload %d" % index, **details) for index, details in enumerate(DETAILS)] + [Outgoing(None)]
    sendings = written(*sent, most_messages=most_messages, compression=compression)
    came = [message for sending in sendings for message in read(sending)]
    for index, (before, after) in enumerate(zip(sent, came, strict=True)):
        for name in ("payload", "key", "properties", "event_time_ms", "mark"):
            assert getattr(after, name) == getattr(before, name), name
        assert after.is_key_text == (before.is_key_text if before.key is not None else True)
        assert after.sequence_id == 10 + index
        assert (after.topic, after.producer_name, after.publish_time_ms) == ("orders", "me", 1234)
        assert after.redelivery_count == 2
        assert after.position == PulsarPosition(7, 8, 3, index if most_messages > 1 else -1)


@pytest.mark.parametrize(
    "mark",
    [Mark(), Mark(Version(1)), Mark(Version(7)), Mark(schema_id=b"\x09"), Mark(schema_id=KeyValueIds(b"k", b""))],
)
def test_marks_come_back(mark: Mark) -> None:
    (sending,) = written(Outgoing(b"x", mark), Outgoing(b"y", mark))
    assert [message.mark for message in read(sending)] == [mark, mark]


def test_the_command_names_the_ids_of_a_batch() -> None:
    (batch,) = written(Outgoing(b"a"), Outgoing(b"b"), Outgoing(b"c"))
    send = frame_of(batch).command.send
    assert (send.producer_id, send.sequence_id, send.highest_sequence_id, send.num_messages) == (4, 10, 12, 3)
    assert batch.has(10)
    assert batch.has(12)
    assert not batch.has(11)


def test_the_first_keys_of_a_batch_stand_for_it() -> None:
    (batch,) = written(Outgoing(b"a", key=b"\xff", is_key_text=False, ordering_key=b"o"), Outgoing(b"b", key=b"k"))
    metadata = read_entry(frame_of(batch).body).metadata
    assert (metadata.partition_key, metadata.partition_key_b64_encoded, metadata.ordering_key) == ("/w==", True, b"o")


def test_what_is_too_large_is_told_with_its_size() -> None:
    with pytest.raises(InvalidRecord, match=r"topic orders: the message has 1\d\d bytes .* takes 100"):
        written(Outgoing(b"x" * 100), limit=100)


def test_only_what_is_left_of_a_batch_is_read() -> None:
    (batch,) = written(*(Outgoing(b"%d" % index) for index in range(5)))
    assert [message.payload for message in read(batch, left=0b10110)] == [b"1", b"2", b"4"]


def entry_of(payload: bytes = b"x", **fields: Any) -> bytes:
    return build_entry(MessageMetadata(producer_name="p", sequence_id=3, publish_time=4, **fields), payload)


def test_a_version_that_is_none_of_ours_does_not_hide_the_payload() -> None:
    reader = EntryReader(TOPIC)
    for fields in ({"schema_version": b"odd"}, {"schema_id": b"\xfe\x00"}):
        (message,) = reader.incoming(read_entry(entry_of(**fields)), DeliveredEntry(None, 1, 1, 0, 1), 0)
        assert (message.mark, message.payload) == (Mark(), b"x")


def test_what_this_client_cannot_read_is_named() -> None:
    with pytest.raises(Unsupported, match="chunks"):
        read_entry(entry_of(num_chunks_from_msg=2))
    with pytest.raises(Unsupported, match="encrypted"):
        read_entry(entry_of(encryption_keys=[{"key": "k", "value": b"v"}]))


def test_damage_is_found() -> None:
    damaged = bytearray(entry_of(b"abc"))
    damaged[-1] ^= 1
    with pytest.raises(ChecksumMismatch):
        read_entry(bytes(damaged))
    with pytest.raises(MalformedFrame):
        read_entry(entry_of(num_messages_in_batch=0))
    assert messages_in(entry_of(num_messages_in_batch=17)) == 17
    assert messages_in(b"?") == 1


def test_a_key_that_says_it_is_base64_and_is_not() -> None:
    entry = read_entry(entry_of(partition_key="?", partition_key_b64_encoded=True))
    with pytest.raises(MalformedFrame, match="Base64"):
        EntryReader(TOPIC).incoming(entry, DeliveredEntry(None, 1, 1, 0, 1), 0)


def test_messages_that_were_compacted_away_count_as_acknowledged() -> None:
    singles = [SingleMessageMetadata(payload_size=0, compacted_out=index == 1) for index in range(3)]
    payload = join((single, b"%d" % index) for index, single in enumerate(singles))
    delivered = DeliveredEntry(None, 1, 1, 3, 0b111)
    entry = read_entry(entry_of(payload, num_messages_in_batch=3))
    came = EntryReader(TOPIC).incoming(entry, delivered, 0)
    assert [(message.payload, message.sequence_id) for message in came] == [(b"0", 3), (b"2", 5)]
    assert delivered.left == 0b101
