"""A producer on one topic."""

import time

from confluent_kafka import KafkaError, KafkaException, Producer

from tallystick.errors import Closed, InvalidArgument, QueueFull, TallystickError, Unsupported
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import NO_MARK, Mark, Outgoing
from tallystick.messaging.settings import ProducerSettings
from tallystick.model.definition import SchemaDefinition
from tallystick.model.position import Position
from tallystick.model.subject import Version
from tallystick.transports.kafka.arrivals import REPLICATED_FROM
from tallystick.transports.kafka.deliveries import Deliveries, Waiter
from tallystick.transports.kafka.failures import send_failure

Headers = list[tuple[str, str | bytes | None]]
_REFUSED = (KafkaException, RuntimeError, OverflowError, ValueError)
"""By Kafka, by a producer that is closed, and numbers and texts that nobody can send."""


class KafkaOutlet:
    """Idempotent: librdkafka sends again by itself, and Kafka drops what comes twice.

    Where that breaks down (Kafka has lost what it knew of the producer) librdkafka gives up: everything that waits
    and every later message fails with `Unavailable`, and the producer must be opened again.
    """

    version: Version | None = None

    def __init__(self, producer: Producer, topic: str, servers: str, name: str, settings: ProducerSettings) -> None:
        self.name = name
        self._topic = topic
        self._servers = servers
        self._timeout_s = settings.send_timeout_s
        self._produce = producer.produce
        self._deliveries = Deliveries(producer)
        self._waiters: list[Waiter] = []
        self._mark: Mark = NO_MARK
        self._mark_headers: Headers = []
        self._closing: Pending[None] | None = None

    @property
    def is_closed(self) -> bool:
        return self._closing is not None and self._closing.done()

    async def attach(self, definition: SchemaDefinition) -> Version:
        raise Unsupported(f"topic {self._topic}: Kafka keeps no schemas; name a registry")

    def put(self, message: Outgoing, sent: Pending[Position]) -> None:
        """Waits only where librdkafka's queue is full, which it is not while `max_pending` is kept."""
        timestamp = message.event_time_ms
        if message.deliver_at_ms is not None or message.ordering_key is not None or timestamp is not None:
            refusal = self._refusal(message)
            if refusal is not None:
                sent.fail(refusal)
                return
        is_bare = message.mark is NO_MARK and not message.properties and message.replicated_from is None
        headers = None if is_bare else self._headers(message)
        partition = -1 if message.partition is None else message.partition
        waiter = self._waiters.pop() if self._waiters else Waiter(self._waiters, self._deliveries, self._explain)
        waiter.sent = sent
        settle = waiter.settle
        try:
            self._produce(self._topic, message.payload, message.key, partition, settle, None, timestamp or 0, headers)
        except BufferError:
            self._put_when_there_is_room(message, partition, waiter, headers)
        except _REFUSED as e:
            self._fail(waiter, e, message)
        deliveries = self._deliveries
        if deliveries.is_serving:
            deliveries.step_aside()
        elif deliveries.is_idle:
            deliveries.wake()

    def flush(self) -> None:
        self._deliveries.flush()

    async def close(self) -> None:
        if self._closing is None:
            self._closing = self._deliveries.close(self._timeout_s)
        await self._closing
        self._deliveries.join()

    def _headers(self, message: Outgoing) -> Headers:
        if message.mark is not self._mark:
            self._mark, self._mark_headers = message.mark, list(message.mark.headers)
        if not message.properties and message.replicated_from is None:
            return self._mark_headers
        headers: Headers = [*message.properties.items(), *self._mark_headers]
        if message.replicated_from is not None:
            headers.append((REPLICATED_FROM, message.replicated_from))
        return headers

    def _refusal(self, message: Outgoing) -> TallystickError | None:
        if message.deliver_at_ms is not None:
            return Unsupported(f"topic {self._topic}: Kafka delivers at once; leave out the time of delivery")
        if message.ordering_key is not None:
            return Unsupported(f"topic {self._topic}: Kafka orders by the key; leave out the ordering key")
        if message.event_time_ms is not None and message.event_time_ms <= 0:
            return InvalidArgument("event_time_ms", f"topic {self._topic}: Kafka takes times after 1970-01-01 alone")
        return None

    def _put_when_there_is_room(
        self, message: Outgoing, partition: int, waiter: Waiter, headers: Headers | None
    ) -> None:
        limit = time.monotonic() + self._timeout_s
        settle, timestamp = waiter.settle, message.event_time_ms or 0
        while self._deliveries.wait_a_little() and time.monotonic() < limit:
            try:
                self._produce(self._topic, message.payload, message.key, partition, settle, None, timestamp, headers)
            except BufferError:
                continue
            except _REFUSED as e:
                self._fail(waiter, e, message)
            return
        told = f"topic {self._topic}: too much is on its way to Kafka at {self._servers}"
        waiter.fail(QueueFull(f"{told}, and nothing arrived within {self._timeout_s:g} s; is it reachable?"))

    def _fail(self, waiter: Waiter, error: Exception, message: Outgoing) -> None:
        if isinstance(error, KafkaException):
            waiter.fail(self._explain(error.args[0], len(message.payload or b"")))
        elif isinstance(error, RuntimeError):
            waiter.fail(Closed(f"the producer on topic {self._topic} is closed"))
        else:
            waiter.fail(InvalidArgument("message", f"topic {self._topic}: Kafka cannot take it: {error}"))

    def _explain(self, error: KafkaError, size_bytes: int) -> TallystickError:
        return send_failure(error, self._topic, self._servers, size_bytes)
