"""Our client of Pulsar's protocol on the embedded broker: what is sent arrives as it was."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count

import httpx
import pytest

from tallystick.access import Caller
from tallystick.errors import (
    Busy,
    Closed,
    IncompatibleSchema,
    InvalidArgument,
    InvalidRecord,
    TopicNotFound,
    Unsupported,
    VersionNotFound,
)
from tallystick.messaging.ports import Mark
from tallystick.messaging.settings import Compression, Subscription
from tallystick.model.definition import SchemaDefinition
from tallystick.model.naming import pulsar_subject
from tallystick.model.position import KafkaPosition, PulsarPosition
from tallystick.model.schema_type import AVRO, BYTES, EXTERNAL, STRING
from tallystick.model.settings import PayloadValidation
from tallystick.model.subject import Version
from tallystick.registry import policies
from tallystick.wire.pulsar.hashing import java_string_hash
from tallystick.wire.pulsar.schemas import KeyValueIds
from tests.integration.pulsar_loop import SECONDS, Client, client_of, numbered, put, send, send_all
from tests.servers import RunningRegistry, running_registry

ONE = SchemaDefinition(AVRO, '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}')
TWO = SchemaDefinition(
    AVRO,
    '{"type": "record", "name": "R", "fields": '
    '[{"name": "a", "type": "int"}, {"name": "b", "type": "int", "default": 0}]}',
)
OTHER = SchemaDefinition(AVRO, '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}]}')
_numbers = count()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path_factory.mktemp("data"), broker=True) as running:
        yield running


@pytest.fixture
def client(server: RunningRegistry) -> Iterator[Client]:
    with client_of(server.pulsar) as client:
        yield client


@pytest.fixture
def topic() -> str:
    return f"transport-{next(_numbers)}"


def make_partitioned(server: RunningRegistry, topic: str, partitions: int) -> None:
    answer = httpx.put(f"{server.pulsar_admin}/persistent/public/default/{topic}/partitions", json=partitions)
    assert answer.status_code == 204


# Messages


def test_batches_arrive_in_order_with_their_positions(client: Client, topic: str) -> None:
    box, outlet = client.inbox(topic, subscription="s"), client.outlet(topic, batch_messages=30)
    positions = send_all(outlet, numbered(100))
    arrived = box.take(100)
    assert [message.payload for message in arrived] == numbered(100)
    assert [message.position for message in arrived] == positions
    assert [(p.entry, p.batch_index) for p in positions if isinstance(p, PulsarPosition)][28:32] == [
        (0, 28),
        (0, 29),
        (1, 0),
        (1, 1),
    ]
    assert [message.sequence_id for message in arrived] == list(range(100))
    assert {message.producer_name for message in arrived} == {outlet.name}
    assert {message.topic for message in arrived} == {topic}


def test_all_that_a_message_has_arrives(client: Client, topic: str) -> None:
    box, outlet = client.inbox(topic, subscription="s"), client.outlet(topic)
    more = {"properties": {"a": "1", "ü": ""}, "event_time_ms": 1_700_000_000_123, "sequence_id": 70}
    put(outlet, b"text", key="clé".encode(), **more)
    put(outlet, b"bytes", key=b"\xff\x00", is_key_text=False, ordering_key=b"o")
    put(outlet, None, key=b"gone")
    put(outlet, b"", replicated_from="elsewhere")
    put(outlet, b"plain")
    outlet.flush()
    text, binary, gone, replicated, plain = box.take(5)
    assert (text.payload, text.key, text.is_key_text) == (b"text", "clé".encode(), True)
    assert text.properties == more["properties"]
    assert (text.event_time_ms, text.sequence_id) == (1_700_000_000_123, 70)
    assert (binary.key, binary.is_key_text, binary.sequence_id) == (b"\xff\x00", False, 71)
    assert (gone.payload, gone.key) == (None, b"gone")
    assert (replicated.payload, replicated.replicated_from) == (b"", "elsewhere")
    assert (plain.payload, plain.replicated_from, plain.key, plain.properties) == (b"plain", None, None, {})


def test_without_batches_a_message_is_an_entry(client: Client, topic: str) -> None:
    box, outlet = client.inbox(topic, subscription="s"), client.outlet(topic, batch_messages=1)
    put(outlet, None, key=b"k", properties={"p": "q"}, event_time_ms=5)
    put(outlet, b"two", key=b"\xfe", is_key_text=False)
    first, second = box.take(2)
    assert (first.payload, first.key, first.properties, first.event_time_ms) == (None, b"k", {"p": "q"}, 5)
    assert (second.payload, second.key, second.is_key_text) == (b"two", b"\xfe", False)
    assert [message.position.batch_index for message in (first, second)] == [-1, -1]  # type: ignore[union-attr]


@pytest.mark.parametrize("compression", Compression)
@pytest.mark.parametrize("batch_messages", [1, 100])
def test_compression(client: Client, topic: str, compression: Compression, batch_messages: int) -> None:
    payloads = [number * 50 for number in numbered(20)]
    box = client.inbox(topic, subscription="s")
    send_all(client.outlet(topic, compression=compression, batch_messages=batch_messages), payloads)
    assert box.payloads(20) == payloads


def test_one_batch_has_one_mark(client: Client, topic: str) -> None:
    box, outlet = client.inbox(topic, subscription="s"), client.outlet(topic)
    ids: list[bytes | KeyValueIds] = [b"\x01", b"\x01", b"\x02", b"\x02", b"\x01", KeyValueIds(b"k", b"v")]
    marks = [Mark(schema_id=id_) for id_ in ids] + [Mark(Version(number)) for number in (1, 2, 1, 2)]
    for mark in marks:
        put(outlet, b"x", mark=mark)
    outlet.flush()
    arrived = box.take(len(marks))
    assert [message.mark for message in arrived] == marks
    assert [message.position.entry for message in arrived] == [0, 0, 1, 1, 2, 3, 4, 5, 6, 7]  # type: ignore[union-attr]


def test_a_batch_is_sent_when_its_time_has_come(client: Client, topic: str) -> None:
    outlet = client.outlet(topic, batch_delay_s=0.05)
    sents = [put(outlet), put(outlet)]
    positions = [sent.result(SECONDS) for sent in sents]
    assert [position.batch_index for position in positions] == [0, 1]  # type: ignore[union-attr]


def test_delayed_messages_travel_alone_and_come_later(client: Client, topic: str) -> None:
    box, outlet = client.inbox(topic, subscription="s", kind=Subscription.SHARED), client.outlet(topic)
    soon = int((datetime.now(UTC) + timedelta(seconds=0.7)).timestamp() * 1000)
    put(outlet, b"later", deliver_at_ms=soon)
    put(outlet, b"now")
    outlet.flush()
    assert box.payloads(2) == [b"now", b"later"]


def test_a_message_that_is_too_large_is_refused_alone(client: Client, topic: str) -> None:
    outlet = client.outlet(topic)
    before, large, after = put(outlet, b"a"), put(outlet, b"x" * 6_000_000), put(outlet, b"b")
    outlet.flush()
    with pytest.raises(InvalidRecord, match=rf"{topic}.*600\d\d\d\d bytes.*5242880") as caught:
        large.result(SECONDS)
    assert [finding.rule for finding in caught.value.findings] == ["RECORD_TOO_LARGE"]
    assert before.result(SECONDS) < after.result(SECONDS)  # type: ignore[operator]
    assert outlet.pending == 0


def test_what_is_large_and_compresses_well_is_sent(client: Client, topic: str) -> None:
    box = client.inbox(topic, subscription="s")
    send(client.outlet(topic, compression=Compression.ZSTD), b"x" * 6_000_000)
    assert box.take(1)[0].payload == b"x" * 6_000_000


def test_a_key_that_is_no_text_is_refused_alone(client: Client, topic: str) -> None:
    outlet = client.outlet(topic)
    wrong = put(outlet, key=b"\xff")
    with pytest.raises(InvalidArgument, match="UTF-8"):
        wrong.result(SECONDS)
    send(outlet)


def test_after_it_is_closed_nothing_is_sent(client: Client, topic: str) -> None:
    outlet = client.outlet(topic)
    waiting = put(outlet)
    client.close(outlet)
    assert waiting.result(0.001)
    with pytest.raises(Closed, match=topic):
        put(outlet).result(SECONDS)


# Names


def test_names_of_topics_are_written_in_three_ways(client: Client, topic: str) -> None:
    box = client.inbox(f"persistent://public/default/{topic}", subscription="s")
    for name in (topic, f"public/default/{topic}", f"persistent://public/default/{topic}"):
        send(client.outlet(name), name.encode())
    assert len(box.payloads(3)) == 3
    with pytest.raises(InvalidArgument, match="topic"):
        client.outlet("a/b")
    with pytest.raises(TopicNotFound, match="nowhere"):
        client.outlet("public/nowhere/x")


def test_producers_have_names(client: Client, topic: str) -> None:
    assert client.outlet(topic, name="mine").name == "mine"
    with pytest.raises(Busy, match="mine"):
        client.outlet(topic, name="mine")
    assert client.outlet(topic).name


def test_a_producer_comes_back_under_its_name_and_goes_on(client: Client, server: RunningRegistry, topic: str) -> None:
    url = f"{server.pulsar_admin}/persistent/public/default/{topic}"
    assert httpx.put(url).status_code == 204
    assert httpx.post(f"{url}/deduplicationEnabled", json=True).status_code == 204
    box = client.inbox(topic, subscription="s")
    first = client.outlet(topic, name="one")
    send_all(first, numbered(3))
    client.close(first)
    again = client.outlet(topic, name="one")
    send(again, b"3")
    assert [message.sequence_id for message in box.take(4)] == [0, 1, 2, 3]
    assert send(again, b"twice", sequence_id=2) == PulsarPosition(-1, -1, -1, 0)
    client.close(again)
    send(client.outlet(topic, name="one", initial_sequence_id=9), b"4")
    assert [message.sequence_id for message in box.take(1)] == [10]


# Partitions


def test_keys_go_where_javas_client_sends_them(client: Client, server: RunningRegistry, topic: str) -> None:
    make_partitioned(server, topic, 5)
    assert client.loop.run(client.transport.partitions(topic)) == 5
    box, outlet = client.inbox(topic, subscription="s"), client.outlet(topic)
    keys = [f"key-{number}" for number in range(20)]
    for key in keys:
        put(outlet, key.encode(), key=key.encode())
    put(outlet, b"chosen", key=b"key-0", partition=4)
    put(outlet, b"binary", key=b"\xff\xfe", is_key_text=False)
    outlet.flush()
    where = {message.payload: message.position.partition for message in box.take(22)}
    assert [where[key.encode()] for key in keys] == [java_string_hash(key) % 5 for key in keys]
    assert where[b"chosen"] == 4
    assert where[b"binary"] == java_string_hash("//4=") % 5
    with pytest.raises(InvalidArgument, match="there is no 5"):
        put(outlet, partition=5).result(SECONDS)


def test_without_keys_partitions_take_turns_by_batches(client: Client, server: RunningRegistry, topic: str) -> None:
    make_partitioned(server, topic, 3)
    outlet = client.outlet(topic, batch_messages=10)
    positions = send_all(outlet, numbered(60))
    turns = [position.partition for position in positions]
    assert turns == [turn for turn in turns[::10] for _ in range(10)]
    assert sorted(turns) == [0] * 20 + [1] * 20 + [2] * 20
    assert len({outlet.name}) == 1


def test_a_partition_can_be_consumed_alone(client: Client, server: RunningRegistry, topic: str) -> None:
    make_partitioned(server, topic, 2)
    box, outlet = client.inbox(f"{topic}-partition-1", subscription="s"), client.outlet(topic)
    put(outlet, b"0", partition=0)
    put(outlet, b"1", partition=1)
    outlet.flush()
    (message,) = box.take(1)
    assert (message.payload, message.topic, message.position.partition) == (b"1", topic, 1)


def test_the_last_positions_of_partitions(client: Client, server: RunningRegistry, topic: str) -> None:
    make_partitioned(server, topic, 2)
    box, outlet = client.inbox(topic, subscription="s"), client.outlet(topic)
    last = send(outlet, partition=1)
    assert client.loop.run(box.inlet.last_positions()) == {0: None, 1: last}


def test_several_topics(client: Client, server: RunningRegistry, topic: str) -> None:
    make_partitioned(server, f"{topic}-p", 2)
    box = client.inbox(topic, f"{topic}-p", subscription="s", queue_size=9)
    outlets = [client.outlet(topic), client.outlet(f"{topic}-p")]
    for outlet in outlets:
        for payload in numbered(100):
            put(outlet, payload, key=payload)
        outlet.flush()
    arrived = [message for _ in range(20) for message in box.take(10)]
    assert sorted((message.topic, message.payload) for message in arrived) == sorted(
        (name, payload) for name in (topic, f"{topic}-p") for payload in numbered(100)
    )
    with pytest.raises(Unsupported, match="one topic"):
        client.loop.run(box.inlet.last_positions())


# Schemas


def test_schemas_are_registered_and_looked_up(client: Client, topic: str) -> None:
    outlet = client.outlet(topic, ONE)
    assert outlet.version == 1
    assert client.loop.run(outlet.attach(TWO)) == 2
    assert client.loop.run(outlet.attach(ONE)) == 1
    box = client.inbox(topic, subscription="s", definition=TWO)
    assert client.loop.run(box.inlet.writer(topic, Version(1))) == ONE
    assert client.loop.run(box.inlet.writer(topic, None)) == TWO
    assert client.loop.run(client.transport.latest_schema(topic)) == TWO
    with pytest.raises(VersionNotFound):
        client.loop.run(box.inlet.writer(topic, Version(9)))


def test_topics_without_a_schema(client: Client, topic: str) -> None:
    assert client.outlet(topic, SchemaDefinition(BYTES)).version is None
    assert client.loop.run(client.transport.latest_schema(topic)) is None
    with pytest.raises(InvalidArgument, match="BYTES"):
        client.loop.run(client.outlet(topic).attach(SchemaDefinition(BYTES)))


def test_schemas_of_other_types(client: Client, topic: str) -> None:
    external = client.outlet(topic, SchemaDefinition(EXTERNAL))
    assert external.version == 1
    assert client.loop.run(client.transport.latest_schema(topic)) == SchemaDefinition(EXTERNAL)
    assert client.outlet(f"{topic}-text", SchemaDefinition(STRING)).version == 1


def test_a_refusal_has_its_findings(client: Client, topic: str) -> None:
    outlet = client.outlet(topic, ONE)
    attempts: list[Callable[[], object]] = [
        lambda: client.outlet(topic, OTHER),
        lambda: client.inbox(topic, subscription="s", definition=OTHER),
        lambda: client.loop.run(outlet.attach(OTHER)),
    ]
    for attempt in attempts:
        with pytest.raises(IncompatibleSchema, match=topic) as caught:
            attempt()
        finding = caught.value.findings[0]
        assert finding.rule.startswith("AVRO_")
        assert "`a`" in finding.message
        assert finding.fix
        assert finding.version == 1


def test_a_record_that_the_broker_refuses_fails_alone(client: Client, server: RunningRegistry, topic: str) -> None:
    changes = {"payload_validation": PayloadValidation.ALL}
    policies.change(server.registry, Caller(), changes, pulsar_subject("public", "default", topic))
    outlet = client.outlet(topic, ONE, batch_messages=1)
    good, bad = b"\x02", b"\xff" * 12
    sents = [put(outlet, payload, mark=Mark(Version(1))) for payload in (good, bad, good, bad, good)]
    for refused in (sents[1], sents[3]):
        with pytest.raises(InvalidRecord, match=topic) as caught:
            refused.result(SECONDS)
        assert caught.value.findings[0].rule.startswith("AVRO_")
    assert [sents[index].result(SECONDS).entry for index in (0, 2, 4)] == [0, 1, 2]  # type: ignore[union-attr]
    assert outlet.pending == 0


# Attaching elsewhere


def test_what_is_no_place_to_begin_at(client: Client, topic: str) -> None:
    for start in ("newest", datetime(2024, 1, 1)):
        with pytest.raises(InvalidArgument, match="start"):
            client.inbox(topic, subscription="s", start=start)
    box = client.inbox(topic, subscription="s")
    with pytest.raises(InvalidArgument, match="Kafka"):
        client.loop.run(box.inlet.seek(KafkaPosition(0, 0)))
