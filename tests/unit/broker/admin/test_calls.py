"""Calls from other threads into the event loop: the answer, the error, or not waiting for ever."""

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest

from tallystick.broker.admin.calls import LoopCalls
from tallystick.errors import TopicNotFound, Unavailable


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    found = asyncio.new_event_loop()
    running = threading.Thread(target=found.run_forever)
    running.start()
    yield found
    found.call_soon_threadsafe(found.stop)
    running.join()
    found.close()


def opened(loop: asyncio.AbstractEventLoop, seconds: float = 5.0) -> LoopCalls:
    calls = LoopCalls(seconds)
    is_open = threading.Event()
    loop.call_soon_threadsafe(calls.open)
    loop.call_soon_threadsafe(is_open.set)
    assert is_open.wait(5)
    return calls


def test_the_answer_comes_back_from_the_loops_thread(loop: asyncio.AbstractEventLoop) -> None:
    assert opened(loop).call(threading.get_ident) != threading.get_ident()


def test_an_error_comes_as_it_is(loop: asyncio.AbstractEventLoop) -> None:
    async def fail() -> None:
        raise TopicNotFound("t")

    with pytest.raises(TopicNotFound, match="Topic t not found"):
        opened(loop).run(fail)


def test_before_the_start_it_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="try again"):
        LoopCalls().call(lambda: None)


def test_what_takes_too_long_goes_on_without_its_caller(loop: asyncio.AbstractEventLoop) -> None:
    is_done = threading.Event()

    async def slow() -> None:
        await asyncio.sleep(0.3)
        is_done.set()

    with pytest.raises(Unavailable, match="may still happen"):
        opened(loop, 0.05).run(slow)
    assert is_done.wait(5)


def test_who_waits_is_sent_away_when_the_broker_stops(loop: asyncio.AbstractEventLoop) -> None:
    calls = opened(loop, 60.0)
    is_waiting = threading.Event()

    async def for_ever() -> None:
        is_waiting.set()
        await asyncio.sleep(0.5)

    def stop() -> None:
        assert is_waiting.wait(5)
        loop.call_soon_threadsafe(calls.close)

    threading.Thread(target=stop).start()
    started = time.monotonic()
    with pytest.raises(Unavailable):
        calls.run(for_ever)
    assert time.monotonic() - started < 0.4
    with pytest.raises(Unavailable):
        calls.call(lambda: None)
    time.sleep(0.5)
