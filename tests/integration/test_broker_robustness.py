"""Bytes and commands that nobody should send: the broker says why not, or hangs up, and serves everybody else."""

import random
import struct
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.frames import MOST_FRAME_BYTES, simple_frame
from tests.integration.broker_sockets import (
    CONNECT,
    PING,
    Bare,
    bare,
    frame,
    greeted,
    producer_frame,
    send_frame,
    subscribe_frame,
)
from tests.integration.broker_watch import WatchedBroker, Witness, others_are_served, watched_broker

MOST_MIB = 250
SUBTYPES = pb.CommandSubscribe.SubType.keys()
_numbers = count()


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WatchedBroker]:
    with watched_broker(tmp_path_factory.mktemp("data")) as broker:
        yield broker


@pytest.fixture(scope="module")
def witness(broker: WatchedBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Witness]:
    witness = Witness(broker.url, tmp_path_factory.mktemp("log") / "witness.log")
    yield witness
    witness.close()


@pytest.fixture(autouse=True)
def _others(broker: WatchedBroker, witness: Witness, request: pytest.FixtureRequest) -> Iterator[None]:
    with others_are_served(broker, witness, request.node.name, MOST_MIB):
        yield


@pytest.fixture
def topic() -> str:
    return f"robust-{next(_numbers)}"


def drained(connection: Bare) -> None:
    """Everything is said; the broker may say what it wants until it hangs up."""
    try:
        connection.socket.shutdown(1)
        while connection.socket.recv(1 << 16):
            pass
    except OSError:
        pass


def send_anyway(connection: Bare, data: bytes) -> None:
    try:
        connection.send(data)
    except OSError:
        return  # it has hung up in the middle, as it may
    drained(connection)


def attached(connection: Bare, topic: str, kind: str = "Exclusive", messages: int = 0) -> list[pb.MessageIdData]:
    """A consumer 1 with a producer 1; returns the ids of some messages that the consumer was sent."""
    connection.send(subscribe_frame(topic, kind))
    connection.until(pb.BaseCommand.SUCCESS)
    connection.send(producer_frame(topic))
    connection.until(pb.BaseCommand.PRODUCER_SUCCESS)
    connection.send(*(send_frame(number) for number in range(messages)))
    connection.send(frame(pb.CommandFlow(consumer_id=1, messagePermits=messages)))
    return [connection.until(pb.BaseCommand.MESSAGE).message.message_id for _ in range(messages)]


def entries_left(broker: WatchedBroker, topic: str, kind: str = "Exclusive") -> int:
    """How many a new consumer of the subscription gets before one that is sent now."""
    with greeted(broker.port) as connection:
        connection.send(producer_frame(topic))
        connection.until(pb.BaseCommand.PRODUCER_SUCCESS)
        connection.send(send_frame(payload=b"new"))
        last = connection.until(pb.BaseCommand.SEND_RECEIPT).send_receipt.message_id.entryId
        connection.send(subscribe_frame(topic, kind))
        connection.until(pb.BaseCommand.SUCCESS)
        connection.send(frame(pb.CommandFlow(consumer_id=1, messagePermits=1000)))
        for number in count():
            if connection.until(pb.BaseCommand.MESSAGE).message.message_id.entryId == last:
                return number
    raise AssertionError


# Bytes


def test_random_bytes(broker: WatchedBroker) -> None:
    choice = random.Random(1)
    for number in range(300):
        data = choice.randbytes(choice.randrange(1, 3000))
        if number % 3 == 1:
            data = struct.pack(">I", len(data)) + data
        if number % 3 == 2:
            data = CONNECT + struct.pack(">II", len(data) + 4, choice.randrange(len(data) + 1)) + data
        with bare(broker.port) as connection:
            send_anyway(connection, data)


