"""What librdkafka is told."""

import pytest
from confluent_kafka import Producer

from tallystick.errors import InvalidArgument
from tallystick.messaging.settings import Compression, ConsumerSettings, ProducerSettings
from tallystick.transports.kafka.clients import Watch, made
from tallystick.transports.kafka.settings import KafkaSettings, consumer_config, is_incremental, producer_config

KAFKA = KafkaSettings(servers="k:9092")


def test_producers_are_idempotent_and_batch_as_asked() -> None:
    wanted = ProducerSettings(
        name="p", batch_messages=7, batch_bytes=8, batch_delay_s=0.009, max_pending=10, send_timeout_s=11
    )
    config = producer_config(KAFKA, wanted)
    assert config["enable.idempotence"] is True
    names = ("client.id", "batch.num.messages", "batch.size", "linger.ms", "delivery.timeout.ms")
    assert [config[name] for name in names] == ["p", 7, 8, 9, 11_000]
    assert int(config["queue.buffering.max.messages"]) >= 10


@pytest.mark.parametrize(
    ("asked", "codec"),
    [
        (Compression.NONE, "none"),
        (Compression.LZ4, "lz4"),
        (Compression.ZLIB, "gzip"),
        (Compression.ZSTD, "zstd"),
        (Compression.SNAPPY, "snappy"),
    ],
)
def test_every_compression_has_its_codec(asked: Compression, codec: str) -> None:
    config = producer_config(KAFKA, ProducerSettings(compression=asked))
    assert config["compression.type"] == codec
    made(Producer, config, {}, Watch("k:9092")).close()


def test_options_win() -> None:
    settings = KafkaSettings(servers="k:9092", options={"linger.ms": 3, "isolation.level": "read_uncommitted"})
    assert producer_config(settings, ProducerSettings())["linger.ms"] == 3
    assert consumer_config(settings, ConsumerSettings(topics=["t"]))["isolation.level"] == "read_uncommitted"


def test_a_reader_has_a_group_of_its_own() -> None:
    groups = {consumer_config(KAFKA, ConsumerSettings(topics=["t"]))["group.id"] for _ in range(2)}
    assert len(groups) == 2
    assert consumer_config(KAFKA, ConsumerSettings(topics=["t"], subscription="s"))["group.id"] == "s"


@pytest.mark.parametrize("name", ["bootstrap.servers", "group.id", "enable.auto.commit"])
def test_what_the_transport_decides_is_no_option(name: str) -> None:
    with pytest.raises(InvalidArgument, match=name):
        KafkaSettings(servers="k:9092", options={name: "x"})


def test_options_are_plain_values() -> None:
    with pytest.raises(InvalidArgument, match=r"oauth_cb"):
        KafkaSettings(servers="k:9092", options={"oauth_cb": print})  # type: ignore[dict-item]


@pytest.mark.parametrize("options", [{"no.such.option": "x"}, {"acks": "many"}, {"ssl.ca.location": "/no/such/file"}])
def test_librdkafka_names_the_option_that_it_does_not_take(options: dict[str, str]) -> None:
    settings = KafkaSettings(servers="k:9092", options={"security.protocol": "ssl", **options})
    with pytest.raises(InvalidArgument) as failure:
        made(Producer, producer_config(settings, ProducerSettings()), settings.options, Watch("k:9092"))
    assert failure.value.argument == next(iter(options))


def test_secrets_are_not_shown() -> None:
    assert "hidden" not in repr(KafkaSettings(servers="k:9092", options={"sasl.password": "hidden"}))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, False),
        ({"partition.assignment.strategy": "cooperative-sticky"}, True),
        ({"group.protocol": "consumer"}, True),
        ({"group.protocol": "classic"}, False),
    ],
)
def test_who_rebalances_step_by_step(options: dict[str, str], expected: bool) -> None:
    assert is_incremental(options) is expected
