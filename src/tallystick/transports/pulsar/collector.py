"""Takes messages from any thread, and hands their batches over to the loop."""

import asyncio
import time
from collections.abc import Callable
from threading import Lock

from tallystick.errors import TallystickError
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Outgoing
from tallystick.messaging.settings import ProducerSettings
from tallystick.model.position import Position
from tallystick.transports.pulsar.batching import Batch, Batcher


class Collector:
    """`put` and `flush` are for any thread, the rest for the loop, which is woken for a batch that begins or is
    complete, never for a message. `send` is called there with every complete batch, in their order, and once more with
    None when there is no more."""

    def __init__(self, settings: ProducerSettings, send: Callable[[Batch | None], None]) -> None:
        self._delay_s = settings.batch_delay_s
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._lock = Lock()
        self._batcher = Batcher(settings.batch_messages, settings.batch_bytes, 0)
        self._is_handed_over = False
        self._must_flush = False
        self._closed: TallystickError | None = None
        self._due: asyncio.TimerHandle | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no batch waits for company."""
        return self._batcher.open is None

    @property
    def messages(self) -> int:
        with self._lock:
            return self._batcher.messages

    def set_limits(self, most_bytes: int, next_sequence_id: int | None) -> None:
        with self._lock:
            self._batcher.most_bytes = most_bytes
            if next_sequence_id is not None:
                self._batcher.next_sequence_id = next_sequence_id

    def put(self, message: Outgoing, sent: Pending[Position]) -> None:
        try:
            with self._lock:
                if self._closed is not None:
                    raise self._closed
                if self._batcher.add(message, sent) and not self._is_handed_over:
                    self._is_handed_over = True
                    self._loop.call_soon_threadsafe(self.take)
        except TallystickError as e:
            sent.fail(e)

    def flush(self) -> None:
        with self._lock:
            if self._batcher.open is not None and self._closed is None:
                self._must_flush = True
                if not self._is_handed_over:
                    self._is_handed_over = True
                    self._loop.call_soon_threadsafe(self.take)

    def take(self) -> None:
        """Sends what is complete, and sees to it that what is not will be sent in time."""
        with self._lock:
            self._is_handed_over = False
            if self._must_flush:
                self._batcher.seal()
                self._must_flush = False
            batch, is_closed = self._batcher.open, self._closed is not None
        sealed = self._batcher.sealed
        if sealed:
            while sealed:
                self._send(sealed.popleft())
            self._send(None)
        if batch is not None and self._due is None and not is_closed:
            wait_s = batch.began + self._delay_s - time.monotonic()
            self._due = self._loop.call_later(max(0.0, wait_s), self._take_due, batch)

    def _take_due(self, batch: Batch) -> None:
        self._due = None
        with self._lock:
            if self._batcher.open is batch:
                self._batcher.seal()
        self.take()

    def close(self, error: TallystickError) -> None:
        """What comes from now on fails; what came before is sent."""
        with self._lock:
            self._closed = self._closed or error
            self._batcher.seal()
        if self._due is not None:
            self._due.cancel()
        self.take()
