"""A topic of the embedded broker, full of orders in three versions of their schema."""

import functools
import time
from collections.abc import Iterator
from itertools import cycle, islice

from pyspark.sql import DataFrame

from bench import servers, spark_records
from bench.spark_records import VERSIONS
from tallystick.formats import encoder_of, parse
from tallystick.spark.cluster import Cluster
from tallystick.spark.topics import read_topic
from tallystick.wire.pulsar import pulsar_pb2 as api
from tallystick.wire.pulsar.batches import join
from tallystick.wire.pulsar.pulsar_pb2 import SingleMessageMetadata
from tallystick.wire.pulsar.schemas import wire_schema
from tests.pulsar.raw import Raw, connected, entry

_IN_BATCH = 1000
_BATCHES = 5
"""Different ones of each version; they are repeated to the number that is wanted."""
_AT_ONCE = 50
_TASKS = 2
"""As many as read files."""

Sent = tuple[int, bytes]
"""A producer, and an entry of its schema's version."""


@functools.cache
def cluster() -> Cluster:
    """`tally serve`, a process of its own."""
    server = servers.ours_with_broker()
    return Cluster(server.pulsar_url, registry=server.url)


@functools.cache
def frames(count: int) -> DataFrame:
    """Of a topic that has so many records; whatever uses them reads the broker."""
    topic = f"orders-{count}"
    _fill(topic, count)
    return read_topic(spark_records.spark(), cluster(), topic, minPartitions=_TASKS)


def _fill(topic: str, count: int) -> None:
    """Not by a client, which would take longer than all that is measured."""
    with connected(cluster().url) as raw:
        versions = [list(_entries(raw, topic, number)) for number in range(len(VERSIONS))]
        in_turn = cycle(one for turn in zip(*versions, strict=True) for one in turn)
        for sent, (producer, data) in enumerate(islice(in_turn, count // _IN_BATCH)):
            raw.command("SEND", api.CommandSend(producer_id=producer, sequence_id=sent, num_messages=_IN_BATCH), data)
            if sent % _AT_ONCE == _AT_ONCE - 1:
                raw.pushes("SEND_RECEIPT", 60, most=_AT_ONCE)
        raw.pushes("SEND_RECEIPT", 60, most=count // _IN_BATCH % _AT_ONCE)


def _entries(raw: Raw, topic: str, number: int) -> Iterator[Sent]:
    definition, name = spark_records.schema(VERSIONS[number]), f"fill-{number}"
    attach = api.CommandProducer(
        topic=topic, producer_id=number, producer_name=name, schema=wire_schema(definition, topic)
    )
    version = raw.request("PRODUCER", attach).schema_version
    encode, names = encoder_of(parse(definition)), [field["name"] for field in VERSIONS[number]]
    for first in range(0, _BATCHES * _IN_BATCH, _IN_BATCH):
        orders = map(spark_records.order, range(first, first + _IN_BATCH))
        payload = join((SingleMessageMetadata(), encode({name: order[name] for name in names})) for order in orders)
        told = {"num_messages_in_batch": _IN_BATCH, "uncompressed_size": len(payload), "schema_version": version}
        yield number, entry(payload, name, published_ms=int(time.time() * 1000), **told)
