"""How much of a producer is on its way."""

import asyncio
from threading import Event, Thread

import pytest

from tallystick.errors import Closed, QueueFull
from tallystick.messaging.in_flight import InFlight


def test_a_flush_waits_for_what_was_sent_before_it_alone() -> None:
    in_flight = InFlight(10, 30)
    before = in_flight.enter()
    flush = in_flight.flushed()
    after = in_flight.enter()
    assert not flush.done()
    assert list(in_flight.leave(before)) == [flush]
    assert list(in_flight.leave(after)) == []
    assert len(in_flight) == 0


def test_flushes_are_answered_in_their_order() -> None:
    in_flight = InFlight(10, 30)
    first = in_flight.enter()
    one = in_flight.flushed()
    second = in_flight.enter()
    two = in_flight.flushed()
    assert list(in_flight.leave(second)) == []
    assert list(in_flight.leave(first)) == [one, two]


def test_a_flush_of_nothing_is_done_at_once() -> None:
    assert InFlight(10, 30).flushed().done()


def test_a_full_queue_is_waited_for() -> None:
    in_flight = InFlight(1, 30)
    entered, began = in_flight.enter(), Event()

    def leave() -> None:
        began.wait(30)
        in_flight.leave(entered)

    leaving = Thread(target=leave)
    leaving.start()
    began.set()
    assert in_flight.enter() == 0
    leaving.join()
    assert len(in_flight) == 1


def test_waiting_for_room_ends() -> None:
    in_flight = InFlight(1, 0.01)
    in_flight.enter()
    with pytest.raises(QueueFull, match="none arrived within"):
        in_flight.enter()
    assert len(in_flight) == 1


def test_an_event_loop_is_not_made_to_wait() -> None:
    in_flight = InFlight(1, 30)
    in_flight.enter()

    async def one_more() -> None:
        in_flight.enter()

    with pytest.raises(QueueFull, match="await some of the sends"):
        asyncio.run(one_more())


def test_closing_wakes_those_who_wait() -> None:
    in_flight = InFlight(1, 30)
    in_flight.enter()
    closing = Thread(target=in_flight.close)
    closing.start()
    with pytest.raises(Closed):
        in_flight.enter()
    closing.join()
