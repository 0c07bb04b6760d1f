"""Our client and the one that people use read each other's messages, on the same broker."""

from collections.abc import Iterator
from itertools import count

import pulsar
import pytest

from tallystick.messaging.settings import Compression
from tests.integration.pulsar_loop import Client, client_of, numbered, put
from tests.servers import RunningRegistry, running_registry

COMPRESSIONS = {
    Compression.NONE: pulsar.CompressionType.NONE,
    Compression.LZ4: pulsar.CompressionType.LZ4,
    Compression.ZLIB: pulsar.CompressionType.ZLib,
    Compression.ZSTD: pulsar.CompressionType.ZSTD,
    Compression.SNAPPY: pulsar.CompressionType.SNAPPY,
}
_numbers = count()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path_factory.mktemp("data"), broker=True) as running:
        yield running


@pytest.fixture
def client(server: RunningRegistry) -> Iterator[Client]:
    with client_of(server.pulsar) as client:
        yield client


@pytest.fixture(scope="module")
def theirs(server: RunningRegistry) -> Iterator[pulsar.Client]:
    found = pulsar.Client(server.pulsar, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
    yield found
    found.close()


@pytest.fixture
def topic() -> str:
    return f"interop-{next(_numbers)}"


@pytest.mark.parametrize("batch_messages", [1, 10])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_they_read_what_we_write(
    client: Client, theirs: pulsar.Client, topic: str, compression: Compression, batch_messages: int
) -> None:
    consumer = theirs.subscribe(topic, "s")
    outlet = client.outlet(topic, compression=compression, batch_messages=batch_messages, name="ours")
    for payload in numbered(20):
        put(outlet, payload, key=b"k" + payload, properties={"p": payload.decode()}, event_time_ms=7)
    put(outlet, b"plain")
    put(outlet, None)
    outlet.flush()
    messages = [consumer.receive(30_000) for _ in range(22)]
    assert [message.data() for message in messages] == [*numbered(20), b"plain", b""]
    assert [message.partition_key() for message in messages[:20]] == [f"k{number}" for number in range(20)]
    assert [message.properties() for message in messages[:20]] == [{"p": str(number)} for number in range(20)]
    assert [message.event_timestamp() for message in messages[:21]] == [7] * 20 + [0]
    assert {message.producer_name() for message in messages} == {"ours"}
    consumer.close()


@pytest.mark.parametrize("is_batching", [True, False])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_we_read_what_they_write(
    client: Client, theirs: pulsar.Client, topic: str, compression: Compression, is_batching: bool
) -> None:
    box = client.inbox(topic, subscription="s")
    producer = theirs.create_producer(
        topic, compression_type=COMPRESSIONS[compression], batching_enabled=is_batching, producer_name="theirs"
    )
    for payload in numbered(20):
        producer.send_async(
            payload,
            lambda *_: None,
            partition_key=f"k{payload.decode()}",
            properties={"p": payload.decode()},
            event_timestamp=7,
        )
    producer.send_async(b"plain", lambda *_: None)
    producer.flush()
    messages = box.take(21)
    assert [message.payload for message in messages] == [*numbered(20), b"plain"]
    assert [message.key for message in messages] == [b"k" + payload for payload in numbered(20)] + [None]
    assert [message.properties for message in messages] == [{"p": str(number)} for number in range(20)] + [{}]
    assert [message.event_time_ms for message in messages] == [7] * 20 + [None]
    assert [message.sequence_id for message in messages] == list(range(21))
    assert {message.producer_name for message in messages} == {"theirs"}
    producer.close()
