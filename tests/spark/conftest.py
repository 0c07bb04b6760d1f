"""One Spark session for each worker of a run: starting one takes longer than most tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tallystick.spark.sessions import session
from tests.contracts.clusters import Served, shared_server
from tests.maven import missing
from tests.pulsar.fixtures import both, common
from tests.spark.sessions import SMALL

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
        **SMALL,
        "spark.sql.warehouse.dir": str(warehouse),
        "spark.sql.catalog.tables": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.tables.type": "hadoop",
        "spark.sql.catalog.tables.warehouse": str(warehouse / "iceberg"),
    }
    opened = session("tests", master="local[2]", connectors=["avro", "kafka", "delta", "iceberg"], settings=settings)
    opened.sparkContext.setLogLevel("ERROR")
    yield opened
    opened.stop()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[Served]:
    with shared_server(tmp_path_factory, worker_id) as server:
        yield server
