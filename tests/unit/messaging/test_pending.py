"""Answers that threads and event loops wait for."""

import asyncio
from threading import Thread

import pytest

from tallystick.errors import TimedOut, Unavailable
from tallystick.messaging.pending import Pending


def test_the_first_answer_counts() -> None:
    pending: Pending[int] = Pending()
    pending.set(1)
    pending.set(2)
    pending.fail(Unavailable("late"))
    assert pending.result() == 1
    assert pending.error() is None


def test_an_error_is_raised_for_everybody_who_asks() -> None:
    pending: Pending[int] = Pending()
    pending.fail(Unavailable("gone"))
    for _ in range(2):
        with pytest.raises(Unavailable, match="gone"):
            pending.result()


def test_a_thread_waits_until_the_answer_is_there() -> None:
    pending: Pending[str] = Pending()
    answering = Thread(target=pending.set, args=["here"])
    answering.start()
    assert pending.result(30) == "here"
    answering.join()


def test_waiting_ends_with_its_time() -> None:
    with pytest.raises(TimedOut, match=r"0\.01 s"):
        Pending[int]().result(0.01)


def test_an_event_loop_awaits_what_another_thread_sets() -> None:
    async def wait() -> str:
        pending: Pending[str] = Pending()
        answering = Thread(target=pending.set, args=["here"])
        answering.start()
        try:
            return await pending
        finally:
            answering.join()

    assert asyncio.run(wait()) == "here"


def test_an_answer_that_is_there_is_not_waited_for() -> None:
    async def wait() -> int:
        pending: Pending[int] = Pending()
        pending.set(7)
        return await pending

    assert asyncio.run(wait()) == 7


def test_callbacks_are_called_once_before_and_after_the_answer() -> None:
    pending: Pending[int] = Pending()
    seen: list[int] = []
    pending.add_done_callback(lambda done: seen.append(done.result()))
    pending.set(1)
    pending.add_done_callback(lambda done: seen.append(done.result() + 1))
    assert seen == [1, 2]


def test_one_that_gives_up_awaiting_leaves_the_answer_to_the_others() -> None:
    async def give_up() -> int:
        pending: Pending[int] = Pending()

        async def wait() -> int:
            return await pending

        hasty = asyncio.create_task(wait())
        await asyncio.sleep(0)
        hasty.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hasty
        pending.set(3)
        return await pending

    assert asyncio.run(give_up()) == 3
