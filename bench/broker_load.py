"""Load on a broker through Pulsar's own Python client: the same code against ours and against a real Pulsar."""

import itertools
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pulsar
from pulsar.schema import AvroSchema, Record, String

from tallystick.wire.pulsar import pulsar_pb2 as api
from tallystick.wire.pulsar.batches import join
from tallystick.wire.pulsar.pulsar_pb2 import SingleMessageMetadata
from tests.pulsar.raw import connected, entry

PRODUCERS = 4
_TIMEOUT_MS = 60_000
_PACE = 1000
"""Messages a second, where latency is measured."""
_IN_BATCH = 1000
_AT_ONCE = 50
_topics = (f"bench-{os.getpid()}-{number}" for number in itertools.count())


class Event(Record):  # type: ignore[misc]
    note = String()


class Encoded(AvroSchema):  # type: ignore[misc]
    """Takes what is encoded already: the client's encoder is not what is measured."""

    def encode(self, obj: Any) -> bytes:
        return bytes(obj)

    def decode(self, data: bytes) -> bytes:
        return data


SCHEMA = Encoded(Event)
MESSAGE = AvroSchema(Event).encode(Event(note="x" * 197))
assert len(MESSAGE) == 200


class Client:
    def __init__(self, service_url: str) -> None:
        self._service_url = service_url
        quiet = pulsar.ConsoleLogger(pulsar.LoggerLevel.Error)
        self._client = pulsar.Client(service_url, io_threads=2, logger=quiet)

    def close(self) -> None:
        self._client.close()

    def publish(self, messages: int) -> float:
        """Messages a second, acknowledged, by some producers with a topic each."""
        return messages / self._publish([next(_topics) for _ in range(PRODUCERS)], messages)

    def _publish(self, topics: list[str], messages: int) -> float:
        with self._producers(topics, batching_enabled=True, batching_max_publish_delay_ms=10) as producers:
            count = _Count(messages)
            start = time.perf_counter()
            for _ in range(messages // len(producers)):
                for producer in producers:
                    producer.send_async(MESSAGE, count.one)
            count.wait()
            return time.perf_counter() - start

    def consume(self, messages: int) -> float:
        """Messages a second, from a backlog, by as many consumers, each of one topic."""
        topics = [next(_topics) for _ in range(PRODUCERS)]
        consumers = [self._client.subscribe(topic, "bench", schema=SCHEMA) for topic in topics]
        for consumer in consumers:
            consumer.close()
        self._publish(topics, messages)
        consumers = [self._client.subscribe(topic, "bench", schema=SCHEMA) for topic in topics]
        start = time.perf_counter()
        for consumer in consumers:
            for number in range(messages // len(topics)):
                message = consumer.receive(_TIMEOUT_MS)
                if number % 1000 == 999:
                    consumer.acknowledge_cumulative(message)
        elapsed = time.perf_counter() - start
        for consumer in consumers:
            consumer.close()
        return messages / elapsed

    def publish_prepared(self, messages: int) -> float:
        """Messages a second, in batches that are made once: the broker without the cost of a client."""
        topic = next(_topics)
        start = time.perf_counter()
        self.fill(topic, messages)
        return messages / (time.perf_counter() - start)

    def fill(self, topic: str, messages: int) -> None:
        """Sends batches that are made once, not through the library: ten million messages would take it too long."""
        self._client.create_producer(topic, schema=SCHEMA).close()
        entries = messages // _IN_BATCH
        payload = join((SingleMessageMetadata(), MESSAGE) for _ in range(_IN_BATCH))
        with connected(self._service_url) as raw:
            raw.request("PRODUCER", api.CommandProducer(topic=topic, producer_id=1, producer_name="fill"))
            metadata = {"num_messages_in_batch": _IN_BATCH, "uncompressed_size": len(payload)}
            data = entry(payload, "fill", published_ms=int(time.time() * 1000), **metadata)
            for sent in range(entries):
                raw.command("SEND", api.CommandSend(producer_id=1, sequence_id=sent, num_messages=_IN_BATCH), data)
                if sent % _AT_ONCE == _AT_ONCE - 1:
                    raw.pushes("SEND_RECEIPT", 60, most=_AT_ONCE)
            raw.pushes("SEND_RECEIPT", 60, most=entries % _AT_ONCE)

    def slice_us(self, topic: str, messages: int) -> float:
        """For a message that is published to the end of a topic and consumed from there."""
        consumer = self._client.subscribe(topic, next(_topics), schema=SCHEMA)
        elapsed = self._publish([topic], messages)
        start = time.perf_counter()
        for _ in range(messages):
            message = consumer.receive(_TIMEOUT_MS)
        consumer.acknowledge_cumulative(message)
        elapsed += time.perf_counter() - start
        consumer.unsubscribe()
        return elapsed / messages * 1e6

    def p99_publish_ms(self, seconds: float) -> float:
        """Of single messages at a steady pace, each answered when it is durable."""
        with self._producers([next(_topics)], batching_enabled=False) as (producer,):
            taken: list[float] = []
            messages = int(_PACE * seconds)
            count = _Count(messages)
            began = time.perf_counter()
            for number in range(messages):
                due = began + number / _PACE
                while (wait := due - time.perf_counter()) > 0:
                    time.sleep(wait)
                _timed(producer, due, taken, count)
            count.wait()
        taken.sort()
        return taken[int(len(taken) * 0.99)] * 1000

    @contextmanager
    def _producers(self, topics: list[str], **options: Any) -> Iterator[list[Any]]:
        made = [
            self._client.create_producer(
                topic, schema=SCHEMA, block_if_queue_full=True, max_pending_messages=20_000, **options
            )
            for topic in topics
        ]
        yield made
        for producer in made:
            producer.close()


class _Count:
    """Waits for the answers to so many messages."""

    def __init__(self, messages: int) -> None:
        self._left = messages
        self._done = threading.Event()
        self._lock = threading.Lock()

    def one(self, result: Any, _: Any) -> None:
        assert result == pulsar.Result.Ok, result
        with self._lock:
            self._left -= 1
        if self._left == 0:
            self._done.set()

    def wait(self) -> None:
        assert self._done.wait(_TIMEOUT_MS / 1000), f"{self._left} messages were not answered"


def _timed(producer: Any, due: float, taken: list[float], count: _Count) -> None:
    """From the moment when it was due: a client that waits for its turn waits too."""

    def answered(result: Any, id_: Any) -> None:
        taken.append(time.perf_counter() - due)
        count.one(result, id_)

    producer.send_async(MESSAGE, answered)
