"""Connections that break: nothing is lost, the order holds, every send is answered once, and errors say why."""

import random
import time
from collections.abc import Iterator
from itertools import count

import httpx
import pytest

from tallystick.errors import (
    Closed,
    IncompatibleSchema,
    TimedOut,
    Unavailable,
)
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Incoming
from tallystick.messaging.settings import EARLIEST, LATEST
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.pulsar_pb2 import BaseCommand
from tests.integration.fault_proxy import FaultProxy, fault_proxy
from tests.integration.pulsar_loop import SECONDS, Client, client_of, numbered, put, send, send_all, wait_until
from tests.ports import free_port
from tests.servers import RunningRegistry, running_registry

_numbers = count()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path_factory.mktemp("data"), broker=True) as running:
        yield running


@pytest.fixture
def proxy(server: RunningRegistry) -> Iterator[FaultProxy]:
    with fault_proxy(server.pulsar) as proxy:
        yield proxy


@pytest.fixture
def client(proxy: FaultProxy) -> Iterator[Client]:
    with client_of(proxy.url) as client:
        yield client


@pytest.fixture
def topic() -> str:
    return f"faults-{next(_numbers)}"


def without_repeats(messages: list[Incoming]) -> list[bytes | None]:
    """What came, without what came before; fails where something comes again that was passed without being there."""
    seen: dict[bytes | None, None] = {}
    for message in messages:
        seen.setdefault(message.payload)
    return list(seen)


def test_what_is_on_its_way_is_sent_again_in_order(client: Client, proxy: FaultProxy, topic: str) -> None:
    box, outlet = client.inbox(topic, subscription="s"), client.outlet(topic, batch_messages=10)
    proxy.halt()
    sents = [put(outlet, payload) for payload in numbered(500)]
    outlet.flush()
    proxy.cut()
    proxy.resume()
    positions = [sent.result(SECONDS) for sent in sents]
    assert positions == sorted(positions)
    box.wait(lambda: len(without_repeats(box.messages)) == 500)
    assert without_repeats(box.messages) == numbered(500)
    assert outlet.pending == 0
    assert proxy.connections > 1


def test_connections_that_are_cut_anywhere_lose_nothing(proxy: FaultProxy, topic: str) -> None:
    choice = random.Random(7)
    with client_of(proxy.url) as client:
        client.close(client.outlet(topic))
        box = client.inbox(topic, subscription="s", start=EARLIEST)
        outlet = client.outlet(topic, batch_messages=7)
        proxy.cuts_after = iter([choice.randrange(400, 6000) for _ in range(12)])
        sents = []
        for number in range(3000):
            sents.append(put(outlet, str(number).encode() * 3))
            if number % 100 == 0:
                proxy.cut() if number % 1000 == 0 else outlet.flush()
        outlet.flush()
        positions = [sent.result(SECONDS) for sent in sents]
        assert positions == sorted(positions)
        wanted = [str(number).encode() * 3 for number in range(3000)]
        arrived: list[Incoming] = []
        while len({message.payload for message in arrived}) < 3000:
            arrived += box.take(1)
        assert without_repeats(arrived) == wanted
        assert outlet.pending == 0


def test_deduplication_leaves_no_repeats(
    client: Client, proxy: FaultProxy, server: RunningRegistry, topic: str
) -> None:
    url = f"{server.pulsar_admin}/persistent/public/default/{topic}"
    assert httpx.put(url).status_code == 204
    assert httpx.post(f"{url}/deduplicationEnabled", json=True).status_code == 204
    outlet = client.outlet(topic, batch_messages=5)
    lost = iter([True] * 3)

    def lose(command: BaseCommand) -> BaseCommand | None:
        if command.type == BaseCommand.SEND_RECEIPT and next(lost, False):
            proxy.cut()
            return None
        return command

    proxy.change = lose
    sents = [put(outlet, payload) for payload in numbered(100)]
    outlet.flush()
    for sent in sents:
        sent.result(SECONDS)
    with client_of(server.pulsar) as direct:
        assert direct.inbox(topic, subscription="s", start=EARLIEST).payloads(100) == numbered(100)


def test_a_message_that_nobody_takes_fails_alone(client: Client, proxy: FaultProxy, topic: str) -> None:
    outlet = client.outlet(topic, send_timeout_s=0.6)
    proxy.refuse()
    early = put(outlet, b"early")
    outlet.flush()
    with pytest.raises(TimedOut, match=rf"{topic}.*unreachable since \d\d:\d\d:\d\d UTC") as caught:
        early.result(SECONDS)
    assert proxy.url in caught.value.message
    assert outlet.pending == 0
    late = put(outlet, b"late")
    outlet.flush()
    proxy.listen()
    try:
        late.result(SECONDS)
    except TimedOut:
        # On a busy machine it may take longer to come back than this message waits; the next one does not.
        wait_until(lambda: _is_sent(outlet))
    assert outlet.pending == 0


