"""Trying again: how long to wait before the next try, and when to give up."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tallystick.errors import TallystickError, Unavailable

T = TypeVar("T")

_FIRST_S = 0.1
_LONGEST_S = 10.0
_JITTER = 0.2
"""So that clients which lost the same broker do not all come back at the same moment."""


class Backoff:
    """100 ms, doubling up to 10 s, each shortened by up to a fifth."""

    def __init__(self, first_s: float = _FIRST_S, longest_s: float = _LONGEST_S) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._next_s = first_s

    def next_s(self) -> float:
        wait_s = self._next_s
        self._next_s = min(self._longest_s, wait_s * 2)
        return wait_s * (1 - random.random() * _JITTER)  # noqa: S311

    def reset(self) -> None:
        self._next_s = self._first_s


async def patiently(work: Callable[[], Awaitable[T]], url: str, seconds: float) -> T:
    """Does again what may succeed later, until the time is up; then raises `Unavailable` with the last reason."""
    backoff, last = Backoff(), "no answer"
    try:
        async with asyncio.timeout(seconds):
            while True:
                try:
                    return await work()
                except TallystickError as e:
                    if not e.transient:
                        raise
                    last = e.message
                await asyncio.sleep(backoff.next_s())
    except TimeoutError as e:
        raise Unavailable(f"{url} could not be used for {seconds:g} s; the last reason: {last}") from e
