"""Sending to a real Kafka, and reading it."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest

from tallystick.errors import BadRequest, Closed, InvalidArgument, Unsupported
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Mark, Outgoing
from tallystick.messaging.settings import EARLIEST, LATEST, Compression
from tallystick.model.definition import SchemaDefinition
from tallystick.model.position import KafkaPosition, Position
from tallystick.model.schema_type import STRING
from tallystick.transports.kafka import KafkaTransport
from tests.kafka.driving import connected, make_topic, new_name, position, producing, put, run, send, subscribed
from tests.kafka.server import Kafka

pytestmark = pytest.mark.jvm


def test_a_message_arrives_as_it_was_sent(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic = new_name()
            outlet = await producing(transport, topic)
            sent = Outgoing(
                b"payload",
                Mark(headers=(("__value_schema_id", b"\0\0\0\0\7"),)),
                key=b"k",
                properties={"colour": "grün"},
                event_time_ms=1_700_000_000_000,
                replicated_from="west",
            )
            (position,) = await send(outlet, sent)
            (message,) = await (await subscribed(transport, topic)).take(1)
        assert (message.topic, message.position, message.payload, message.key) == (topic, position, b"payload", b"k")
        assert (message.properties, message.event_time_ms) == ({"colour": "grün"}, 1_700_000_000_000)
        assert (message.replicated_from, message.redelivery_count) == ("west", 0)
        assert ("__value_schema_id", b"\0\0\0\0\7") in message.headers

    run(work())


def test_every_message_has_its_own_mark(kafka: Kafka) -> None:
    marks = [Mark(headers=(("id", bytes([number])),)) for number in (1, 2)]

    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic = new_name()
            outlet = await producing(transport, topic)
            await send(outlet, *(Outgoing(b"", marks[number]) for number in (0, 0, 1, 1, 0)))
            messages = await (await subscribed(transport, topic)).take(5)
        assert [list(message.headers) for message in messages] == [
            [("id", bytes([number]))] for number in (1, 1, 2, 2, 1)
        ]

    run(work())


def test_a_tombstone_is_not_an_empty_message(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic = new_name()
            outlet = await producing(transport, topic)
            await send(outlet, Outgoing(None, key=b"k"), Outgoing(b"", key=b"k"))
            assert await (await subscribed(transport, topic)).payloads(2) == [None, b""]

    run(work())


@pytest.mark.parametrize("compression", Compression)
def test_compression(kafka: Kafka, compression: Compression) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic = new_name()
            payloads = [b"x" * 1000] * 100
            await send(await producing(transport, topic, compression=compression), *payloads)
            assert await (await subscribed(transport, topic)).payloads(100) == payloads

    run(work())


def test_partitions_by_key_or_by_number(kafka: Kafka) -> None:
    async def work() -> None:
        topic = make_topic(kafka.servers, 3)
        async with connected(kafka.servers) as transport:
            outlet = await producing(transport, topic)
            chosen = await send(outlet, *(Outgoing(b"", partition=number) for number in (2, 0, 1)))
            assert [position.partition for position in chosen] == [2, 0, 1]
            by_key = await send(outlet, *(Outgoing(b"", key=b"key") for _ in range(5)))
            assert len({position.partition for position in by_key}) == 1
            assert await transport.partitions(topic) == 3

    run(work())


def test_keys_go_where_javas_clients_send_them(kafka: Kafka) -> None:
    hashes = {b"21": -973932308, b"foobar": -790332482, b"abc": 479470107}

    async def work() -> None:
        topic = make_topic(kafka.servers, 12)
        async with connected(kafka.servers) as transport:
            positions = await send(await producing(transport, topic), *(Outgoing(b"", key=key) for key in hashes))
        assert [position.partition for position in positions] == [(each & 0x7FFFFFFF) % 12 for each in hashes.values()]

    run(work())


def test_asking_for_the_partitions_of_a_topic_does_not_make_it(kafka: Kafka) -> None:
    async def work() -> None:
        topic = new_name()
        async with connected(kafka.servers) as transport:
            assert [await transport.partitions(topic) for _ in range(2)] == [0, 0]

    run(work())


def test_what_kafka_does_not_have_fails_alone(kafka: Kafka) -> None:
    refused = {
        Unsupported: [Outgoing(b"", deliver_at_ms=1), Outgoing(b"", ordering_key=b"o")],
        InvalidArgument: [
            Outgoing(b"", event_time_ms=0),
            Outgoing(b"", event_time_ms=2**70),
            Outgoing(b"", partition=2**40),
            Outgoing(b"", properties={"half": "\ud800"}),
        ],
    }

    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic = new_name()
            outlet = await producing(transport, topic)
            for kind, messages in refused.items():
                for answer in put(outlet, *messages):
                    with pytest.raises(kind, match=topic):
                        await answer
            assert await send(outlet, b"good") == [KafkaPosition(0, 0)]

    run(work())


def test_a_message_that_is_too_large_fails_alone(kafka: Kafka) -> None:
    async def work() -> None:
        topic = make_topic(kafka.servers, 1, **{"max.message.bytes": "100000"})
        async with connected(kafka.servers) as transport:
            outlet = await producing(transport, topic)
            # The first is more than the client takes, the second more than the broker does.
            answers = put(outlet, bytes(2_000_000), b"a") + put(outlet, bytes(200_000)) + put(outlet, b"b")
            for number, size in ((0, 2_000_000), (2, 200_000)):
                with pytest.raises(BadRequest, match=f"{topic}.*{size} bytes.*message.max.bytes"):
                    await answers[number]
            assert await (await subscribed(transport, topic)).payloads(2) == [b"a", b"b"]

    run(work())


def test_a_partition_that_is_not_there(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            outlet = await producing(transport, new_name())
            (answer,) = put(outlet, Outgoing(b"", partition=5))
            with pytest.raises(InvalidArgument, match="partition"):
                await answer

    run(work())


def test_kafka_keeps_no_schemas(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic = new_name()
            outlet, inbox = await producing(transport, topic, name="me"), await subscribed(transport, topic)
            assert (transport.keeps_schemas, outlet.version, outlet.name) == (False, None, "me")
            assert await transport.latest_schema(topic) is None
            assert await inbox.inlet.writer(topic, None) is None
            with pytest.raises(Unsupported, match=topic):
                await outlet.attach(SchemaDefinition(STRING))

    run(work())


def test_after_closing_nothing_is_sent(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic = new_name()
            outlet = await producing(transport, topic, batch_delay_s=5)
            waiting = put(outlet, b"sent by closing")
            await outlet.close()
            assert await waiting[0] == KafkaPosition(0, 0)
            (late,) = put(outlet, b"late")
            with pytest.raises(Closed, match=topic):
                await late
            await outlet.close()
        with pytest.raises(Closed, match=r"127\.0\.0\.1"):
            await producing(transport, topic)

    run(work())


def test_flushing_does_not_wait_for_company(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            outlet = await producing(transport, new_name(), batch_delay_s=20)
            began = time.monotonic()
            await send(outlet, b"a")
            await send(outlet, b"b")
            assert time.monotonic() - began < 15

    run(work())


def test_more_than_may_be_on_its_way_waits_in_order(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic = new_name()
            outlet = await producing(transport, topic, max_pending=10)
            payloads = [b"%d" % number for number in range(500)]
            answers = await asyncio.to_thread(put, outlet, *payloads)
            assert [(await position(answer)).offset for answer in answers] == list(range(500))
            assert await (await subscribed(transport, topic)).payloads(500) == payloads

    run(work())


def test_what_is_done_with_an_answer_does_not_hold_up_the_others(kafka: Kafka) -> None:
    """It fails, or sends another message."""

    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic = new_name()
            outlet = await producing(transport, topic, max_pending=1000)
            answers, more = [Pending[Position]() for _ in range(2)], Pending[Position]()
            answers[0].add_done_callback(lambda _: 1 // 0)
            answers[1].add_done_callback(lambda _: outlet.put(Outgoing(b"more"), more))
            for answer in answers:
                outlet.put(Outgoing(b"first"), answer)
            assert (await position(more)).offset == 2
            assert await send(outlet, b"last") == [KafkaPosition(0, 3)]

    run(work())


async def _read(transport: KafkaTransport, topic: str, start: object, count: int) -> list[bytes | None]:
    inbox = await subscribed(transport, topic, start=start)
    found = await inbox.payloads(count)
    await inbox.inlet.close()
    return found


def test_a_reader_starts_where_it_is_told(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic, now = new_name(), datetime.now(UTC).replace(microsecond=1999)
            times = [now - timedelta(minutes=minutes) for minutes in (3, 2, 1)]
            outlet = await producing(transport, topic)
            messages = [Outgoing(b"%d" % n, event_time_ms=int(at.timestamp() * 1000)) for n, at in enumerate(times)]
            positions = await send(outlet, *messages)
            assert await _read(transport, topic, EARLIEST, 3) == [b"0", b"1", b"2"]
            assert await _read(transport, topic, times[1], 2) == [b"1", b"2"]
            assert await _read(transport, topic, positions[2], 1) == [b"2"]
            latest = await subscribed(transport, topic, start=LATEST)
            future = await subscribed(transport, topic, start=now + timedelta(minutes=1))
            await send(outlet, b"3")
            assert [await latest.payloads(1), await future.payloads(1)] == [[b"3"], [b"3"]]

    run(work())


def test_a_place_that_is_none_is_refused(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic = new_name()
            with pytest.raises(InvalidArgument, match="yesterday"):
                await subscribed(transport, topic, start="yesterday")
            with pytest.raises(InvalidArgument, match="one topic"):
                await subscribed(transport, topic, "other", start=KafkaPosition(0, 1))

    run(work())


def test_seeking(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic = new_name()
            outlet = await producing(transport, topic)
            positions = await send(outlet, *(b"%d" % number for number in range(5)))
            inbox = await subscribed(transport, topic)
            assert await inbox.payloads(5) == [b"0", b"1", b"2", b"3", b"4"]
            await inbox.inlet.seek(positions[3])
            assert await inbox.payloads(2) == [b"3", b"4"]
            await inbox.inlet.seek(EARLIEST)
            assert await inbox.payloads(1) == [b"0"]
            await inbox.until(lambda messages: len(messages) == 4)
            await inbox.inlet.seek(LATEST)
            inbox.messages.clear()
            await send(outlet, b"5")
            assert await inbox.payloads(1) == [b"5"]

    run(work())


def test_last_positions(kafka: Kafka) -> None:
    async def work() -> None:
        topic = make_topic(kafka.servers, 2)
        async with connected(kafka.servers) as transport:
            outlet, inbox = await producing(transport, topic), await subscribed(transport, topic)
            assert await inbox.inlet.last_positions() == {0: None, 1: None}
            await send(outlet, Outgoing(b"", partition=1), Outgoing(b"", partition=1))
            assert await inbox.inlet.last_positions() == {0: None, 1: KafkaPosition(1, 1)}
            both = await subscribed(transport, topic, new_name())
            with pytest.raises(Unsupported):
                await both.inlet.last_positions()

    run(work())


def test_several_topics(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topics = [new_name(), new_name()]
            inbox = await subscribed(transport, *topics)
            for topic in topics:
                await send(await producing(transport, topic), topic.encode())
            messages = await inbox.take(2)
            assert sorted((message.topic, message.payload) for message in messages) == sorted(
                (topic, topic.encode()) for topic in topics
            )

    run(work())


def test_only_so_much_is_fetched_ahead(kafka: Kafka) -> None:
    async def work() -> None:
        async with connected(kafka.servers) as transport:
            topic = new_name()
            payloads = [b"%d" % number for number in range(1000)]
            await send(await producing(transport, topic), *payloads)
            inbox = await subscribed(transport, topic, queue_size=10)
            taken: list[bytes | None] = []
            while len(taken) < 1000:
                await inbox.until(lambda messages: bool(messages))
                assert len(inbox.messages) <= 10
                taken += await inbox.payloads(len(inbox.messages))
            assert taken == payloads

    run(work())
