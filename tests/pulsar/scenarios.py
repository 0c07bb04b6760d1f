"""The Python client, unmodified: its tutorial, and what people do with it every day."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pulsar
from pulsar.schema import AvroSchema, Integer, JsonSchema, Record, String, StringSchema

from tests.pulsar.binary import record
from tests.pulsar.cases.verification import STRATEGIES, A, B, C, D
from tests.pulsar.target import Case, Outcomes, Target, path_of


class Order(Record):  # type: ignore[misc]
    id = Integer(required=True, default=0)
    item = String()


def avro(text: str) -> AvroSchema:
    return AvroSchema(None, schema_definition=json.loads(text))


def attempt(work: Callable[[], Any]) -> Any:
    """What it returns, or the name of the client's error."""
    try:
        result = work()
    except pulsar.PulsarException as error:
        return type(error).__name__
    return "done" if result is None else result


def rest_of(consumer: Any, quiet_ms: int = 600, *, most: int = 1_000) -> list[str]:
    """What comes until nothing comes for so long, or so many; all acknowledged."""
    values: list[str] = []
    while len(values) < most:
        try:
            message = consumer.receive(timeout_millis=quiet_ms)
        except pulsar.Timeout:
            break
        consumer.acknowledge(message)
        values.append(message.data().decode())
    return values


@contextmanager
def filled(at: Target, count: int = 4) -> Iterator[tuple[pulsar.Client, str, list[Any]]]:
    """A client, a topic, and the ids of so many messages on it."""
    topic = at.topic()
    with at.client() as client:
        producer = client.create_producer(topic)
        ids = [producer.send(f"m{number}".encode(), partition_key=f"k{number % 3}") for number in range(count)]
        producer.close()
        yield client, topic, ids


def tutorial(at: Target) -> Outcomes:
    """The first page of the Python client's documentation, with its names."""
    client = pulsar.Client(at.service_url)
    consumer = client.subscribe("my-python-topic", "my-subscription")
    producer = client.create_producer("my-python-topic")
    for number in range(10):
        producer.send(f"Hello-{number}".encode())
    for number in range(10):
        message = consumer.receive(10_000)
        yield f"Received message {number}", message.data().decode()
        consumer.acknowledge(message)
    client.close()


def tutorial_reader(at: Target) -> Outcomes:
    with filled(at, 3) as (client, topic, _):
        reader = client.create_reader(topic, pulsar.MessageId.earliest)
        values = []
        while reader.has_message_available():
            values.append(reader.read_next(10_000).data().decode())
        yield "read", values


def tutorial_schema(at: Target) -> Outcomes:
    for name, schema in {"Avro": AvroSchema(Order), "JSON": JsonSchema(Order)}.items():
        topic = at.topic()
        with at.client() as client:
            consumer = client.subscribe(topic, "s", schema=schema)
            producer = client.create_producer(topic, schema=schema)
            producer.send(Order(id=1, item="a"))
            producer.send(Order(id=2, item=None))
            orders = [consumer.receive(10_000).value() for _ in range(2)]
            yield name, [[order.id, order.item] for order in orders]
            yield f"{name}: its type by REST", _schema_of(at, topic)["type"]
    topic = at.topic()
    with at.client() as client:
        consumer = client.subscribe(topic, "s", schema=StringSchema())
        client.create_producer(topic, schema=StringSchema()).send("text")
        yield "text", consumer.receive(10_000).value()


def _schema_of(at: Target, topic: str) -> dict[str, Any]:
    found: dict[str, Any] = at.ask("GET", topic.replace("persistent://", "/schemas/") + "/schema").json()
    return found


def verification(strategy: str) -> Case:
    """The same table as on the wire, in the errors of the client."""
    changes = {
        "add, no default": record(A, B, C),
        "add with default": record(A, B, D),
        "remove, no default": record(B),
        "type change": record({"name": "a", "type": "int"}, B),
    }

    def case(at: Target) -> Outcomes:
        namespace = at.namespace(schemaCompatibilityStrategy=strategy)
        with at.client() as client:
            for name, text in changes.items():
                for side in ("producer", "consumer"):
                    topic = at.topic(namespace)
                    client.create_producer(topic, schema=avro(record(A, B))).close()
                    yield f"{side}: {name}", attempt(partial(_attach, client, topic, text, side))

    return case


