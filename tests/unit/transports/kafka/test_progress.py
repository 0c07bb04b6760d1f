"""Which messages are acknowledged, and from where a group goes on."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.transports.kafka.progress import Progress


def _delivered(progress: Progress, *offsets: int) -> list[int]:
    return [offset for offset in offsets if progress.arrives(offset)]


def test_nothing_is_behind_before_anything_has_arrived() -> None:
    progress = Progress(7)
    assert (progress.low, progress.is_behind) == (7, False)


def test_in_order() -> None:
    progress = Progress(7)
    _delivered(progress, 7, 8)
    progress.acknowledge(7)
    assert (progress.low, progress.is_behind) == (8, True)
    progress.acknowledge(8)
    assert (progress.low, progress.is_behind) == (9, False)


def test_what_is_acknowledged_ahead_counts_once_those_before_it_are() -> None:
    progress = Progress(0)
    _delivered(progress, 0, 1, 2, 3)
    for offset in (3, 1, 2):
        progress.acknowledge(offset)
    assert progress.low == 0
    progress.acknowledge(0)
    assert progress.low == 4


def test_acknowledging_twice_changes_nothing() -> None:
    progress = Progress(0)
    _delivered(progress, 0, 1, 2)
    for offset in (1, 1, 0, 0):
        progress.acknowledge(offset)
    assert progress.low == 2


def test_offsets_that_never_come_are_no_hindrance() -> None:
    progress = Progress(0)
    _delivered(progress, 3, 4, 9)
    assert progress.low == 3
    for offset in (4, 9, 3):
        progress.acknowledge(offset)
    assert progress.low == 10


def test_the_first_message_says_where_an_unknown_place_is() -> None:
    progress = Progress(-1)
    _delivered(progress, 40)
    assert progress.low == 40


def test_cumulative() -> None:
    progress = Progress(0)
    _delivered(progress, *range(6))
    progress.acknowledge(4)
    progress.acknowledge_through(2)
    assert progress.low == 3
    progress.acknowledge(3)
    assert progress.low == 5
    progress.acknowledge_through(1)
    assert progress.low == 5


def test_after_a_rewind_only_what_is_not_acknowledged_comes_again() -> None:
    progress = Progress(0)
    _delivered(progress, *range(5))
    progress.acknowledge(0)
    progress.acknowledge(2)
    assert progress.rewind() == 1
    assert _delivered(progress, 1, 2, 3, 4, 5) == [1, 3, 4, 5]
    assert [progress.redeliveries(offset) for offset in (1, 3, 4, 5)] == [1, 1, 1, 0]


def test_a_rewind_of_what_is_all_acknowledged_starts_at_the_next_message() -> None:
    progress = Progress(0)
    _delivered(progress, 0)
    progress.acknowledge(0)
    assert progress.rewind() == 1
    assert not progress.is_rewound


def test_what_was_delivered_before_a_rewind_can_still_be_acknowledged() -> None:
    progress = Progress(0)
    _delivered(progress, 0, 1, 2)
    progress.rewind()
    progress.acknowledge(0)
    progress.acknowledge(1)
    assert _delivered(progress, 0, 1, 2) == [2]
    assert progress.low == 2


def test_a_message_that_comes_again_and_again_is_counted() -> None:
    progress = Progress(0)
    for times in range(4):
        assert _delivered(progress, 0, 1, 2) == [0, 1, 2]
        assert progress.redeliveries(0) == times
        progress.rewind()


def test_once_all_that_was_rewound_is_acknowledged_nothing_is_asked_any_more() -> None:
    progress = Progress(0)
    _delivered(progress, 0, 1)
    progress.rewind()
    _delivered(progress, 0, 1)
    progress.acknowledge_through(1)
    _delivered(progress, 2)
    assert not progress.is_rewound


def test_rejections_are_counted_until_the_message_is_acknowledged() -> None:
    progress = Progress(0)
    _delivered(progress, 0, 1)
    assert [progress.reject(1), progress.reject(1)] == [True, True]
    assert (progress.redeliveries(1), progress.redeliveries(0)) == (2, 0)
    progress.acknowledge(1)
    assert not progress.reject(1)
    assert progress.redeliveries(1) == 0


def test_a_topic_that_was_made_anew_starts_anew() -> None:
    progress = Progress(100)
    _delivered(progress, 100, 101, 102)
    progress.acknowledge(101)
    assert _delivered(progress, 0, 1) == [0, 1]
    progress.acknowledge(0)
    assert progress.low == 1


@given(st.sets(st.integers(0, 30), min_size=1), st.data())
def test_the_place_is_the_first_message_that_is_not_acknowledged(arrived: set[int], data: st.DataObject) -> None:
    progress = Progress(0)
    offsets = sorted(arrived)
    assert _delivered(progress, *offsets) == offsets
    left = set(offsets)
    for offset in data.draw(st.lists(st.sampled_from(offsets))):
        if data.draw(st.booleans()):
            progress.acknowledge(offset)
            left -= {offset}
        else:
            progress.acknowledge_through(offset)
            left = {other for other in left if other > offset}
        assert progress.low == min(left, default=offsets[-1] + 1)
    if left:
        assert progress.rewind() == min(left)
        assert _delivered(progress, *(offset for offset in offsets if offset >= min(left))) == sorted(left)