def conversation(topic: str) -> list[bytes]:
    id_ = pb.MessageIdData(ledgerId=1, entryId=0, ack_set=[1, 2])
    schema = pb.Schema(name="s", type=pb.Schema.Avro, schema_data=b'{"type": "record", "name": "A", "fields": []}')
    contents: list[Any] = [
        pb.CommandPartitionedTopicMetadata(topic=topic, request_id=1),
        pb.CommandLookupTopic(topic=topic, request_id=2),
        pb.CommandGetTopicsOfNamespace(namespace="public/default", request_id=3),
        pb.CommandFlow(consumer_id=1, messagePermits=10),
        pb.CommandAck(consumer_id=1, ack_type=pb.CommandAck.Individual, message_id=[id_]),
        pb.CommandAck(consumer_id=1, ack_type=pb.CommandAck.Cumulative, message_id=[id_], request_id=4),
        pb.CommandRedeliverUnacknowledgedMessages(consumer_id=1, message_ids=[id_]),
        pb.CommandGetLastMessageId(consumer_id=1, request_id=5),
        pb.CommandSeek(consumer_id=1, request_id=6, message_id=id_),
        pb.CommandConsumerStats(consumer_id=1, request_id=7),
        pb.CommandGetOrCreateSchema(topic=topic, request_id=8, schema=schema),
        pb.CommandGetSchema(topic=topic, request_id=9),
        pb.CommandUnsubscribe(consumer_id=1, request_id=10),
        pb.CommandCloseConsumer(consumer_id=1, request_id=11),
        pb.CommandCloseProducer(producer_id=1, request_id=12),
    ]
    keys = pb.KeySharedMeta(keySharedMode=pb.AUTO_SPLIT)
    return [
        CONNECT,
        producer_frame(topic),
        subscribe_frame(topic, "Key_Shared", keySharedMeta=keys),
        send_frame(0, partition_key="k", num_messages_in_batch=1),
        PING,
        *map(frame, contents),
    ]


