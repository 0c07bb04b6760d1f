"""An answer that is not there yet: people wait for it in a thread or in asyncio, the engine sets it from its own."""

import asyncio
from collections.abc import Callable, Generator
from threading import Event, Lock
from typing import Any, Generic, TypeVar, cast

from tallystick.errors import TimedOut

T = TypeVar("T")


class Pending(Generic[T]):
    """`result()` waits in a thread, `await` in any event loop. The first answer counts, later ones are dropped.

    Made for every message that is sent, so it holds nothing that only waiting needs.
    """

    __slots__ = ("_answer", "_callbacks", "_error", "_is_done", "_lock")

    def __init__(self) -> None:
        self._lock = Lock()
        self._is_done = False
        self._answer: T | None = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Pending[T]], object]] | None = None

    def done(self) -> bool:
        return self._is_done

    def result(self, timeout_s: float | None = None) -> T:
        """The answer, or its error raised; `TimedOut` where none comes in time."""
        if not self._is_done:
            event = Event()
            self.add_done_callback(lambda _: event.set())
            if not event.wait(timeout_s):
                raise TimedOut(f"no answer within {timeout_s:g} s; what was asked may still happen")
        return self._outcome()

    def error(self) -> BaseException | None:
        """The error of an answer that is there; None for a good one."""
        return self._error

    def __await__(self) -> Generator[Any, None, T]:
        if not self._is_done:
            loop = asyncio.get_running_loop()
            woken: asyncio.Future[None] = loop.create_future()

            def wake() -> None:
                if not woken.done():
                    woken.set_result(None)

            self.add_done_callback(lambda _: loop.call_soon_threadsafe(wake))
            yield from woken
        return self._outcome()

    def add_done_callback(self, callback: "Callable[[Pending[T]], object]") -> None:
        """Called in the thread that sets the answer, or at once where it is there already. It must be quick."""
        with self._lock:
            if not self._is_done:
                if self._callbacks is None:
                    self._callbacks = []
                self._callbacks.append(callback)
                return
        callback(self)

    def set(self, answer: T) -> None:
        self._end(answer, None)

    def fail(self, error: BaseException) -> None:
        self._end(None, error)

    def _end(self, answer: T | None, error: BaseException | None) -> bool:
        """Whether this was the first answer."""
        with self._lock:
            if self._is_done:
                return False
            self._answer, self._error = answer, error
            self._is_done = True
            callbacks, self._callbacks = self._callbacks, None
        for callback in callbacks or ():
            callback(self)
        return True

    def _outcome(self) -> T:
        if self._error is not None:
            raise self._error
        return cast("T", self._answer)
