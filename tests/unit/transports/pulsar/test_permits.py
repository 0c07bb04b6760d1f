from hypothesis import given
from hypothesis import strategies as st

from tallystick.transports.pulsar.permits import Permits


def test_all_is_granted_at_first() -> None:
    permits = Permits(100)
    assert permits.to_grant() == 100
    assert permits.to_grant() == 0


def test_more_is_granted_when_a_quarter_was_taken() -> None:
    permits = Permits(100)
    permits.to_grant()
    permits.received(100, 100)
    permits.taken(24)
    assert permits.to_grant() == 0
    permits.taken(1)
    assert permits.to_grant() == 25


def test_a_broker_that_sent_more_than_it_might_owes_the_rest() -> None:
    permits = Permits(10)
    permits.to_grant()
    permits.received(30, 30)
    permits.taken(30)
    assert permits.to_grant() == 30


def test_after_a_new_start_only_what_has_room_is_granted() -> None:
    permits = Permits(10)
    permits.to_grant()
    permits.received(4, 4)
    permits.attached()
    assert permits.to_grant() == 6


def test_what_is_dropped_makes_room() -> None:
    permits = Permits(10)
    permits.to_grant()
    permits.received(10, 10)
    permits.dropped()
    assert permits.to_grant() == 10


@given(st.integers(0, 50), st.lists(st.tuples(st.integers(1, 30), st.integers(0, 30), st.booleans()), max_size=50))
def test_whoever_takes_everything_and_tells_late_gets_more(queue_size: int, steps: list[tuple[int, int, bool]]) -> None:
    """The consumer tells of half a queue at once, and the inlet waits for another quarter."""
    permits, at_broker, waiting = Permits(queue_size), 0, 0
    untold_at_most = max(1, queue_size // 2) - 1 + permits.least_taken - 1
    for counted, taken, is_lost in steps:
        at_broker += permits.to_grant()
        if is_lost:
            permits.attached()
            at_broker = permits.to_grant()
        if at_broker > 0:
            permits.received(counted, counted)
            at_broker -= counted
            waiting += counted
        permits.taken(min(taken, waiting))
        waiting -= min(taken, waiting)
    permits.taken(max(0, waiting - untold_at_most))
    assert at_broker + permits.to_grant() > 0
