"""A pipeline is killed at any moment and started again: no record is lost, and none is there twice.

The short form runs with the tests; `make soak` sets TALLYSTICK_SOAK for the full count.
"""

import json
import os
import signal
import subprocess
import time
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tallystick.spark.landing.table import Table
from tests.contracts import clusters
from tests.kafka.driving import new_name
from tests.kafka.server import Kafka
from tests.spark import mixed
from tests.spark.faults.jobs import commits, ended_well, executors, job, kill, wait_for_commits
from tests.spark.kafka.topics import Put, held, new_topic, put
from tests.spark.test_mixed_topics import cluster_of, what_became

SOAK = "TALLYSTICK_SOAK" in os.environ
KILLS = 20 if SOAK else 2
_PER_BATCH = 300


class Landing:
    """A topic, and the jobs that land it one after the other."""

    def __init__(
        self, spark: SparkSession, running: clusters.Cluster, format_: str, folder: Path, batches: int
    ) -> None:
        self._spark = spark
        self._table = Table(format_, str(folder / "orders"))
        self._checkpoint, self.errors = folder / "checkpoint", folder / "errors"
        cluster, topic = cluster_of(running), running.topic("killed")
        self._filled = mixed.fill(spark, cluster, topic, _PER_BATCH * batches, seed=batches)
        self._told: dict[str, Any] = {
            "url": cluster.url,
            "registry": cluster.registry,
            "topic": topic,
            "format": format_,
            "place": self._table.place,
            "checkpoint": str(self._checkpoint),
            "max_records": _PER_BATCH,
        }

    def job(
        self, *, available_now: bool = False, master: str = "local[2]"
    ) -> AbstractContextManager["subprocess.Popen[bytes]"]:
        told = {**self._told, "master": master, "available_now": available_now}
        return job("tests.spark.faults.landing_job", json.dumps(told), errors=self.errors)

    def wait_for_commits(self, started: "subprocess.Popen[bytes]", more: int = 1) -> None:
        wait_for_commits(self._checkpoint, commits(self._checkpoint) + more, started, self.errors)

    def problems(self) -> list[str]:
        return mixed.problems(self._filled, *what_became(self._spark, self._table))


@pytest.mark.parametrize(("name", "format_"), [("embedded", "delta"), ("kafka", "parquet")])
def test_killed_landings_lose_nothing(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path, name: str, format_: str
) -> None:
    landing = Landing(spark, clusters.CLUSTERS[name](request), format_, tmp_path, 4 * KILLS + 2)
    random = Random(KILLS)
    for _ in range(KILLS):
        with landing.job() as started:
            landing.wait_for_commits(started)
            time.sleep(random.random() * 2)
            kill(started)
    with landing.job(available_now=True) as last:
        ended_well(last, landing.errors)
    assert landing.problems() == []


def test_killed_copies_on_kafka_are_whole_and_have_nothing_twice(kafka: Kafka, tmp_path: Path) -> None:
    source, target = new_topic(kafka, 2), new_topic(kafka, 2)
    values = [b"%06d" % i for i in range(_PER_BATCH * (4 * KILLS + 2))]
    put(kafka, source, [Put(value, partition=i % 2) for i, value in enumerate(values)])
    checkpoint, errors, random = tmp_path / "checkpoint", tmp_path / "errors", Random(KILLS)
    told = {
        "url": f"kafka://{kafka.servers}",
        "source": source,
        "target": target,
        "checkpoint": str(checkpoint),
        "query": new_name("copying"),
        "max_records": _PER_BATCH,
    }

    def copying(*, available_now: bool) -> AbstractContextManager["subprocess.Popen[bytes]"]:
        return job(
            "tests.spark.faults.copying_job", json.dumps({**told, "available_now": available_now}), errors=errors
        )

    for _ in range(KILLS):
        with copying(available_now=False) as started:
            wait_for_commits(checkpoint, commits(checkpoint) + 1, started, errors)
            time.sleep(random.random() * 2)
            kill(started)
    with copying(available_now=True) as last:
        ended_well(last, errors)
    # A reader of committed records alone.
    assert sorted(record.value or b"" for record in held(kafka, target)) == values


def test_a_landing_that_is_told_to_end_ends_with_its_batch(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path
) -> None:
    landing = Landing(spark, clusters.embedded(request), "parquet", tmp_path, 6)
    with landing.job() as started:
        landing.wait_for_commits(started)
        os.kill(started.pid, signal.SIGTERM)
        ended_well(started, landing.errors)
    with landing.job(available_now=True) as last:
        ended_well(last, landing.errors)
    assert landing.problems() == []


def test_two_workers_of_which_one_is_killed(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path
) -> None:
    landing = Landing(spark, clusters.embedded(request), "parquet", tmp_path, 6)
    with landing.job(available_now=True, master="local-cluster[2,1,1024]") as started:
        landing.wait_for_commits(started)
        workers = executors(started)
        os.kill(workers[0], signal.SIGKILL)
        ended_well(started, landing.errors)
    assert len(workers) == 2
    assert landing.problems() == []
