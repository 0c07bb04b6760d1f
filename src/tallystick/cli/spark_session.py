"""Spark under a command: started in silence, watched on a terminal, and gone when the command ends."""

import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tallystick.errors import Unavailable, Unsupported

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tallystick.spark.cluster import Cluster

_CONTEXT_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""PySpark writes errors to standard error by these, as JSON, before it raises them."""


@contextmanager
def spark_session(
    cluster: "Cluster", master: str, conf: Mapping[str, str], *, connectors: tuple[str, ...] = ()
) -> Iterator["SparkSession"]:
    """A session for the topics of a cluster; one that runs already is used, and left. Raises `Unsupported` where Spark
    or Java is missing, `Unavailable` where it does not start."""
    _require_spark()
    for name in _CONTEXT_LOGGERS:
        logging.getLogger(name).disabled = True
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    from tallystick.spark.jars import java

    java()
    wanted = ("avro", *connectors, *(("kafka",) if cluster.kind == "kafka" else ()))
    with tempfile.TemporaryDirectory(prefix="tally-spark-") as scratch:
        session = _started(wanted, master, {**_settings(master, scratch), **conf}, Path(scratch))
        try:
            yield session
        finally:
            session.stop()


def _require_spark() -> None:
    try:
        import pyspark  # noqa: F401
    except ImportError as e:
        raise Unsupported("Spark is not installed; pip install 'tallystick[spark]'") from e


def _settings(master: str, scratch: str) -> dict[str, str]:
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.warehouse.dir": str(Path(scratch, "warehouse")),
    }
    if master.startswith("local"):
        # Nobody else has to reach it, and one machine is not kept busy with hundreds of small tasks.
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        settings["spark.sql.shuffle.partitions"] = "8"
    return settings


def _started(connectors: tuple[str, ...], master: str, settings: Mapping[str, str], scratch: Path) -> "SparkSession":
    from tallystick.spark.failures import SPARK_ERRORS
    from tallystick.spark.sessions import session

    with (scratch / "spark.log").open("w+b") as log:
        try:
            with _announced(), _standard_error_to(log):
                return session("tally", connectors=connectors, master=master, settings=settings)
        except (*SPARK_ERRORS, RuntimeError, OSError) as e:
            log.seek(0)
            said = [line.strip() for line in log.read().decode(errors="replace").splitlines() if line.strip()]
            reason = next((line for line in reversed(said) if not line.startswith("at ")), str(e))
            raise Unavailable(f"Spark does not start on {master}: {reason}") from e


@contextmanager
def _announced() -> Iterator[None]:
    """It takes seconds, so somebody who waits is told."""
    is_seen = sys.stderr.isatty()
    if is_seen:
        sys.stderr.write("Starting Spark …")
    try:
        yield
    finally:
        if is_seen:
            sys.stderr.write("\r\x1b[K")


@contextmanager
def _standard_error_to(log: IO[bytes]) -> Iterator[None]:
    """A Java virtual machine that is started meanwhile writes there as long as it lives."""
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
