"""How far a long run is: a bar on the terminal, and nothing where there is none."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int, int], None]
"""Bytes that were read, and messages that were sent, so far."""

_EVERY_S = 0.1


@contextmanager
def bar(title: str, size: int | None) -> Iterator[Advance]:
    """`size` in bytes; None where nobody knows how much will come."""
    if not sys.stderr.isatty():
        yield lambda read, sent: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}"), TimeElapsedColumn())
    began = shown = time.monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=size, told="")

        def advance(read: int, sent: int) -> None:
            nonlocal shown
            now = time.monotonic()
            if now - shown >= _EVERY_S:
                shown = now
                progress.update(task, completed=read, told=f"{sent:,} sent, {sent / (now - began):,.0f}/s")

        yield advance
