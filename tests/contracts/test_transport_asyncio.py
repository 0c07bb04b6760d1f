"""The same client within an event loop."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from tallystick import AvroSchema, Client, Closed, ConfluentSchemas, IncompatibleSchema, InvalidRecord
from tests.contracts import orders
from tests.contracts.clusters import Cluster
from tests.contracts.orders import WAIT_S, ids, order, received

FIRST, SECOND = AvroSchema(orders.FIRST), AvroSchema(orders.SECOND)
T = TypeVar("T")


def _run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(work, WAIT_S * 2))


def test_producers_and_consumers_are_awaited(cluster: Cluster, topic: str) -> None:
    async def exchange() -> list[int]:
        got = []
        async with cluster.client() as client:
            async with await client.producer_async(topic, FIRST) as producer:
                for number in range(3):
                    await producer.send_async(order(number))
                await producer.send_async({**order(3), "note": "n"}, SECOND)
                await producer.flush_async()
            async with await client.consumer_async(topic, "s", FIRST, start="earliest") as consumer:
                async for message in consumer:
                    got.append(message.value["id"])
                    await consumer.acknowledge_async(message)
                    if len(got) == 4:
                        break
        return got

    assert _run(exchange()) == [0, 1, 2, 3]


def test_many_are_sent_at_once_and_keep_their_order(cluster: Cluster, topic: str) -> None:
    async def send() -> None:
        async with cluster.client() as client, await client.producer_async(topic, FIRST) as producer:
            pending = [producer.send_async(order(n), None if n % 10 else SECOND) for n in range(100)]
            for each in pending:
                await each
            await producer.flush_async()
            assert producer.pending == 0

    _run(send())
    with cluster.client() as client, client.reader(topic, FIRST) as reader:
        assert ids(received(reader, 100)) == list(range(100))


def test_a_schema_of_a_registry_does_not_block_the_event_loop(cluster: Cluster, topic: str) -> None:
    async def send() -> None:
        with ConfluentSchemas(cluster.registry) as schemas:
            async with cluster.client() as client:
                schema = schemas.avro(orders.FIRST)
                async with await client.producer_async(topic, schema) as producer:
                    wrong = {"id": "seven", "item": "a"}
                    pending = [producer.send_async(wrong if n == 2 else order(n)) for n in range(5)]
                    errors = []
                    for number, each in enumerate(pending):
                        try:
                            await each
                        except Exception as e:  # noqa: BLE001 - which one is the question
                            errors.append((number, type(e).__name__))
                    assert errors == [(2, "SchemaSerializationError")]

    _run(send())
    with (
        ConfluentSchemas(cluster.registry) as schemas,
        cluster.client() as client,
        client.reader(topic, schemas.avro(orders.FIRST)) as reader,
    ):
        assert ids(received(reader, 4)) == [0, 1, 3, 4]


def test_what_is_refused_raises_where_it_is_awaited(cluster: Cluster, topic: str) -> None:
    async def send() -> None:
        async with cluster.client() as client, await client.producer_async(topic, FIRST) as producer:
            with pytest.raises(InvalidRecord):
                await producer.send_async({"id": "seven"})
            with pytest.raises(IncompatibleSchema):
                await producer.send_async({"id": "x", "item": "y"}, AvroSchema(orders.FOREIGN))
            await producer.send_async(order(1))

    _run(send())


def test_closing_ends_the_iteration(cluster: Cluster, topic: str) -> None:
    async def wait() -> int:
        async with cluster.client() as client:
            consumer = await client.consumer_async(topic, "s", FIRST)

            async def count() -> int:
                return len([message async for message in consumer])

            counting = asyncio.create_task(count())
            await asyncio.sleep(0)
            await consumer.close_async()
            with pytest.raises(Closed):
                await consumer.receive_async()
            return await counting

    assert _run(wait()) == 0


def test_waiting_can_be_cancelled_and_no_message_is_lost_to_the_program(client: Client, topic: str) -> None:
    async def wait() -> int:
        consumer = await client.consumer_async(topic, "s", FIRST, start="earliest")
        waiting = consumer.receive_async()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(_awaited(waiting), 0.05)
        producer = await client.producer_async(topic, FIRST)
        await producer.send_async(order(1))
        number: int = (await waiting).value["id"]
        await producer.close_async()
        await consumer.close_async()
        return number

    assert _run(wait()) == 1


async def _awaited(pending: Any) -> Any:
    return await pending