def _attach(client: pulsar.Client, topic: str, text: str, side: str) -> None:
    if side == "producer":
        client.create_producer(topic, schema=avro(text)).close()
    else:
        client.subscribe(topic, "s", schema=avro(text)).close()


def refusals(at: Target) -> Outcomes:
    topic = at.topic()
    with at.client() as client, at.client() as other:
        client.subscribe(topic, "s")
        client.create_producer(topic, producer_name="p")
        yield "a second exclusive consumer", attempt(lambda: other.subscribe(topic, "s").close())
        yield (
            "a consumer of another type",
            attempt(lambda: other.subscribe(topic, "s", pulsar.ConsumerType.Shared).close()),
        )
        yield "a producer of the same name", attempt(lambda: other.create_producer(topic, producer_name="p").close())
        yield "a missing namespace", attempt(lambda: other.create_producer("public/no-such-namespace/t").close())
        yield "a name that is none", attempt(lambda: other.create_producer("persistent://x").close())


def negative_acks(at: Target) -> Outcomes:
    with filled(at, 1) as (client, topic, _):
        consumer = client.subscribe(
            topic,
            "s",
            pulsar.ConsumerType.Shared,
            negative_ack_redelivery_delay_ms=100,
            initial_position=pulsar.InitialPosition.Earliest,
        )
        counts = []
        for _ in range(3):
            message = consumer.receive(10_000)
            counts.append(message.redelivery_count())
            consumer.negative_acknowledge(message)
        yield "counts", counts


def dead_letters(at: Target) -> Outcomes:
    with filled(at, 1) as (client, topic, _):
        policy = pulsar.ConsumerDeadLetterPolicy(2, initial_subscription_name="kept")
        consumer = client.subscribe(
            topic,
            "s",
            pulsar.ConsumerType.Shared,
            dead_letter_policy=policy,
            negative_ack_redelivery_delay_ms=100,
            initial_position=pulsar.InitialPosition.Earliest,
        )
        for _ in range(3):
            consumer.negative_acknowledge(consumer.receive(10_000))
        letters = client.subscribe(f"{topic}-s-DLQ", "t", initial_position=pulsar.InitialPosition.Earliest)
        yield "the dead letter", attempt(lambda: _dead_letter(consumer, letters))


def _dead_letter(consumer: Any, letters: Any) -> str:
    """The client writes it when the message comes once too often, inside of receive."""
    waiting = threading.Thread(target=lambda: attempt(lambda: consumer.receive(3_000)))
    waiting.start()
    letter = letters.receive(10_000)
    waiting.join()
    text: str = letter.data().decode()
    return text


def seeks(at: Target) -> Outcomes:
    with filled(at, 5) as (client, topic, ids):
        consumer = client.subscribe(topic, "s", initial_position=pulsar.InitialPosition.Earliest)
        yield "all", rest_of(consumer, most=5)
        consumer.seek(ids[2])
        yield "by id", rest_of(consumer)
        consumer.seek(pulsar.MessageId.earliest)
        yield "earliest", rest_of(consumer, most=5)
        consumer.seek(int(time.time() * 1000) + 60_000)
        yield "a time to come", rest_of(consumer)
        consumer.seek(1)
        yield "a time long ago", rest_of(consumer, most=5)
        last = consumer.get_last_message_id()
        yield "the last message", [last.entry_id(), last.batch_index(), last.partition()]
        yield "unsubscribed", attempt(consumer.unsubscribe)
        yield "again", attempt(consumer.unsubscribe)


