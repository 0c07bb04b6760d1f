"""Secrets reach the workers, and nothing that people or files see."""

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from tallystick.spark.cluster import Cluster
from tallystick.spark.source import register
from tallystick.spark.topics import read_topic, read_topic_stream, write_topic, write_topic_stream
from tests.integration.test_client_credentials import ORDERS, SECRET, Secure, secure

__all__ = ["secure"]


def test_a_token_is_in_no_plan_and_no_checkpoint(
    spark: SparkSession, secure: Secure, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cluster = Cluster(secure.url, credentials=secure.credentials(f"admin.{SECRET}"))
    with secure.client(f"admin.{SECRET}") as client, client.producer("spark-orders", ORDERS) as producer:
        for number in range(5):
            producer.send({"id": number})
    frames = read_topic(spark, cluster, "spark-orders")
    assert frames.count() == 5
    write_topic(frames, cluster, "spark-copy")
    stream = read_topic_stream(spark, cluster, "spark-copy")
    query = write_topic_stream(stream, cluster, "spark-again", checkpoint=str(tmp_path))
    try:
        query.processAllAvailable()
        query.explain(extended=True)
        seen = str(query.lastProgress)
    finally:
        query.stop()
    assert read_topic(spark, cluster, "spark-again").count() == 5
    frames.explain("extended")
    frames.explain("formatted")
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) > 3
    seen += "".join(file.read_text(errors="replace") for file in files) + "".join(capfd.readouterr())
    seen += repr(cluster) + "".join(f"{key}={value}" for key, value in spark.sparkContext.getConf().getAll())
    assert "tally" in seen
    assert SECRET not in seen


def test_a_cluster_that_was_made_known_needs_no_function_of_ours(spark: SparkSession, secure: Secure) -> None:
    with secure.client(f"admin.{SECRET}") as client, client.producer("spark-known", ORDERS) as producer:
        producer.send({"id": 1})
    register(spark)
    # Another address of the same broker, of which nothing is known yet.
    url = secure.url.replace("localhost", "127.0.0.1")
    reading = spark.read.format("tally").option("url", url).option("topics", "spark-known")
    with pytest.raises(AnalysisException, match=r"certificate|Unauthenticated"):
        reading.option("timeoutSeconds", "3").load().count()
    register(spark, (url, secure.credentials(f"admin.{SECRET}")))
    assert reading.load().count() == 1