def _is_sent(outlet: object) -> bool:
    try:
        send(outlet)  # type: ignore[arg-type]
    except TimedOut:
        return False
    return True


def test_a_broker_that_does_not_answer_is_named(client: Client, proxy: FaultProxy, topic: str) -> None:
    outlet = client.outlet(topic, send_timeout_s=0.3)
    proxy.halt()
    sent = put(outlet)
    outlet.flush()
    with pytest.raises(TimedOut, match="has not answered"):
        sent.result(SECONDS)
    proxy.resume()
    wait_until(lambda: _is_sent(outlet))


def test_a_silent_broker_is_left(proxy: FaultProxy, topic: str) -> None:
    pongs = []

    def count_pongs(command: BaseCommand) -> BaseCommand:
        if command.type == BaseCommand.PONG:
            pongs.append(command)
        return command

    proxy.change = count_pongs
    with client_of(proxy.url, keep_alive_s=1.0) as client:
        outlet = client.outlet(topic)
        connections = proxy.connections
        wait_until(lambda: len(pongs) >= 2)
        assert proxy.connections == connections, "an answer to a ping is a sign of life"
        proxy.halt()
        sent = put(outlet)
        wait_until(lambda: proxy.connections > connections)
        proxy.resume()
        sent.result(SECONDS)


def test_consumers_come_back_and_miss_nothing(client: Client, proxy: FaultProxy, topic: str) -> None:
    box, outlet = client.inbox(topic, subscription="s", queue_size=20), client.outlet(topic, batch_messages=6)
    expected: list[bytes] = numbered(400)
    seen: set[bytes | None] = set()
    for start in range(0, 400, 50):
        send_all(outlet, expected[start : start + 50])
        proxy.cut()
        while len(seen) < start + 50:
            for message in box.take(1):
                seen.add(message.payload)
                box.inlet.acknowledge(message)
    assert seen == set(expected)


def test_acknowledgements_wait_for_the_connection(client: Client, proxy: FaultProxy, topic: str) -> None:
    box, outlet = client.inbox(topic, subscription="s"), client.outlet(topic, batch_messages=1)
    send_all(outlet, numbered(3))
    first, second, _ = box.take(3)
    proxy.refuse()
    done: Pending[None] = Pending()
    box.inlet.acknowledge(first, done=done)
    box.inlet.acknowledge(second)
    proxy.listen()
    done.result(SECONDS)
    client.close(box.inlet)
    assert client.inbox(topic, subscription="s").payloads(1) == [b"2"]


@pytest.mark.parametrize("start", [EARLIEST, LATEST])
def test_a_reader_goes_on_where_it_was(client: Client, proxy: FaultProxy, topic: str, start: str) -> None:
    outlet = client.outlet(topic, batch_messages=5)
    if start == LATEST:
        send_all(outlet, numbered(7))
    box = client.inbox(topic, start=start)
    proxy.refuse()
    sents = [put(outlet, payload) for payload in numbered(20)]
    outlet.flush()
    proxy.listen()
    assert [sent.result(SECONDS) for sent in sents]
    assert box.payloads(20) == numbered(20)
    proxy.cut()
    send(outlet, b"end")
    assert box.payloads(1) == [b"end"]


def test_a_reader_that_sought_goes_on_there(client: Client, proxy: FaultProxy, topic: str) -> None:
    outlet = client.outlet(topic, batch_messages=5)
    positions = send_all(outlet, numbered(20))
    box = client.inbox(topic, start=LATEST)
    client.loop.run(box.inlet.seek(positions[8]))
    assert box.payloads(12) == numbered(12, 8)
    proxy.cut()
    send(outlet, b"end")
    assert box.payloads(1) == [b"end"]


def test_the_broker_sends_everybody_away(client: Client, server: RunningRegistry, topic: str) -> None:
    box, outlet = client.inbox(topic, subscription="s"), client.outlet(topic)
    send(outlet, b"before")
    assert box.payloads(1) == [b"before"]
    url = f"{server.pulsar_admin}/persistent/public/default/{topic}"
    assert httpx.put(f"{url}/unload").status_code == 204
    send(outlet, b"after")
    assert box.payloads(2) == [b"before", b"after"]


def test_who_comes_back_and_is_refused_fails_what_waits(
    client: Client, proxy: FaultProxy, server: RunningRegistry, topic: str
) -> None:
    """The topic was deleted meanwhile, and made anew with another schema."""
    one = SchemaDefinition(AVRO, '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}')
    other = SchemaDefinition(AVRO, '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}]}')
    outlet = client.outlet(topic, one)
    proxy.refuse()
    url = f"{server.pulsar_admin}/persistent/public/default/{topic}"
    assert httpx.delete(f"{url}?force=true&deleteSchema=true").status_code == 204
    schemas = f"{server.pulsar_admin}/schemas/public/default/{topic}/schema"
    assert httpx.delete(f"{schemas}?force=true").status_code == 200
    with client_of(server.pulsar) as direct:
        kept = direct.outlet(topic, other)
        sents = [put(outlet), put(outlet)]
        outlet.flush()
        proxy.listen()
        for sent in sents:
            with pytest.raises(IncompatibleSchema, match=topic) as caught:
                sent.result(SECONDS)
            assert caught.value.findings
        assert outlet.pending == 0
        direct.close(kept)


