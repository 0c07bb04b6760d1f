"""The event loop on which all of a client's connections live, in a thread of its own."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from tallystick.errors import Closed
from tallystick.messaging.pending import Pending

T = TypeVar("T")


class Engine:
    """Runs coroutines for threads and for other event loops: both get a `Pending`."""

    def __init__(self) -> None:
        self.loop = _new_loop()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="tallystick-client", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], answer: Pending[T] | None = None) -> Pending[T]:
        """The answer, in the `Pending` that is given or in a new one."""
        answer = Pending() if answer is None else answer
        if self._is_closed:
            work.close()
            answer.fail(Closed("the client is closed"))
            return answer
        asyncio.run_coroutine_threadsafe(_answering(work, answer), self.loop)
        return answer

    def close(self) -> None:
        """Ends what still runs. Not from the engine's own thread."""
        if self._is_closed:
            return
        self._is_closed = True
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
            tasks = asyncio.all_tasks(self.loop)
            for task in tasks:
                task.cancel()
            self.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
        finally:
            self.loop.close()


async def _answering(work: Coroutine[Any, Any, T], answer: Pending[T]) -> None:
    try:
        answer.set(await work)
    except asyncio.CancelledError:
        answer.fail(Closed("the client was closed meanwhile"))
        raise
    except Exception as e:  # noqa: BLE001 - whatever it is, it belongs to the one who waits
        answer.fail(e)


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
