"""Real topics, broken in every way: a good record lands once, a bad one is in the quarantine once, with its reason."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tallystick.spark.cluster import Cluster
from tallystick.spark.landing.rows import IS_DELETED
from tallystick.spark.landing.stream import land_stream
from tallystick.spark.landing.table import Table
from tallystick.spark.quarantine import opened, quarantined
from tests.contracts import clusters
from tests.spark import mixed

_RECORDS = 4_000


def cluster_of(running: clusters.Cluster) -> Cluster:
    return Cluster(running.url, registry=running.registry)


def what_became(spark: SparkSession, table: Table) -> tuple[list[tuple[str, int, bool]], list[tuple[str, str]]]:
    """Of the records, by their keys: rows of the table, and of the quarantine."""
    rows = opened(spark, table).selectExpr("cast(tally_key as string)", "tally_schema_version", IS_DELETED).collect()
    bad = quarantined(spark, table).selectExpr("cast(key as string)", "finding.rule").collect()
    return [tuple(row) for row in rows], [tuple(row) for row in bad]


@pytest.mark.parametrize(("name", "format_"), [("embedded", "parquet"), ("pulsar", "delta"), ("kafka", "parquet")])
def test_every_record_has_its_place(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path, name: str, format_: str
) -> None:
    running = clusters.CLUSTERS[name](request)
    cluster, topic = cluster_of(running), running.topic("mixed")
    filled = mixed.fill(spark, cluster, topic, _RECORDS, seed=1)
    table = Table(format_, str(tmp_path / "orders"))
    run = land_stream(
        spark, cluster, topic, table, checkpoint=str(tmp_path / "checkpoint"), available_now=True, max_records=1_500
    )
    status = run.wait(120)
    assert mixed.problems(filled, *what_became(spark, table)) == []
    counted = status.records
    assert (counted.good, counted.quarantined, counted.tombstones) == (
        len(filled.good),
        len(filled.bad),
        len(filled.deleted),
    )
    assert counted.seen == filled.count == _RECORDS
