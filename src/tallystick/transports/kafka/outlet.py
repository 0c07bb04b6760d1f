"""A producer on one topic."""

import time
from collections.abc import Callable
from types import MethodType
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from tallystick.errors import Closed, InvalidArgument, QueueFull, TallystickError, Unsupported
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import NO_MARK, Mark, Outgoing
from tallystick.messaging.settings import ProducerSettings
from tallystick.model.definition import SchemaDefinition
from tallystick.model.position import KafkaPosition, Position
from tallystick.model.subject import Version
from tallystick.transports.kafka.arrivals import REPLICATED_FROM
from tallystick.transports.kafka.deliveries import Deliveries
from tallystick.transports.kafka.failures import send_failure

Headers = list[tuple[str, str | bytes | None]]
Settle = Callable[[KafkaError | None, Message], None]


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
        self._settle = _settler(self._deliveries, topic, servers)
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
        # A bound method is the least that a message can take along to be found again.
        settle = MethodType(self._settle, sent)
        try:
            self._produce(self._topic, message.payload, message.key, partition, settle, None, timestamp or 0, headers)
        except BufferError:
            self._put_when_there_is_room(message, partition, settle, headers, sent)
        except (KafkaException, RuntimeError) as e:
            self._fail(sent, e, len(message.payload or b""))
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
        self, message: Outgoing, partition: int, settle: Settle, headers: Headers | None, sent: Pending[Position]
    ) -> None:
        limit = time.monotonic() + self._timeout_s
        timestamp = message.event_time_ms or 0
        while self._deliveries.wait_a_little() and time.monotonic() < limit:
            try:
                self._produce(self._topic, message.payload, message.key, partition, settle, None, timestamp, headers)
            except BufferError:
                continue
            except (KafkaException, RuntimeError) as e:
                self._fail(sent, e, len(message.payload or b""))
            return
        told = f"topic {self._topic}: too much is on its way to Kafka at {self._servers}"
        sent.fail(QueueFull(f"{told}, and nothing arrived within {self._timeout_s:g} s; is it reachable?"))

    def _fail(self, sent: Pending[Position], error: Exception, size_bytes: int) -> None:
        if isinstance(error, KafkaException):
            sent.fail(send_failure(error.args[0], self._topic, self._servers, size_bytes))
        else:
            sent.fail(Closed(f"the producer on topic {self._topic} is closed"))


def _settler(deliveries: Deliveries, topic: str, servers: str) -> Callable[..., None]:
    """What is called with librdkafka's answer to a message. No method of the outlet: it becomes one of the answer."""

    def settle(sent: Pending[Position], error: KafkaError | None, message: Any) -> None:
        deliveries.is_serving = True
        if error is None:
            sent.set(KafkaPosition(message.partition(), message.offset()))
        else:
            sent.fail(send_failure(error, topic, servers, len(message)))

    return settle
