"""An event loop in a thread of its own, and appends in it: the test's thread is one that may block."""

import asyncio
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from tallystick.broker.log.log import Log
from tallystick.broker.log.values import Entry


def entry(number: int, data: bytes = b"data", published_ms: int = 0, messages: int = 1) -> Entry:
    return Entry(number, published_ms, messages, data)


def entries(count: int, first: int = 0, size: int = 100) -> list[Entry]:
    return [
        Entry(number, 1000 * number, 1 + number % 3, number.to_bytes(8) * (size // 8))
        for number in range(first, first + count)
    ]


class Appending:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop

    def __call__(
        self, log: Log, topic_id: int, added: Iterable[Entry], sequence: tuple[str, int] | None = None
    ) -> list[BaseException | None]:
        """Appends them all at once and waits; what came out, in the order in which it was told."""
        return asyncio.run_coroutine_threadsafe(_append(log, topic_id, list(added), sequence), self.loop).result(60)


async def _append(
    log: Log, topic_id: int, added: list[Entry], sequence: tuple[str, int] | None
) -> list[BaseException | None]:
    told: list[tuple[int, BaseException | None]] = []
    over = asyncio.Event()

    def note(number: int, failure: BaseException | None) -> None:
        told.append((number, failure))
        if len(told) == len(added):
            over.set()

    for one in added:
        log.append(topic_id, one, lambda failure, number=one.number: note(number, failure), sequence)  # type: ignore[misc]
    await over.wait()
    assert [number for number, _ in told] == [one.number for one in added]
    return [failure for _, failure in told]


@contextmanager
def appending() -> Iterator[Appending]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield Appending(loop)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
