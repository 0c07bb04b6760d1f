"""Tells how far a long task is."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Progress(Protocol):
    def task(self, title: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        """A context that gives a function to be called after each step."""


class _Silent:
    @contextmanager
    def task(self, title: str, total: int) -> Iterator[Callable[[], None]]:
        yield lambda: None


SILENT = _Silent()
