"""Connections that break while a task reads or writes, or a driver plans: all comes, once, and nobody waits forever.

What a task does is called here as Spark calls it, without Spark.
"""

import time
from collections.abc import Iterator

import httpx
import pyarrow as pa
import pytest

from tallystick.errors import Unavailable
from tallystick.spark.source.following import Following
from tallystick.spark.source.options import read_options, write_options
from tallystick.spark.source.readers import BatchReader
from tallystick.spark.source.writing import Sender, write_rows
from tests.contracts.clusters import Cluster as Backend
from tests.contracts.proxy import Proxy
from tests.spark.source.conftest import numbered, send

COUNT = 40_000


@pytest.fixture
def topic(embedded: Backend) -> str:
    topic = embedded.topic("cut")
    send(embedded.url, topic, numbered(COUNT), batch_messages=20)
    return topic


def batches(url: str, topic: str, **options: str) -> Iterator[pa.RecordBatch]:
    reader = BatchReader(read_options({"url": url, "topics": topic} | options), None)
    for partition in reader.partitions():
        yield from reader.read(partition)


def numbers(found: Iterator[pa.RecordBatch]) -> list[int]:
    return [int(payload) for batch in found for payload in batch.column("payload").to_pylist()]


def cutting(found: Iterator[pa.RecordBatch], proxy: Proxy) -> Iterator[pa.RecordBatch]:
    for batch in found:
        yield batch
        proxy.cut()


def test_a_task_goes_on_reading_where_it_was(embedded: Backend, topic: str) -> None:
    with embedded.behind_proxy() as (cluster, proxy):
        assert numbers(cutting(batches(cluster.url, topic), proxy)) == list(range(COUNT))


def test_a_driver_goes_on_counting_where_it_was(embedded: Backend, topic: str) -> None:
    with embedded.behind_proxy() as (cluster, proxy):
        following = Following(read_options({"url": cluster.url, "topics": topic, "maxRecordsPerBatch": "15000"}), None)
        try:
            ((partition, start),) = following.begin().items()
            ends = []
            while (end := following.next_end()[partition]) != start:
                ends.append((end.entry, end.batch_index))
                following.came_to({partition: end})
                start = end
                proxy.cut()
            assert ends == [(749, 19), (1499, 19), (1999, 19)]
        finally:
            following.close()


def test_a_task_writes_all_of_it_once(embedded: Backend, topic: str) -> None:
    namespace = f"public/{embedded.topic('once')}"
    for method, path in (("PUT", ""), ("POST", "/deduplication")):
        url = f"{embedded.openschema}/admin/v2/namespaces/{namespace}{path}"
        httpx.request(method, url, json=True if path else None, timeout=30).raise_for_status()
    with embedded.behind_proxy() as (cluster, proxy):
        options = write_options({"url": cluster.url, "topic": f"{namespace}/copy"})
        rows = cutting(batches(embedded.url, topic), proxy)
        assert write_rows(rows, options, None, Sender("p-0", 3)) == COUNT
        assert write_rows(batches(embedded.url, topic), options, None, Sender("p-0", 3)) == COUNT
    assert numbers(batches(embedded.url, f"{namespace}/copy")) == list(range(COUNT))


def test_a_broker_that_stands_still_is_waited_for_no_longer_than_asked(embedded: Backend, topic: str) -> None:
    with embedded.behind_proxy() as (cluster, proxy):
        proxy.hold(b"feed-")
        began = time.monotonic()
        with pytest.raises(Unavailable, match=f"{topic}|{cluster.url}"):
            next(batches(cluster.url, topic, timeoutSeconds="2"))
        assert time.monotonic() - began < 20
        proxy.release()
