"""`confluent-kafka` with its Avro serializer and deserializer, under the load that ours gets."""

import itertools
import json
import time
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from bench.client_records import record, schema

_topics = (f"bench-peer-{number}" for number in itertools.count())
_AT_ONCE = 1000


class ConfluentPeer:
    def __init__(self, servers: str, registry: str) -> None:
        self._servers = {"bootstrap.servers": servers}
        self._registry = SchemaRegistryClient({"url": registry})

    def close(self) -> None:
        """Its producers and consumers are closed where they are used."""

    def send(self, messages: int) -> float:
        """Messages a second, encoded, sent and acknowledged by the broker."""
        return messages / self._send(next(_topics), messages)

    def _send(self, topic: str, messages: int) -> float:
        # The settings that ours has by default.
        settings = {"enable.idempotence": True, "linger.ms": 10, "queue.buffering.max.messages": 50_000}
        producer = Producer({**self._servers, **settings})
        encode = AvroSerializer(self._registry, json.dumps(schema()))
        context = SerializationContext(topic, MessageField.VALUE)
        values = [record(number) for number in range(1000)]
        failed: list[Any] = []

        def answered(error: Any, _: Any) -> None:
            if error is not None:
                failed.append(error)

        start = time.perf_counter()
        for number in range(messages):
            payload = encode(values[number % 1000], context)
            while True:
                try:
                    producer.produce(topic, payload, on_delivery=answered)
                    break
                except BufferError:
                    producer.poll(0.05)
            producer.poll(0)
        assert producer.flush(120) == 0
        elapsed = time.perf_counter() - start
        assert not failed, failed[0]
        return elapsed

    def consume(self, messages: int) -> float:
        """Messages a second, from a backlog, received, decoded, and committed as it goes."""
        topic = next(_topics)
        self._send(topic, messages)
        consumer = Consumer({**self._servers, "group.id": topic, "auto.offset.reset": "earliest"})
        decode = AvroDeserializer(self._registry, json.dumps(schema()))
        context = SerializationContext(topic, MessageField.VALUE)
        consumer.subscribe([topic])
        taken, start = 0, time.perf_counter()
        first = None
        while taken < messages:
            for message in consumer.consume(_AT_ONCE, 10):
                if message.error() is not None:
                    raise KafkaException(message.error())
                if first is None:
                    # The group comes together in seconds that have nothing to do with the messages.
                    first = start = time.perf_counter()
                assert decode(message.value(), context)["id"] == taken % 1000
                taken += 1
        elapsed = time.perf_counter() - start
        consumer.close()
        return messages / elapsed
