"""A pipeline is killed at any moment and started again: no record is lost, and none is there twice.

The short form runs with the tests; `make soak` sets TALLYSTICK_SOAK for the full count.
"""

import json
import os
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tallystick.spark.landing.table import Table
from tests.contracts import clusters
from tests.spark import mixed
from tests.spark.faults.jobs import commits, ended_well, job, kill, wait_for_commits
from tests.spark.test_mixed_topics import cluster_of, what_became

SOAK = "TALLYSTICK_SOAK" in os.environ
KILLS = 20 if SOAK else 2
_PER_BATCH = 300
_JOB = "tests.spark.faults.landing_job"


@pytest.mark.parametrize(("name", "format_"), [("embedded", "delta"), ("kafka", "parquet")])
def test_killed_landings_lose_nothing(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path, name: str, format_: str
) -> None:
    running = clusters.CLUSTERS[name](request)
    cluster, topic = cluster_of(running), running.topic("killed")
    filled = mixed.fill(spark, cluster, topic, _PER_BATCH * (4 * KILLS + 2), seed=KILLS)
    checkpoint, place, errors = tmp_path / "checkpoint", tmp_path / "orders", tmp_path / "errors"
    told: dict[str, Any] = {
        "master": "local[2]",
        "url": cluster.url,
        "registry": cluster.registry,
        "topic": topic,
        "format": format_,
        "place": str(place),
        "checkpoint": str(checkpoint),
        "max_records": _PER_BATCH,
        "available_now": False,
    }
    random = Random(KILLS)
    for _ in range(KILLS):
        with job(_JOB, json.dumps(told), errors=errors) as started:
            wait_for_commits(checkpoint, commits(checkpoint) + 1, started, errors)
            time.sleep(random.random() * 2)
            kill(started)
    with job(_JOB, json.dumps({**told, "available_now": True}), errors=errors) as last:
        ended_well(last, errors)
    assert mixed.problems(filled, *what_became(spark, Table(format_, str(place)))) == []
