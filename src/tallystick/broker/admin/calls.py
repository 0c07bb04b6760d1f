"""From any thread into the broker's event loop, and back with the answer."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from typing import Any, TypeVar

from tallystick.errors import Unavailable

T = TypeVar("T")

_SECONDS = 30.0


class LoopCalls:
    """What has begun goes on to its end: only who waits for it does not wait for ever."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed: Future[None] = Future()

    def open(self) -> None:
        """Called in the loop."""
        self._loop = asyncio.get_running_loop()

    def close(self) -> None:
        """Called in the loop, which may not come to answer any more: nobody waits for it from here on."""
        self._loop = None
        self._closed.set_result(None)

    def run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Blocks until it is done; errors come as they are."""
        loop = self._loop
        if loop is None:
            raise Unavailable("the broker starts or stops at the moment; try again")
        future = asyncio.run_coroutine_threadsafe(work(), loop)
        either: list[Future[Any]] = [future, self._closed]
        wait(either, self._seconds, FIRST_COMPLETED)
        if not future.done():
            raise Unavailable(f"the broker did not answer within {self._seconds:g} s; what was begun may still happen")
        try:
            return future.result()
        except CancelledError as e:
            raise Unavailable("the broker stops at the moment; try again") from e

    def call(self, function: Callable[[], T]) -> T:
        """The same for what does not wait for anything in the loop."""

        async def work() -> T:
            return function()

        return self.run(work)
