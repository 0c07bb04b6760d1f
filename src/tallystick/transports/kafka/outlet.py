"""A producer on one topic."""

import time
from functools import partial

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
        self._mark: Mark = NO_MARK
        self._mark_headers: Headers = []
        self._closing: Pending[None] | None = None

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
        mark = message.mark
        is_bare = mark is NO_MARK and not message.properties and message.replicated_from is None
        partition = message.partition
        arguments = (
            self._topic,
            message.payload,
            message.key,
            -1 if partition is None else partition,
            partial(self._settle, sent),
            None,
            timestamp or 0,
            None if is_bare else self._headers(message),
        )
        try:
            self._produce(*arguments)
        except BufferError:
            self._put_when_there_is_room(arguments, sent)
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

    def _settle(self, sent: Pending[Position], error: KafkaError | None, message: Message) -> None:
        self._deliveries.is_serving = True
        if error is None:
            sent.set(KafkaPosition(message.partition(), message.offset()))  # type: ignore[arg-type]
        else:
            sent.fail(send_failure(error, self._topic, self._servers, len(message)))

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

    def _put_when_there_is_room(self, arguments: "tuple[object, ...]", sent: Pending[Position]) -> None:
        limit = time.monotonic() + self._timeout_s
        while self._deliveries.wait_a_little() and time.monotonic() < limit:
            try:
                self._produce(*arguments)  # type: ignore[arg-type]
            except BufferError:
                continue
            except (KafkaException, RuntimeError) as e:
                self._fail(sent, e, 0)
            return
        sent.fail(
            QueueFull(f"topic {self._topic}: too much is on its way to Kafka at {self._servers}; send less at once")
        )

    def _fail(self, sent: Pending[Position], error: Exception, size_bytes: int) -> None:
        if isinstance(error, KafkaException):
            sent.fail(send_failure(error.args[0], self._topic, self._servers, size_bytes))
        else:
            sent.fail(Closed(f"the producer on topic {self._topic} is closed"))
