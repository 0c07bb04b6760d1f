"""A cache whose values are made once, however many threads ask at the same time."""

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_MOST = 10_000


class Once(Generic[K, V]):
    """Who asks for what is being made waits for it, and for nothing else. What fails is made anew for the next one.

    No value is None.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lock = Lock()
        self._made: dict[K, V] = {}
        self._making: dict[K, Lock] = {}

    def get(self, key: K, make: Callable[[], V]) -> V:
        found = self._made.get(key)
        return self._wait_or_make(key, make) if found is None else found

    def _wait_or_make(self, key: K, make: Callable[[], V]) -> V:
        with self._lock:
            turn = self._making.setdefault(key, Lock())
        with turn:
            try:
                found = self._made.get(key)
                return self._keep(key, make()) if found is None else found
            finally:
                with self._lock:
                    self._making.pop(key, None)

    def _keep(self, key: K, value: V) -> V:
        with self._lock:
            if len(self._made) >= self._most:
                del self._made[next(iter(self._made))]
            self._made[key] = value
        return value
