"""librdkafka's answers to what was sent."""

import threading
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaError, Producer

from tallystick.errors import TallystickError
from tallystick.messaging.pending import Pending
from tallystick.model.position import KafkaPosition, Position
from tallystick.transports.kafka.clients import log

Explain = Callable[[KafkaError, int], TallystickError]
"""An error of librdkafka and the size of the message, in our words."""

_POLL_S = 0.02
_IDLE_S = 0.15
_ASIDE_S = 0.1
_ROOM_S = 0.002


class Deliveries:
    """Serves the callbacks of one producer, and closes it in the end.

    Every callback of librdkafka asks for Python's lock anew. A thread that sends without a pause would give it away
    only every few milliseconds, for one callback each time; so whoever sends steps aside while callbacks are served.
    """

    def __init__(self, producer: Producer) -> None:
        self.is_serving = False
        """Set by the callbacks."""
        self.is_idle = False
        self._producer = producer
        self._wake = threading.Event()
        self._gate: threading.Lock | None = None
        self._must_flush = False
        self._close_by: float | None = None
        self._closed: Pending[None] = Pending()
        self._thread = threading.Thread(target=self._run, name="tallystick-kafka-outlet", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """For the first message after a while."""
        self.is_idle = False
        self._wake.set()

    def flush(self) -> None:
        self._must_flush = True
        self._wake.set()

    def step_aside(self) -> None:
        """Waits until the callbacks of one round are served; not long."""
        if threading.current_thread() is self._thread:
            return
        gate = threading.Lock()
        gate.acquire()
        self._gate = gate
        if self.is_serving:
            gate.acquire(timeout=_ASIDE_S)

    def wait_a_little(self) -> bool:
        """For answers to come. False in their own thread, which would wait for itself."""
        if threading.current_thread() is self._thread:
            return False
        time.sleep(_ROOM_S)
        return True

    def close(self, timeout_s: float) -> Pending[None]:
        """Set when all is answered, after the time at the latest; what is left then fails."""
        self._close_by = time.monotonic() + timeout_s
        self._wake.set()
        return self._closed

    def join(self) -> None:
        self._thread.join()

    def _run(self) -> None:
        while self._close_by is None:
            if len(self._producer):
                self._serve(self._flush_round if self._must_flush else self._poll_round)
            else:
                self._rest()
        self._serve(self._end)
        self._closed.set(None)

    def _serve(self, one_round: Callable[[], object]) -> None:
        try:
            one_round()
        except Exception:  # noqa: BLE001 - callbacks are anybody's: the thread goes on for the other messages
            log.exception("a callback of a sent message failed")
        self.is_serving = False
        gate, self._gate = self._gate, None
        if gate is not None:
            gate.release()

    def _poll_round(self) -> None:
        self._producer.poll(_POLL_S)

    def _flush_round(self) -> None:
        self._must_flush = False
        self._producer.flush(_IDLE_S)

    def _rest(self) -> None:
        """Nothing is on its way. librdkafka may still have something to say, such as errors."""
        self.is_idle = True
        if not len(self._producer):
            self._wake.wait(_IDLE_S)
        self.is_idle = False
        self._wake.clear()
        self._serve(lambda: self._producer.poll(0))

    def _end(self) -> None:
        assert self._close_by is not None
        left = self._producer.flush(max(0.0, self._close_by - time.monotonic()))
        if left:
            self._producer.purge()
            self._producer.flush(1.0)
        self._producer.close()


class Waiter:
    """Takes the answer to one message, and then to another one.

    The garbage collector looks again and again at whatever is made for a message and lives until its answer comes;
    so there is as little of it as possible.
    """

    __slots__ = ("_deliveries", "_explain", "_idle", "sent", "settle")

    def __init__(self, idle: "list[Waiter]", deliveries: Deliveries, explain: Explain) -> None:
        self._idle = idle
        self._deliveries = deliveries
        self._explain = explain
        self.sent: Pending[Position]
        self.settle = self._settle
        """librdkafka's on_delivery."""

    def fail(self, error: TallystickError) -> None:
        """There will be no answer."""
        sent = self.sent
        self._idle.append(self)
        sent.fail(error)

    def _settle(self, error: KafkaError | None, message: Any) -> None:
        self._deliveries.is_serving = True
        sent = self.sent
        self._idle.append(self)
        if error is None:
            sent.set(KafkaPosition(message.partition(), message.offset()))
        else:
            sent.fail(self._explain(error, len(message)))
