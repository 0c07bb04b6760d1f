import pytest

from tallystick.errors import InvalidArgument
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Mark, Outgoing
from tallystick.model.subject import Version
from tallystick.transports.pulsar.batching import Batcher


def batcher(most_messages: int = 1000, most_bytes: int = 100_000, next_sequence_id: int = 0) -> Batcher:
    return Batcher(most_messages, most_bytes, next_sequence_id)


def add(to: Batcher, *messages: Outgoing) -> list[bool]:
    return [to.add(message, Pending()) for message in messages]


def sealed(of: Batcher) -> list[list[bytes]]:
    of.seal()
    return [batch.payloads for batch in of.sealed]


def test_the_first_message_opens_a_batch_and_the_others_join_it() -> None:
    batches = batcher()
    assert add(batches, Outgoing(b"a"), Outgoing(b"b")) == [True, False]
    assert batches.messages == 2
    assert sealed(batches) == [[b"a", b"b"]]


def test_a_batch_is_complete_with_so_many_messages() -> None:
    batches = batcher(most_messages=2)
    assert add(batches, *(Outgoing(b"x") for _ in range(4))) == [True, True, True, True]
    assert batches.open is None
    assert len(batches.sealed) == 2


def test_a_batch_is_complete_with_so_many_bytes() -> None:
    batches = batcher(most_bytes=1000)
    add(batches, *(Outgoing(b"x" * 300) for _ in range(7)))
    assert [len(batch) for batch in sealed(batches)] == [3, 3, 1]


def test_a_message_larger_than_a_batch_is_one_by_itself() -> None:
    batches = batcher(most_bytes=1000)
    add(batches, Outgoing(b"a"), Outgoing(b"x" * 2000), Outgoing(b"b"))
    assert [len(batch) for batch in sealed(batches)] == [1, 1, 1]


def test_another_mark_starts_another_batch() -> None:
    batches = batcher()
    marks = [Mark(Version(1)), Mark(Version(1)), Mark(Version(2)), Mark(schema_id=b"1"), Mark(schema_id=b"1")]
    add(batches, *(Outgoing(b"x", mark) for mark in marks))
    batches.seal()
    assert [batch.mark for batch in batches.sealed] == [Mark(Version(1)), Mark(Version(2)), Mark(schema_id=b"1")]


def test_another_origin_starts_another_batch() -> None:
    batches = batcher()
    add(batches, *(Outgoing(b"x", replicated_from=origin) for origin in (None, "a", "a", "b")))
    batches.seal()
    assert [batch.replicated_from for batch in batches.sealed] == [None, "a", "b"]


def test_what_is_to_be_delivered_later_travels_alone() -> None:
    batches = batcher()
    add(batches, Outgoing(b"a"), Outgoing(b"b", deliver_at_ms=1), Outgoing(b"c"))
    batches.seal()
    assert [(batch.payloads, batch.is_alone) for batch in batches.sealed] == [
        ([b"a"], False),
        ([b"b"], True),
        ([b"c"], False),
    ]


def test_without_batches_every_message_travels_alone() -> None:
    batches = batcher(most_messages=1)
    add(batches, Outgoing(b"a"), Outgoing(b"b"))
    assert [batch.is_alone for batch in batches.sealed] == [True, True]


def test_sequence_ids_follow_each_other_in_a_batch() -> None:
    batches = batcher(next_sequence_id=5)
    given = [None, 6, 7, 20, None, 21, 3]
    add(batches, *(Outgoing(b"x", sequence_id=number) for number in given))
    batches.seal()
    ids = [(batch.first_sequence_id, batch.last_sequence_id) for batch in batches.sealed]
    assert ids == [(5, 7), (20, 21), (21, 21), (3, 3)]
    assert batches.next_sequence_id == 4


def test_only_messages_with_more_than_a_payload_take_room_for_it() -> None:
    batches = batcher()
    add(batches, Outgoing(b"a"), Outgoing(b"b", key=b"k"), Outgoing(None), Outgoing(b"d"))
    batches.seal()
    assert sorted(batches.sealed[0].more) == [1, 2]
    assert batches.sealed[0].payloads == [b"a", b"b", b"", b"d"]


@pytest.mark.parametrize(
    "message",
    [
        Outgoing(b"x", key=b"\xff"),
        Outgoing(b"x", event_time_ms=-1),
        Outgoing(b"x", sequence_id=-1),
        Outgoing(b"x", properties={"a": "\ud800"}),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_nothing(message: Outgoing) -> None:
    batches = batcher()
    with pytest.raises(InvalidArgument):
        batches.add(message, Pending())
    assert batches.messages == 0
    assert batches.next_sequence_id == 0
