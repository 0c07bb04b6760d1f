"""How much is fetched ahead."""

import threading

from tallystick.transports.kafka.room import Room


def test_messages_that_are_taken_make_room() -> None:
    room = Room(10, 1000)
    room.fill(10, 100)
    assert room.left() == 0
    room.taken(4)
    assert room.left() == 4


def test_large_messages_fill_it_sooner() -> None:
    room = Room(10, 1000)
    room.fill(2, 1000)
    assert room.left() == 0
    room.taken(1)
    assert room.left() == 9


def test_bytes_leave_with_the_messages_of_their_batch() -> None:
    room = Room(10, 1000)
    room.fill(2, 900)
    room.fill(1, 200)
    room.taken(2)
    assert room.left() == 9
    room.fill(1, 800)
    assert room.left() == 0


def test_more_taken_than_delivered_is_no_more_room() -> None:
    room = Room(10, 1000)
    room.fill(1, 1)
    room.taken(5)
    assert room.left() == 10


def test_what_is_dropped_makes_room() -> None:
    room = Room(10, 1000)
    room.fill(10, 5000)
    room.empty()
    room.taken(10)
    assert room.left() == 10


def test_there_is_always_room_for_one() -> None:
    assert Room(0, 1000).left() == 1


def test_who_waits_is_woken_when_half_is_free() -> None:
    room, is_over = Room(10, 1000), threading.Event()
    room.fill(10, 0)

    def wait() -> None:
        room.wait(30)
        is_over.set()

    thread = threading.Thread(target=wait)
    thread.start()
    room.taken(4)
    assert not is_over.is_set()
    room.taken(1)
    thread.join(30)
    assert is_over.is_set()
