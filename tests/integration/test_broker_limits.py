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
    filled,
    frame,
    greeted,
    producer_frame,
    send_frame,
    taking,
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


def send_and_read_nothing(connection: Bare, witness: Witness, data: bytes, most: int) -> int:
    """Returns how much went. Either all of it goes, or the broker takes no more while it serves others."""
    connection.socket.settimeout(0.2)
    sent, refused = 0, 0
    while sent < most and refused < 5:
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
    with greeted(broker.port, 4096) as connection:
        sent = send_and_read_nothing(connection, witness, PING * 10_000, 64 * MIB)
    print(f"{sent / MIB:.1f} MiB of PING went before the broker had enough")


def test_large_answers_that_are_not_read(broker: WatchedBroker, witness: Witness, topic: str) -> None:
    for number in range(200):
        with greeted(broker.port) as connection:
            connection.answer(producer_frame(f"{topic}-{number}-{'n' * 200}"))
    question = frame(pb.CommandGetTopicsOfNamespace(namespace="public/default", request_id=1))
    with greeted(broker.port, 4096) as connection:
        sent = send_and_read_nothing(connection, witness, question * 1_000, 16 * MIB)
    print(f"{sent / len(question):.0f} questions went before the broker had enough")


def test_many_questions_at_once(broker: WatchedBroker, topic: str) -> None:
    asked = 15_000
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


def test_many_small_messages_at_once(broker: WatchedBroker, topic: str) -> None:
    before = broker.resident_mib
    filled(broker.port, topic, 100_000, 1)
    print(f"100,000 messages of one byte, all at once: {broker.peak_mib - before:.1f} MiB more")
    assert broker.peak_mib - before < 80


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
            connection.take(48, pb.BaseCommand.SEND_RECEIPT)
    print(f"{sum(sent) / MIB:.0f} MiB stored, {broker.peak_mib:.0f} MiB of memory at most")


# Consumers


def test_consumers_that_stop_reading(broker: WatchedBroker, witness: Witness, topic: str) -> None:
    filled(broker.port, topic, 64, MIB)
    with ExitStack() as stack:
        for number in range(12):
            slow = taking(stack, broker.port, topic, subscription=f"s-{number}")
            slow.socket.recv(1)
        assert witness.is_served()
        quick = taking(stack, broker.port, topic, subscription="quick")
        for _ in range(64):
            quick.until(pb.BaseCommand.MESSAGE)
        slow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(50):
            assert slow.socket.recv(100)
        assert witness.is_served()


def test_a_slow_one_among_consumers_that_share(broker: WatchedBroker, topic: str) -> None:
    filled(broker.port, topic, 64, MIB)
    with ExitStack() as stack:
        slow = taking(stack, broker.port, topic, "Shared")
        slow.socket.recv(1)
        quick = taking(stack, broker.port, topic, "Shared")
        quick.until(pb.BaseCommand.MESSAGE)
        slow.vanish()
        seen = 1
        while seen < 64:
            quick.until(pb.BaseCommand.MESSAGE)
            seen += 1