def mutated(choice: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(choice.randrange(1, 6)):
        at = choice.randrange(len(changed))
        match choice.randrange(5):
            case 0:
                changed[at] ^= 1 << choice.randrange(8)
            case 1:
                changed[at] = choice.choice((0, 1, 0x7F, 0x80, 0xFF))
            case 2:
                del changed[at : at + choice.randrange(1, 9)]
            case 3:
                changed[at:at] = choice.randbytes(choice.randrange(1, 9))
            case 4:
                changed += changed[at : at + choice.randrange(1, 99)]
        changed = changed or bytearray(b"\0")
    return bytes(changed)


def with_its_size(data: bytes) -> bytes:
    """So that what was changed gets as far as the command."""
    return struct.pack(">I", len(data) - 4) + data[4:] if len(data) > 8 else data


def test_mutated_conversations(broker: WatchedBroker) -> None:
    choice = random.Random(2)
    for number in range(400):
        frames = conversation(f"mutated-{number % 20}")
        for at in choice.sample(range(len(frames)), choice.randrange(1, 4)):
            changed = mutated(choice, frames[at])
            frames[at] = with_its_size(changed) if choice.random() < 0.8 else changed
        with bare(broker.port) as connection:
            if number % 2:
                connection.send(CONNECT)
                connection.next()
            send_anyway(connection, b"".join(frames))


@pytest.mark.parametrize("size", [0, 3, MOST_FRAME_BYTES + 1, 2**31 - 1, 2**31, 2**32 - 1])
def test_a_frame_of_an_impossible_size(broker: WatchedBroker, size: int) -> None:
    with greeted(broker.port) as connection:
        answer = connection.answer(struct.pack(">II", size, 0))
        assert answer is not None
        assert "bytes" in answer.error.message
        assert connection.next() is None


def test_a_frame_that_is_never_finished_takes_no_room(broker: WatchedBroker) -> None:
    connections = [Bare(broker.port) for _ in range(100)]
    for connection in connections:
        connection.send(CONNECT, struct.pack(">II", MOST_FRAME_BYTES, 8))
    for connection in connections:
        connection.vanish()


def test_a_wrong_checksum_is_told_and_the_connection_lives(broker: WatchedBroker, topic: str) -> None:
    with greeted(broker.port) as connection:
        attached(connection, topic)
        broken = bytearray(send_frame(7))
        broken[-1] ^= 1
        answer = connection.answer(bytes(broken))
        assert answer is not None
        assert (answer.send_error.sequence_id, answer.send_error.error) == (7, pb.ChecksumError)
        connection.send(send_frame(8))
        assert connection.until(pb.BaseCommand.SEND_RECEIPT).send_receipt.sequence_id == 8


# Commands in the wrong order, of things that are not there


@pytest.mark.parametrize(
    "first",
    [PING, send_frame(), producer_frame("t"), subscribe_frame("t"), frame(pb.CommandAuthResponse())],
    ids=["PING", "SEND", "PRODUCER", "SUBSCRIBE", "AUTH_RESPONSE"],
)
def test_who_does_not_connect_first_is_sent_away(broker: WatchedBroker, first: bytes) -> None:
    with bare(broker.port) as connection:
        answer = connection.answer(first)
        assert answer is not None
        assert "CONNECT" in answer.error.message
        assert connection.next() is None


def test_a_connection_that_is_made_twice(broker: WatchedBroker) -> None:
    with greeted(broker.port) as connection:
        connection.send(CONNECT * 50)
        assert connection.is_served()


def test_sending_without_a_producer(broker: WatchedBroker) -> None:
    with greeted(broker.port) as connection:
        answer = connection.answer(send_frame(3, producer_id=77))
        assert answer is not None
        assert "attach" in answer.send_error.message
        assert connection.is_served()


UNKNOWN = 2**64 - 1


@pytest.mark.parametrize(
    "content",
    [
        pb.CommandUnsubscribe(consumer_id=UNKNOWN, request_id=1),
        pb.CommandSeek(consumer_id=UNKNOWN, request_id=1),
        pb.CommandGetLastMessageId(consumer_id=UNKNOWN, request_id=1),
        pb.CommandConsumerStats(consumer_id=UNKNOWN, request_id=1),
        pb.CommandAck(
            consumer_id=UNKNOWN,
            request_id=1,
            ack_type=pb.CommandAck.Individual,
            message_id=[pb.MessageIdData(ledgerId=0, entryId=0)],
        ),
    ],
    ids=lambda content: type(content).__name__,
)
def test_a_consumer_that_is_not_there(broker: WatchedBroker, content: Any) -> None:
    with greeted(broker.port) as connection:
        answer = connection.answer(frame(content))
        assert answer is not None
        message = answer.ackResponse.message if answer.HasField("ackResponse") else answer.error.message
        assert "not attached" in message
        assert connection.is_served()


@pytest.mark.parametrize(
    "content",
    [
        pb.CommandFlow(consumer_id=UNKNOWN, messagePermits=2**32 - 1),
        pb.CommandRedeliverUnacknowledgedMessages(consumer_id=UNKNOWN),
        pb.CommandAck(consumer_id=UNKNOWN, ack_type=pb.CommandAck.Cumulative),
        pb.CommandCloseConsumer(consumer_id=UNKNOWN, request_id=UNKNOWN),
        pb.CommandCloseProducer(producer_id=UNKNOWN, request_id=UNKNOWN),
        pb.CommandSuccess(request_id=1),
        pb.CommandConnected(server_version="I am you"),
    ],
    ids=lambda content: type(content).__name__,
)
def test_what_is_for_nobody_changes_nothing(broker: WatchedBroker, content: Any) -> None:
    with greeted(broker.port) as connection:
        connection.send(frame(content))
        assert connection.is_served()


def test_a_command_type_that_does_not_exist(broker: WatchedBroker) -> None:
    with greeted(broker.port) as connection:
        connection.send(struct.pack(">II", 7, 3) + b"\x08\xff\x07")
        assert connection.next() is not None
        assert connection.next() is None


def test_an_id_that_is_used_twice_on_a_connection_leaves_nobody_behind(broker: WatchedBroker, topic: str) -> None:
    other = f"{topic}-other"
    with greeted(broker.port) as connection:
        connection.send(*(producer_frame(name, name="the-name") for name in (topic, other)))
        connection.send(*(subscribe_frame(name) for name in (topic, other)))
        assert connection.is_served()
    with greeted(broker.port) as connection:
        for name in (topic, other):
            for content in (producer_frame(name, name="the-name"), subscribe_frame(name)):
                answer = connection.answer(content)
                assert answer is not None
                assert not answer.HasField("error"), answer
            connection.send(
                frame(pb.CommandCloseConsumer(consumer_id=1, request_id=5)),
                frame(pb.CommandCloseProducer(producer_id=1, request_id=6)),
            )
            connection.next()
            connection.next()


# Numbers beyond all measure


@pytest.mark.parametrize("kind", SUBTYPES)
def test_permits_beyond_all_measure(broker: WatchedBroker, topic: str, kind: str) -> None:
    with greeted(broker.port) as connection:
        attached(connection, topic, kind, messages=3)
        connection.send(*[frame(pb.CommandFlow(consumer_id=1, messagePermits=2**32 - 1))] * 10)
        connection.send(send_frame(9))
        assert connection.until(pb.BaseCommand.MESSAGE).message.message_id.entryId == 3


def strange_ids(own: int) -> list[pb.MessageIdData]:
    """Of a topic whose ledger is `own`, and whose last entry is 2."""
    ledgers, entries = (own, 0, 2**63 - 1, 2**64 - 1), (3, 2**31, 2**63 - 1, 2**63, 2**64 - 1)
    return [pb.MessageIdData(ledgerId=ledger, entryId=entry) for ledger in ledgers for entry in entries]


@pytest.mark.parametrize("kind", SUBTYPES)
@pytest.mark.parametrize("ack_type", pb.CommandAck.AckType.keys())
def test_acknowledging_what_was_never_there_acknowledges_nothing(
    broker: WatchedBroker, topic: str, kind: str, ack_type: str
) -> None:
    with greeted(broker.port) as connection:
        own = attached(connection, topic, kind, messages=3)[0].ledgerId
        for id_ in strange_ids(own):
            connection.send(frame(pb.CommandAck(consumer_id=1, ack_type=ack_type, message_id=[id_])))
        assert connection.is_served()
    assert entries_left(broker, topic, kind) == 3


@pytest.mark.parametrize("words", [[-1], [2**63 - 1, -(2**63)], [0, 0, 0, 1], [1] * 2_500_000], ids=len)
@pytest.mark.parametrize("kind", SUBTYPES)
def test_ack_sets_that_fit_no_batch(broker: WatchedBroker, topic: str, kind: str, words: list[int]) -> None:
    with greeted(broker.port) as connection:
        for id_ in attached(connection, topic, kind, messages=3):
            id_.ack_set.extend(words)
            connection.send(frame(pb.CommandAck(consumer_id=1, ack_type=pb.CommandAck.Individual, message_id=[id_])))
        assert connection.is_served()
    assert entries_left(broker, topic, kind) in (0, 3)


@pytest.mark.parametrize("kind", SUBTYPES)
def test_seeking_to_nonsense(broker: WatchedBroker, topic: str, kind: str) -> None:
    with greeted(broker.port) as connection:
        own = attached(connection, topic, kind, messages=3)[0].ledgerId
        targets: list[dict[str, Any]] = [{"message_id": id_} for id_ in strange_ids(own)]
        targets += [{"message_publish_time": time} for time in (0, 2**63 - 1, 2**63, 2**64 - 1)]
        for target in targets:
            connection.send(subscribe_frame(topic, kind))
            connection.send(frame(pb.CommandSeek(consumer_id=1, request_id=2, **target)))
        assert connection.is_served()
    with greeted(broker.port) as connection:
        connection.send(subscribe_frame(topic, kind))
        connection.until(pb.BaseCommand.SUCCESS)
        earliest = pb.MessageIdData(ledgerId=2**64 - 1, entryId=2**64 - 1)
        connection.send(frame(pb.CommandSeek(consumer_id=1, request_id=2, message_id=earliest)))
        connection.until(pb.BaseCommand.SUCCESS)
    assert entries_left(broker, topic, kind) == 3


def test_a_message_whose_numbers_are_nonsense(broker: WatchedBroker, topic: str) -> None:
    strange: list[dict[str, Any]] = [
        {"publish_time": 2**64 - 1},
        {"sequence_id": 2**64 - 1},
        {"highest_sequence_id": 2**64 - 1},
        {"num_messages_in_batch": 2**31 - 1},
        {"num_messages_in_batch": -1},
        {"num_messages_in_batch": 0},
        {"deliver_at_time": 2**63 - 1},
        {"deliver_at_time": -(2**63)},
        {"uncompressed_size": 2**32 - 1},
        {"num_chunks_from_msg": -1, "chunk_id": 2**31 - 1},
        {"schema_version": b"\xff" * 1000},
    ]
    with greeted(broker.port) as connection:
        attached(connection, topic, "Shared")
        for metadata in strange:
            connection.send(send_frame(**metadata))
            connection.until(pb.BaseCommand.SEND_RECEIPT, pb.BaseCommand.SEND_ERROR)
        connection.send(frame(pb.CommandFlow(consumer_id=1, messagePermits=100)), send_frame(5))
        last = connection.until(pb.BaseCommand.SEND_RECEIPT).send_receipt.message_id.entryId
        while connection.until(pb.BaseCommand.MESSAGE).message.message_id.entryId != last:
            pass


# Names


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/",
        "//",
        "a/b",
        "persistent://",
        "persistent://a/b",
        "persistent://a/b/",
        "persistent:///b/c",
        "nonsense://public/default/t",
        "non-persistent://public/default/t",
        "public/default/\0",
        "public/default/" + "t" * 5_000,
        "t" * (5 * 1024 * 1024),
    ],
    ids=lambda name: f"{name[:30]!r}-{len(name)}",
)
def test_topics_with_impossible_names(broker: WatchedBroker, name: str) -> None:
    with greeted(broker.port) as connection:
        for content in (
            producer_frame(name),
            subscribe_frame(name),
            frame(pb.CommandLookupTopic(topic=name, request_id=3)),
            frame(pb.CommandPartitionedTopicMetadata(topic=name, request_id=3)),
            frame(pb.CommandGetSchema(topic=name, request_id=3)),
            frame(pb.CommandGetTopicsOfNamespace(namespace=name, request_id=3)),
        ):
            answer = connection.answer(content)
            assert answer is not None
            assert len(simple_frame(answer)) < 2_000, "the answer repeats what it was sent"
            assert not answer.HasField("success")
            assert not answer.HasField("producer_success")
        assert connection.is_served()


