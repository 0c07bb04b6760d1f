"""Clients that take without giving, or give without measure: memory stays bounded, and others are served."""

import random
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count

import pytest

from tallystick.wire.pulsar import pulsar_pb2 as pb
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
from tests.integration.broker_watch import WatchedBroker, Witness, many_files, others_are_served, watched_broker
from tests.integration.servers import wait_until

MOST_MIB = 450
MIB = 1024 * 1024
_numbers = count()


@contextmanager
def files_as_most_systems_allow() -> Iterator[None]:
    """1,024 for a process that does not ask for more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WatchedBroker]:
    with ExitStack() as stack:
        with files_as_most_systems_allow():
            broker = stack.enter_context(watched_broker(tmp_path_factory.mktemp("data")))
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
    return f"limits-{next(_numbers)}"


def filled(broker: WatchedBroker, topic: str, entries: int, size: int) -> None:
    with greeted(broker.port) as connection:
        connection.send(producer_frame(topic))
        connection.until(pb.BaseCommand.PRODUCER_SUCCESS)
        payload, pending = b"x" * size, 0
        for number in range(entries):
            connection.send(send_frame(number, payload))
            pending += 1
            if pending == 200:
                _receipts(connection, pending)
                pending = 0
        _receipts(connection, pending)


def _receipts(connection: Bare, wanted: int) -> None:
    for _ in range(wanted):
        connection.until(pb.BaseCommand.SEND_RECEIPT)


def taking(
    stack: ExitStack, broker: WatchedBroker, topic: str, kind: str = "Exclusive", subscription: str = "s"
) -> Bare:
    """A consumer that may be sent everything."""
    connection = stack.enter_context(greeted(broker.port))
    connection.send(subscribe_frame(topic, kind, subscription=subscription))
    connection.until(pb.BaseCommand.SUCCESS)
    connection.send(frame(pb.CommandFlow(consumer_id=1, messagePermits=2**31)))
    return connection


def send_and_read_nothing(connection: Bare, witness: Witness, data: bytes, most: int) -> int:
    """Returns how much went. Either all of it goes, or the broker takes no more while it serves others."""
    connection.socket.settimeout(0.2)
    sent, refused = 0, 0
    while sent < most and refused < 10:
        try:
            sent += connection.socket.send(memoryview(data)[sent % len(data) :])
            refused = 0
        except TimeoutError:
            refused += 1
            assert witness.is_served()
    return sent


# Connections


def test_two_thousand_idle_connections(broker: WatchedBroker, witness: Witness) -> None:
    silent_count, idle_count = 200, 2_000
    with ExitStack() as stack:
        stack.enter_context(many_files(4_096))
        before = broker.resident_mib
        silent = [stack.enter_context(bare(broker.port)) for _ in range(silent_count)]
        idle = [stack.enter_context(greeted(broker.port)) for _ in range(idle_count)]
        taken_kib = (broker.resident_mib - before) * 1024 / (silent_count + idle_count)
        print(f"{idle_count} idle connections and {silent_count} silent ones: {taken_kib:.1f} KiB for each")
        assert witness.is_served()
        assert all(connection.is_served() for connection in random.Random(3).sample(idle, 50))
        for connection in silent:
            connection.socket.settimeout(60)
        assert all(connection.next() is None for connection in silent), "who says nothing is sent away at last"
        assert taken_kib < 60


def test_more_connections_than_files(broker: WatchedBroker, witness: Witness) -> None:
    process = broker.served.process.pid
    before = resource.prlimit(process, resource.RLIMIT_NOFILE)
    resource.prlimit(process, resource.RLIMIT_NOFILE, (150, before[1]))
    try:
        with ExitStack() as stack:
            for _ in range(250):
                stack.enter_context(bare(broker.port)).send(CONNECT)
            assert witness.is_served()
    finally:
        resource.prlimit(process, resource.RLIMIT_NOFILE, before)
    with greeted(broker.port) as connection:
        assert connection.is_served()
    broker.served.errors.clear()  # it may complain of too few files


def test_answers_that_are_not_read(broker: WatchedBroker, witness: Witness) -> None:
    with greeted(broker.port) as connection:
        sent = send_and_read_nothing(connection, witness, PING * 10_000, 64 * MIB)
    print(f"{sent / MIB:.1f} MiB of PING went before the broker had enough")


def test_large_answers_that_are_not_read(broker: WatchedBroker, witness: Witness, topic: str) -> None:
    for number in range(200):
        with greeted(broker.port) as connection:
            connection.answer(producer_frame(f"{topic}-{number}-{'n' * 200}"))
    question = frame(pb.CommandGetTopicsOfNamespace(namespace="public/default", request_id=1))
    with greeted(broker.port) as connection:
        sent = send_and_read_nothing(connection, witness, question * 1_000, 4 * MIB)
    print(f"{sent / len(question):.0f} questions went before the broker had enough")


def test_many_questions_at_once(broker: WatchedBroker, topic: str) -> None:
    asked = 30_000
    question = frame(pb.CommandGetSchema(topic=topic, request_id=1))
    with greeted(broker.port) as connection:
        connection.socket.settimeout(60)
        sending = connection.socket.dup()
        with ExitStack() as stack:
            stack.callback(sending.close)
            for _ in range(asked // 1_000):
                sending.sendall(question * 1_000)
            for _ in range(asked):
                connection.until(pb.BaseCommand.GET_SCHEMA_RESPONSE)


# Producers


def test_producers_that_send_faster_than_the_disk_stores(broker: WatchedBroker, topic: str) -> None:
    with ExitStack() as stack:
        connections = [stack.enter_context(greeted(broker.port)) for _ in range(16)]
        for number, connection in enumerate(connections):
            connection.send(producer_frame(f"{topic}-{number}"))
            connection.until(pb.BaseCommand.PRODUCER_SUCCESS)
            connection.socket.setblocking(False)
        data, sent = memoryview(send_frame(0, b"x" * MIB)), [0] * len(connections)
        wanted = 48 * len(data)

        def push() -> bool:
            for number, connection in enumerate(connections):
                while sent[number] < wanted:
                    try:
                        sent[number] += connection.socket.send(data[sent[number] % len(data) :])
                    except BlockingIOError:
                        break
            return sum(sent) == wanted * len(connections)

        wait_until(push, 120)
        for connection in connections:
            connection.socket.settimeout(60)
            _receipts(connection, 48)
    print(f"{sum(sent) / MIB:.0f} MiB stored, {broker.peak_mib:.0f} MiB of memory at most")


def test_a_producer_that_does_not_read_its_receipts(broker: WatchedBroker, witness: Witness, topic: str) -> None:
    with greeted(broker.port) as connection:
        connection.send(producer_frame(topic))
        connection.until(pb.BaseCommand.PRODUCER_SUCCESS)
        sent = send_and_read_nothing(connection, witness, send_frame() * 5_000, 32 * MIB)
    print(f"{sent / MIB:.1f} MiB of SEND went before the broker had enough")


# Consumers


def test_consumers_that_stop_reading(broker: WatchedBroker, witness: Witness, topic: str) -> None:
    filled(broker, topic, 64, MIB)
    with ExitStack() as stack:
        for number in range(12):
            slow = taking(stack, broker, topic, subscription=f"s-{number}")
            slow.socket.recv(1)
        assert witness.is_served()
        quick = taking(stack, broker, topic, subscription="quick")
        for _ in range(64):
            quick.until(pb.BaseCommand.MESSAGE)
        slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(50):
            assert slow.socket.recv(100)
        assert witness.is_served()


def test_a_slow_one_among_consumers_that_share(broker: WatchedBroker, topic: str) -> None:
    filled(broker, topic, 64, MIB)
    with ExitStack() as stack:
        slow = taking(stack, broker, topic, "Shared")
        slow.socket.recv(1)
        quick = taking(stack, broker, topic, "Shared")
        quick.until(pb.BaseCommand.MESSAGE)
        slow.vanish()
        seen = 1
        while seen < 64:
            quick.until(pb.BaseCommand.MESSAGE)
            seen += 1


ENTRIES = 60_000


@pytest.fixture(scope="module")
def large_topic(broker: WatchedBroker) -> str:
    filled(broker, "large", ENTRIES, 50)
    return "large"


@pytest.mark.parametrize("kind", ["Shared", "Key_Shared"])
def test_a_consumer_that_never_acknowledges(broker: WatchedBroker, large_topic: str, kind: str) -> None:
    before = broker.resident_mib
    with ExitStack() as stack:
        consumer = taking(stack, broker, large_topic, kind, subscription=f"never-{kind}")
        for _ in range(50_000):
            consumer.until(pb.BaseCommand.MESSAGE)
        print(f"50,000 entries that are not acknowledged: {broker.resident_mib - before:.1f} MiB")
        consumer.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            consumer.until(pb.BaseCommand.MESSAGE)


@pytest.mark.parametrize("kind", ["Exclusive", "Failover", "Shared", "Key_Shared"])
def test_acknowledgements_that_leave_holes(broker: WatchedBroker, large_topic: str, kind: str) -> None:
    before, choice, name = broker.resident_mib, random.Random(4), f"holes-{kind}"
    with ExitStack() as stack:
        consumer = taking(stack, broker, large_topic, kind, subscription=name)
        left = 0
        for _ in range(ENTRIES // 1_000):
            ids = [consumer.until(pb.BaseCommand.MESSAGE).message.message_id for _ in range(1_000)]
            acked = [id_ for id_ in ids if choice.random() < 0.5]
            left += len(ids) - len(acked)
            ack = pb.CommandAck(
                consumer_id=1,
                ack_type=pb.CommandAck.Individual,
                message_id=choice.sample(acked, len(acked)),
                request_id=1,
            )
            consumer.send(frame(ack))
        consumer.is_served()
        print(f"{left} entries left among {ENTRIES}: {broker.resident_mib - before:.1f} MiB")
    with ExitStack() as stack:
        again = taking(stack, broker, large_topic, kind, subscription=name)
        for _ in range(left):
            again.until(pb.BaseCommand.MESSAGE)
        again.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            again.until(pb.BaseCommand.MESSAGE)
