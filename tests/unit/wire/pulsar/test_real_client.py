"""The real client at the other end of a socket: it reads what we write, and we read what it writes."""

import pulsar
import pytest
from pulsar.schema import AvroSchema, Integer, Record

from tallystick.model import schema_type as types
from tallystick.wire.pulsar import batches, schemas
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.compression import compress, decompress
from tallystick.wire.pulsar.entries import build_entry, parse_entry
from tests.unit.wire.pulsar.answering import Conversation, answering

TOPIC = "persistent://public/default/orders"
QUIET = pulsar.ConsoleLogger(pulsar.LoggerLevel.Error)
PAYLOADS = [b"", b"one", b"two " * 500]
COMPRESSIONS = {
    "NONE": pulsar.CompressionType.NONE,
    "LZ4": pulsar.CompressionType.LZ4,
    "ZLIB": pulsar.CompressionType.ZLib,
    "ZSTD": pulsar.CompressionType.ZSTD,
    "SNAPPY": pulsar.CompressionType.SNAPPY,
}


class Order(Record):  # type: ignore[misc]
    id = Integer()


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_we_read_its_batches(name: str) -> None:
    conversation = Conversation()
    with answering(conversation) as url:
        client = pulsar.Client(url, logger=QUIET)
        producer = client.create_producer(
            TOPIC, compression_type=COMPRESSIONS[name], batching_enabled=True, batching_max_publish_delay_ms=200
        )
        for payload in PAYLOADS:
            producer.send_async(payload, None)
        producer.flush()
        client.close()
    [frame] = conversation.all(pb.BaseCommand.SEND)
    parsed = parse_entry(frame.body)
    metadata = parsed.metadata
    assert metadata.compression == pb.CompressionType.Value(name)
    payload = decompress(metadata.compression, parsed.payload, metadata.uncompressed_size)
    assert [bytes(part) for _, part in batches.split(payload, metadata.num_messages_in_batch)] == PAYLOADS


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_it_reads_our_batches(name: str) -> None:
    payload = batches.join([(pb.SingleMessageMetadata(partition_key=f"k{i}"), part) for i, part in enumerate(PAYLOADS)])
    metadata = pb.MessageMetadata(
        producer_name="p",
        sequence_id=0,
        publish_time=1,
        num_messages_in_batch=len(PAYLOADS),
        compression=name,
        uncompressed_size=len(payload),
    )
    entry = build_entry(metadata, compress(metadata.compression, payload))
    with answering(Conversation(deliveries=[entry])) as url:
        client = pulsar.Client(url, logger=QUIET)
        consumer = client.subscribe(TOPIC, "audit")
        received = [consumer.receive(5_000) for _ in PAYLOADS]
        assert [(message.partition_key(), message.data()) for message in received] == [
            (f"k{i}", part) for i, part in enumerate(PAYLOADS)
        ]
        client.close()


def test_we_read_its_schema() -> None:
    conversation = Conversation()
    schema = AvroSchema(Order)
    with answering(conversation) as url:
        client = pulsar.Client(url, logger=QUIET)
        client.create_producer(TOPIC, schema=schema)
        client.subscribe(TOPIC, "audit")
        client.close()
    [asked] = conversation.all(pb.BaseCommand.PRODUCER)
    definition = schemas.definition_of(asked.command.producer.schema)
    assert definition is not None
    assert (definition.type, definition.text) == (types.AVRO, schema.schema_info().schema())
    [subscribed] = conversation.all(pb.BaseCommand.SUBSCRIBE)
    assert schemas.definition_of(subscribed.command.subscribe.schema) is None
