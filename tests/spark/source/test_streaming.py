"""Topics as streams: bounded micro-batches, checkpoints, what comes later, and what is gone."""

import re
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from tallystick.spark.cluster import Cluster
from tallystick.spark.topics import ends, read_topic_stream
from tests.contracts.clusters import Cluster as Backend
from tests.spark.source.conftest import numbered, send

WAIT_S = 60


class Batches:
    """What each micro-batch held."""

    def __init__(self) -> None:
        self.found: dict[int, list[tuple[str, int, int]]] = {}

    def take(self, frames: DataFrame, batch: int) -> None:
        rows = frames.select("topic", "partition", "payload").collect()
        self.found[batch] = [(row.topic, row.partition, int(row.payload)) for row in rows]

    @property
    def sizes(self) -> list[int]:
        return [len(rows) for _, rows in sorted(self.found.items()) if rows]

    @property
    def numbers(self) -> list[int]:
        return sorted(number for rows in self.found.values() for _, _, number in rows)


def run(frames: DataFrame, batches: Batches, checkpoint: Path) -> None:
    """Until nothing new comes."""
    query = (
        frames.writeStream.foreachBatch(batches.take)
        .option("checkpointLocation", str(checkpoint))
        .trigger(processingTime="0 seconds")
        .start()
    )
    try:
        query.processAllAvailable()
    finally:
        query.stop()


def test_bounded_batches_are_exact_and_go_on_after_the_checkpoint(
    spark: SparkSession, backend: Backend, cluster: Cluster, tmp_path: Path
) -> None:
    one, many = backend.topic("one"), backend.topic("many", partitions=2)
    send(backend.url, one, numbered(25), batch_messages=7)
    send(backend.url, f"{many}-partition-0", numbered(5, 100), batch_messages=1)
    send(backend.url, f"{many}-partition-1", numbered(40, 200))
    frames = read_topic_stream(spark, cluster, [one, many], max_records=20)
    first = Batches()
    run(frames, first, tmp_path)
    assert first.numbers == [*range(25), *range(100, 105), *range(200, 240)]
    assert first.sizes == [20, 20, 20, 10]
    # The last micro-batch is done again as if the driver had died before it was known to be complete.
    last = max(int(file.name) for file in (tmp_path / "commits").iterdir() if file.name.isdecimal())
    for name in (str(last), f".{last}.crc"):
        (tmp_path / "commits" / name).unlink()
    send(backend.url, one, numbered(30, 25))
    second = Batches()
    run(frames, second, tmp_path)
    assert second.found[last] == first.found[last]
    assert second.numbers == sorted(list(range(25, 55)) + [number for _, _, number in first.found[last]])
    third = Batches()
    run(frames, third, tmp_path)
    assert third.numbers == []


def test_what_is_new_comes_along_and_an_end_holds(spark: SparkSession, embedded: Backend, tmp_path: Path) -> None:
    cluster, name = Cluster(embedded.url), embedded.topic("new")
    every = re.compile(f"{name}-.*")
    send(embedded.url, f"{name}-a", numbered(3))
    end = ends(cluster, every)
    send(embedded.url, f"{name}-a", numbered(3, 3))
    send(embedded.url, f"{name}-b", numbered(3, 10))
    first, second = Batches(), Batches()
    run(read_topic_stream(spark, cluster, every, ending=end), first, tmp_path)
    assert first.numbers == [0, 1, 2]
    run(read_topic_stream(spark, cluster, every), second, tmp_path)
    assert second.numbers == [3, 4, 5, 10, 11, 12]


def test_topics_and_partitions_appear_while_a_query_runs(
    spark: SparkSession, embedded: Backend, tmp_path: Path
) -> None:
    cluster, name = Cluster(embedded.url), embedded.topic("running")
    batches = Batches()
    send(embedded.url, f"{name}-a", numbered(2))
    frames = read_topic_stream(spark, cluster, re.compile(f"{name}-.*"), starting="latest")
    query = frames.writeStream.foreachBatch(batches.take).option("checkpointLocation", str(tmp_path)).start()
    try:
        query.processAllAvailable()
        embedded.divide(f"{name}-b", 2)
        send(embedded.url, f"{name}-b-partition-1", numbered(2, 10))
        until = time.monotonic() + WAIT_S
        while batches.numbers != [10, 11] and time.monotonic() < until:
            time.sleep(0.1)
        assert batches.numbers == [10, 11]
    finally:
        query.stop()
