import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.transports.pulsar.acknowledging import Acknowledgements, DeliveredEntry, bits_of, words_of
from tallystick.wire.pulsar import pulsar_pb2 as pb


def batch(size: int, entry: int = 5, left: int | None = None, generation: int = 0) -> DeliveredEntry:
    return DeliveredEntry(None, 1, entry, size, (1 << max(1, size)) - 1 if left is None else left, generation)


def told(acks: Acknowledgements) -> list[tuple[str, list[tuple[int, list[int]]]]]:
    return [
        (pb.CommandAck.AckType.Name(command.ack_type), [(id_.entryId, list(id_.ack_set)) for id_ in command.message_id])
        for command in acks.take(9)
    ]


def test_an_entry_that_is_no_batch() -> None:
    acks = Acknowledgements()
    acks.add(batch(0), -1)
    assert told(acks) == [("Individual", [(5, [])])]
    assert told(acks) == []


def test_of_a_batch_it_is_told_what_is_left() -> None:
    acks, delivered = Acknowledgements(), batch(4)
    acks.add(delivered, 1)
    acks.add(delivered, 2)
    assert told(acks) == [("Individual", [(5, [0b1001])])]
    acks.add(delivered, 2)
    assert told(acks) == []
    acks.add(delivered, 0)
    acks.add(delivered, 3)
    assert told(acks) == [("Individual", [(5, [])])]
    assert acks.partly == {}


def test_a_batch_that_is_partly_acknowledged_is_known_when_it_comes_again() -> None:
    acks, delivered = Acknowledgements(), batch(2)
    acks.add(delivered, 0)
    assert acks.partly == {(1, 5): delivered}


@pytest.mark.parametrize(("index", "left"), [(0, [0b1110]), (2, [0b1000]), (3, [])])
def test_all_up_to_a_message(index: int, left: list[int]) -> None:
    acks = Acknowledgements()
    acks.add_up_to(batch(4), index)
    assert told(acks) == [("Cumulative", [(5, left)])]


def test_of_several_the_furthest_counts() -> None:
    acks = Acknowledgements()
    for entry in (5, 8, 7):
        acks.add_up_to(batch(0, entry), -1)
    assert told(acks) == [("Cumulative", [(8, [])])]


def test_what_was_delivered_before_a_seek_does_not_count() -> None:
    acks, before = Acknowledgements(), batch(3)
    acks.add(before, 0)
    acks.forget()
    acks.add(before, 1)
    acks.add_up_to(before, 2)
    assert not acks
    acks.add(batch(3, generation=1), 0)
    assert told(acks) == [("Individual", [(5, [0b110])])]


def test_many_go_in_several_commands() -> None:
    acks = Acknowledgements()
    for entry in range(2500):
        acks.add(batch(0, entry), -1)
    assert [len(command.message_id) for command in acks.take(1)] == [1000, 1000, 500]


@given(st.integers(0, 2**300))
def test_words_and_bits(bits: int) -> None:
    words = words_of(bits)
    assert all(-(2**63) <= word < 2**63 for word in words)
    assert bits_of(words) == bits


@given(st.integers(1, 200), st.lists(st.integers(0, 199), max_size=300))
def test_a_batch_is_acknowledged_with_its_last_message(size: int, order: list[int]) -> None:
    """What the broker learns, put together, is what was acknowledged."""
    acks, delivered, known = Acknowledgements(), batch(size), (1 << size) - 1
    for index in (index for index in order if index < size):
        acks.add(delivered, index)
        for command in acks.take(1):
            known &= bits_of(command.message_id[0].ack_set)
    assert known == sum(1 << index for index in range(size) if index not in order)
