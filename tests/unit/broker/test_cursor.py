"""The cursor against the plainest model of one: a set of numbers."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.broker.cursor import Cursor, bits_of, words_of
from tallystick.broker.log.values import CursorState

_END = 40
_numbers = st.integers(0, _END - 1)
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("ack"), _numbers),
        st.tuples(st.just("ack_before"), st.integers(0, _END)),
        st.tuples(st.just("reset"), _numbers),
    ),
    max_size=60,
)


def _play(steps: list[tuple[str, int]]) -> tuple[Cursor, set[int]]:
    cursor, acked = Cursor(CursorState(0)), set[int]()
    for step, number in steps:
        match step:
            case "ack":
                assert cursor.ack(number) == (number not in acked)
                acked.add(number)
            case "ack_before":
                cursor.ack_before(number)
                acked |= set(range(number))
            case "reset":
                cursor.reset(number)
                acked = set(range(number))
    return cursor, acked


@given(_steps)
def test_a_cursor_knows_exactly_what_was_acknowledged(steps: list[tuple[str, int]]) -> None:
    cursor, acked = _play(steps)
    assert {n for n in range(_END) if cursor.is_acked(n)} == acked
    assert cursor.acked_before == next(n for n in range(_END + 1) if n not in acked)
    assert cursor.unacked_before(_END) == _END - len(acked)
    for number in range(_END):
        expected = next(n for n in range(number, _END + 1) if n not in acked)
        assert cursor.next_unacked(number) == expected
        unacked = [n for n in range(number, 2 * _END) if n not in acked]
        assert [cursor.after_unacked(number, count) for count in (1, 3)] == [unacked[0] + 1, unacked[2] + 1]


@given(_steps)
def test_a_cursor_comes_back_from_its_stored_state(steps: list[tuple[str, int]]) -> None:
    cursor, acked = _play(steps)
    again = Cursor(cursor.state({}))
    assert {n for n in range(_END) if again.is_acked(n)} == acked
    assert again.state({}) == cursor.state({})


def test_a_batch_is_acknowledged_once_all_its_messages_are() -> None:
    cursor = Cursor(CursorState(0))
    assert not cursor.ack_messages(0, 0b1101)
    assert not cursor.ack_messages(0, 0b0111)
    assert cursor.partly == {0: 0b0101}
    assert Cursor(cursor.state({})).partly == {0: 0b0101}
    assert cursor.ack_messages(0, 0b1010)
    assert cursor.acked_before == 1
    assert cursor.partly == {}


def test_messages_of_an_acknowledged_batch_change_nothing() -> None:
    cursor = Cursor(CursorState(0))
    cursor.ack(0)
    assert not cursor.ack_messages(0, 0b1)
    assert cursor.partly == {}


@given(st.integers(0, 2**200))
def test_bits_survive_the_words_of_the_wire(bits: int) -> None:
    words = words_of(bits)
    assert all(-(2**63) <= word < 2**63 for word in words)
    assert bits_of(words) == bits