def test_an_answer_that_is_lost_ends_with_its_time(proxy: FaultProxy, topic: str) -> None:
    def swallow(command: BaseCommand) -> BaseCommand | None:
        return None if command.type == BaseCommand.PRODUCER_SUCCESS else command

    proxy.change = swallow
    with client_of(proxy.url, operation_timeout_s=0.5) as client, pytest.raises(Unavailable, match=proxy.url):
        client.outlet(topic)


def test_damage_is_sent_again_and_a_lasting_one_told(client: Client, proxy: FaultProxy, topic: str) -> None:
    outlet = client.outlet(topic)
    damages = iter([True] * 4)

    def damage(command: BaseCommand) -> BaseCommand:
        if command.type == BaseCommand.SEND_RECEIPT and next(damages, False):
            receipt, answer = command.send_receipt, BaseCommand(type=BaseCommand.SEND_ERROR)
            answer.send_error.producer_id, answer.send_error.sequence_id = receipt.producer_id, receipt.sequence_id
            answer.send_error.error, answer.send_error.message = pb.ServerError.ChecksumError, "Checksum failed"
            return answer
        return command

    proxy.change = damage
    with pytest.raises(Unavailable, match="damaged"):
        send(outlet)
    send(outlet)
    assert outlet.pending == 0


def test_other_errors_of_sending_are_passing(client: Client, proxy: FaultProxy, topic: str) -> None:
    box, outlet = client.inbox(topic, subscription="s"), client.outlet(topic, batch_messages=1)
    errors = iter([True])

    def refuse(command: BaseCommand) -> BaseCommand:
        if command.type == BaseCommand.SEND_RECEIPT and next(errors, False):
            receipt, answer = command.send_receipt, BaseCommand(type=BaseCommand.SEND_ERROR)
            answer.send_error.producer_id, answer.send_error.sequence_id = receipt.producer_id, receipt.sequence_id
            answer.send_error.error, answer.send_error.message = pb.ServerError.PersistenceError, "no disk"
            return answer
        return command

    proxy.change = refuse
    sents = [put(outlet, payload) for payload in numbered(5)]
    for sent in sents:
        sent.result(SECONDS)
    box.wait(lambda: [m.payload for m in box.messages][-5:] == numbered(5))


def test_closing_waits_for_what_is_on_its_way(client: Client, proxy: FaultProxy, topic: str) -> None:
    outlet = client.outlet(topic)
    proxy.cut()
    sents = [put(outlet, payload) for payload in numbered(10)]
    client.close(outlet)
    assert all(sent.done() and sent.error() is None for sent in sents)


def test_closing_ends_with_the_time_of_what_waits(client: Client, proxy: FaultProxy, topic: str) -> None:
    outlet = client.outlet(topic, send_timeout_s=0.3)
    proxy.refuse()
    sent = put(outlet)
    client.close(outlet)
    assert isinstance(sent.error(), TimedOut)
    proxy.listen()


def test_a_closed_client_answers_everybody(proxy: FaultProxy, topic: str) -> None:
    with client_of(proxy.url) as client:
        outlet, box = client.outlet(topic), client.inbox(topic, subscription="s")
        send(outlet)
        (message,) = box.take(1)
        proxy.halt()
        sents, done = [put(outlet) for _ in range(5)], Pending[None]()
        box.inlet.acknowledge(message, done=done)
    for answer in (*sents, done):
        with pytest.raises(Closed):
            answer.result(0)  # type: ignore[attr-defined]
    with pytest.raises(Closed):
        put(outlet).result(0)


def test_nobody_is_there(topic: str) -> None:
    url = f"pulsar://127.0.0.1:{free_port()}"
    with client_of(url, operation_timeout_s=0.5) as client:
        began = time.monotonic()
        with pytest.raises(Unavailable, match=rf"{url}.*cannot be reached"):
            client.outlet(topic)
        assert 0.4 < time.monotonic() - began < SECONDS


def test_of_several_hosts_one_is_enough(server: RunningRegistry, topic: str) -> None:
    port = server.pulsar.rpartition(":")[2]
    with client_of(f"pulsar://127.0.0.1:{free_port()},127.0.0.1:{port}") as client:
        send(client.outlet(topic))


def test_who_does_not_speak_the_protocol_is_named(server: RunningRegistry, topic: str) -> None:
    url = server.http.replace("http", "pulsar")
    with client_of(url, operation_timeout_s=0.5, connect_timeout_s=0.3) as client, pytest.raises(Unavailable):
        client.outlet(topic)
