"""Pulsar's own Python client with its `AvroSchema`, under the load that ours gets."""

import itertools
import threading
import time
from typing import Any

import pulsar
from pulsar.schema import Array, AvroSchema, Boolean, Double, Float, Integer, Long, Map, Record, String

from bench.client_records import record

_topics = (f"bench-peer-{number}" for number in itertools.count())


class Order(Record):  # type: ignore[misc]
    id = Long(required=True)
    customer = String(required=True)
    status = String(required=True)
    amount = Double(required=True)
    currency = String(required=True)
    items = Integer(required=True)
    is_gift = Boolean(required=True)
    note = String()
    coupon = String()
    created_ms = Long(required=True)
    country = String(required=True)
    city = String(required=True)
    weight = Float(required=True)
    tags = Array(String())
    attributes = Map(String())


class PulsarClientPeer:
    def __init__(self, service_url: str) -> None:
        quiet = pulsar.ConsoleLogger(pulsar.LoggerLevel.Error)
        self._client = pulsar.Client(service_url, logger=quiet)

    def close(self) -> None:
        self._client.close()

    def send(self, messages: int) -> float:
        """Messages a second, encoded, sent and acknowledged by the broker."""
        return messages / self._send(next(_topics), messages)

    def _send(self, topic: str, messages: int) -> float:
        producer = self._client.create_producer(
            topic,
            schema=AvroSchema(Order),
            batching_enabled=True,
            batching_max_messages=1000,
            batching_max_publish_delay_ms=10,
            block_if_queue_full=True,
            max_pending_messages=50_000,
        )
        orders = [Order(**record(number)) for number in range(1000)]
        done, failed = threading.Event(), []
        left = messages

        def answered(result: Any, _: Any) -> None:
            nonlocal left
            if result != pulsar.Result.Ok:
                failed.append(result)
            left -= 1
            if not left:
                done.set()

        start = time.perf_counter()
        for number in range(messages):
            producer.send_async(orders[number % 1000], answered)
        producer.flush()
        assert done.wait(120)
        elapsed = time.perf_counter() - start
        assert not failed, failed[0]
        producer.close()
        return elapsed

    def consume(self, messages: int) -> float:
        """Messages a second, from a backlog, received, decoded and acknowledged."""
        topic = next(_topics)
        self._client.subscribe(topic, "bench", schema=AvroSchema(Order)).close()
        self._send(topic, messages)
        consumer = self._client.subscribe(topic, "bench", schema=AvroSchema(Order))
        start = time.perf_counter()
        for number in range(messages):
            message = consumer.receive(60_000)
            assert message.value().id == number % 1000
            consumer.acknowledge(message)
        elapsed = time.perf_counter() - start
        consumer.close()
        return messages / elapsed
