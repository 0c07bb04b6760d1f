"""One Spark session for each worker of a run: starting one takes longer than most tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tallystick.spark.session import session
from tests.contracts.clusters import Served, shared_server
from tests.maven import missing
from tests.pulsar.fixtures import both, common

__all__ = ["both", "common"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.jvm)
            item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    reason = missing()
    if reason is not None:
        pytest.skip(f"Spark cannot run here: {reason}")
    warehouse = tmp_path_factory.mktemp("warehouse")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(warehouse),
        "spark.sql.catalog.tables": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.tables.type": "hadoop",
        "spark.sql.catalog.tables.warehouse": str(warehouse / "iceberg"),
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.sql.streaming.metricsEnabled": "false",
    }
    opened = session("tests", master="local[2]", connectors=["avro", "kafka", "delta", "iceberg"], settings=settings)
    opened.sparkContext.setLogLevel("ERROR")
    yield opened
    opened.stop()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Served]:
    with shared_server(tmp_path_factory, worker_id) as server:
        yield server
