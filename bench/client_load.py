"""Our client under load: the same calls on Pulsar and on Kafka."""

import itertools
import json
import os
import time
from typing import Any

from bench.client_records import Order, order, record, schema
from tallystick.connect.client import Client
from tallystick.serde import AvroSchema
from tallystick.serde.schema import Schema

_topics = (f"bench-client-{os.getpid()}-{number}" for number in itertools.count())
SWITCH_EVERY = 100


class ClientLoad:
    """`of_class`: values are instances of a class, as Pulsar's client has them; else dictionaries."""

    def __init__(self, client: Client, *, of_class: bool = False) -> None:
        self._client = client
        self._of_class = of_class

    def close(self) -> None:
        self._client.close()

    def _schema(self) -> Schema[Any]:
        return AvroSchema(Order) if self._of_class else AvroSchema(json.dumps(schema()))

    def send(self, messages: int) -> float:
        """Messages a second, encoded, sent and acknowledged by the broker."""
        return messages / self._send(next(_topics), messages)

    def _send(self, topic: str, messages: int) -> float:
        values = [order(number) if self._of_class else record(number) for number in range(1000)]
        with self._client.producer(topic, self._schema()) as producer:
            start = time.perf_counter()
            for number in range(messages):
                producer.send_async(values[number % 1000])
            producer.flush()
            return time.perf_counter() - start

    def send_switching(self, messages: int) -> float:
        """The same, with another schema every 100 messages."""
        values = [record(number) for number in range(1000)]
        with self._client.producer(next(_topics), self._schema()) as producer:
            # Two schemas of the same cost: only the switching differs from one.
            schemas = [producer.schema, AvroSchema(json.dumps({**schema(), "doc": "another"}))]
            producer.send(values[0], schemas[1])
            start = time.perf_counter()
            for number in range(messages):
                producer.send_async(values[number % 1000], schemas[number // SWITCH_EVERY % 2])
            producer.flush()
            return messages / (time.perf_counter() - start)

    def consume(self, messages: int, reader: Schema[Any] | None = None) -> float:
        """Messages a second, from a backlog, received, decoded and acknowledged."""
        topic = next(_topics)
        self._client.consumer(topic, "bench", self._schema(), start="earliest").close()
        self._send(topic, messages)
        with self._client.consumer(topic, "bench", reader or self._schema(), start="earliest") as consumer:
            start = time.perf_counter()
            for number in range(messages):
                message = consumer.receive(60)
                value = message.value
                assert (value.id if self._of_class else value["id"]) == number % 1000
                consumer.acknowledge(message)
            return messages / (time.perf_counter() - start)

    def consume_resolved(self, messages: int) -> float:
        """The same, read with a newer schema than they were written with."""
        newer = schema({"name": "channel", "type": ["null", "string"], "default": None})
        return self.consume(messages, AvroSchema(json.dumps(newer)))