def batches(at: Target) -> Outcomes:
    topic = at.topic()
    with at.client() as client:
        consumer = client.subscribe(topic, "s")
        producer = client.create_producer(
            topic, batching_enabled=True, batching_max_publish_delay_ms=200, compression_type=pulsar.CompressionType.LZ4
        )
        for number in range(10):
            producer.send_async(f"m{number}".encode(), None)
        producer.flush()
        messages = [consumer.receive(10_000) for _ in range(10)]
        yield "values", [message.data().decode() for message in messages]
        yield "places", [[one.message_id().entry_id(), one.message_id().batch_index()] for one in messages]


def partitions(at: Target) -> Outcomes:
    topic = at.topic(partitions=3)
    with at.client() as client:
        yield "partitions", [name.removeprefix(topic) for name in client.get_topic_partitions(topic)]
        consumer = client.subscribe(topic, "s")
        producer = client.create_producer(topic)
        for number in range(12):
            producer.send(f"m{number}".encode(), partition_key=f"k{number % 4}")
        places: dict[str, set[int]] = {}
        for _ in range(12):
            message = consumer.receive(10_000)
            places.setdefault(message.partition_key(), set()).add(message.message_id().partition())
        yield "keys to partitions", {key: sorted(found) for key, found in sorted(places.items())}


def patterns(at: Target) -> Outcomes:
    namespace = at.namespace()
    with at.client() as client:
        for name in ("a1", "a2", "b1"):
            client.create_producer(f"persistent://{namespace}/{name}").send(name.encode())
        consumer = client.subscribe(
            re.compile(f"persistent://{namespace}/a.*"), "s", initial_position=pulsar.InitialPosition.Earliest
        )
        yield "found", sorted(rest_of(consumer, 1_500, most=2))


def keys(at: Target) -> Outcomes:
    topic = at.topic()
    with at.client() as client:
        kind = pulsar.ConsumerType.KeyShared
        consumers = [client.subscribe(topic, "s", kind, receiver_queue_size=5) for _ in range(2)]
        producer = client.create_producer(topic)
        for number in range(40):
            producer.send(f"{number % 8}:{number}".encode(), partition_key=f"k{number % 8}")
        got = [rest_of(consumer, 800) for consumer in consumers]
        owned = [{value.split(":")[0] for value in values} for values in got]
        yield "each once", sorted(int(value.split(":")[1]) for values in got for value in values) == list(range(40))
        yield "keys with both", sorted(owned[0] & owned[1])


def large_and_chunked(at: Target) -> Outcomes:
    topic, payload = at.topic(), bytes(range(256)) * 30_000
    with at.client() as client:
        consumer = client.subscribe(topic, "s")
        producer = client.create_producer(topic, chunking_enabled=True)
        producer.send(payload)
        yield "in chunks", consumer.receive(20_000).data() == payload
        whole = client.create_producer(topic)
        yield "in one piece", attempt(lambda: whole.send(payload) and None)


def subscriptions_by_rest(at: Target) -> Outcomes:
    with filled(at, 6) as (client, topic, _):
        consumer = client.subscribe(topic, "s", initial_position=pulsar.InitialPosition.Earliest)
        yield "first", rest_of(consumer, most=6)
        path = f"{path_of(topic)}/subscription/s"
        yield "reset", at.ask("POST", f"{path}/resetcursor/1000").status_code
        yield "comes again to the same consumer", rest_of(consumer, 3_000, most=6)


CASES: dict[str, Case] = {
    "python: tutorial": tutorial,
    "python: tutorial, reader": tutorial_reader,
    "python: tutorial, schema": tutorial_schema,
    **{f"python: verification {strategy}": verification(strategy) for strategy in STRATEGIES},
    "python: refusals": refusals,
    "python: negative acks": negative_acks,
    "python: dead letters": dead_letters,
    "python: seeks": seeks,
    "python: batches": batches,
    "python: partitions": partitions,
    "python: patterns": patterns,
    "python: keys": keys,
    "python: large and chunked": large_and_chunked,
    "python: a reset by REST": subscriptions_by_rest,
}