@pytest.mark.parametrize("name", ["", "s" * 5_000, "s" * (5 * 1024 * 1024)], ids=len)
def test_subscriptions_with_impossible_names(broker: WatchedBroker, topic: str, name: str) -> None:
    with greeted(broker.port) as connection:
        answer = connection.answer(subscribe_frame(topic, subscription=name))
        assert answer is not None
        assert "subscription" in answer.error.message
        assert len(answer.error.message) < 2_000


@pytest.mark.parametrize("length", [5_000, 5 * 1024 * 1024])
def test_producers_with_impossible_names(broker: WatchedBroker, topic: str, length: int) -> None:
    with greeted(broker.port) as connection:
        answer = connection.answer(producer_frame(topic, name="p" * length))
        assert answer is not None
        assert "producer" in answer.error.message
        assert len(answer.error.message) < 2_000


# Clients that vanish


@pytest.mark.parametrize("kind", SUBTYPES)
def test_who_vanishes_makes_room_for_others(broker: WatchedBroker, topic: str, kind: str) -> None:
    for _ in range(20):
        connection = Bare(broker.port)
        connection.send(CONNECT)
        connection.next()
        assert connection.answer(producer_frame(topic, name="the-name")) is not None
        answer = connection.answer(subscribe_frame(topic, kind))
        assert answer is not None
        assert answer.HasField("success"), answer
        connection.send(send_frame(), frame(pb.CommandFlow(consumer_id=1, messagePermits=1000)))
        connection.vanish()
    assert entries_left(broker, topic, kind) <= 20


def test_a_topic_can_be_used_when_who_asked_for_it_first_has_vanished(broker: WatchedBroker, topic: str) -> None:
    names = [f"{topic}-{number}" for number in range(60)]
    for number, name in enumerate(names):
        connection = Bare(broker.port)
        connection.send(CONNECT)
        connection.next()
        connection.send(producer_frame(name) if number % 2 else subscribe_frame(name))
        if number % 3 == 0:
            connection.send(frame(pb.CommandCloseProducer(producer_id=1, request_id=2)))
        connection.vanish()
    with greeted(broker.port) as connection:
        for number, name in enumerate(names):
            answer = connection.answer(producer_frame(name, number))
            assert answer is not None
            assert answer.HasField("producer_success"), answer
            answer = connection.answer(subscribe_frame(name, consumer_id=number))
            assert answer is not None
            assert answer.HasField("success"), answer
