"""What is gone, unreachable or wrong ends in time, with an error that says what it was."""

import time
from pathlib import Path

import httpx
import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from tallystick.spark.cluster import Cluster
from tallystick.spark.topics import ends, read_topic, read_topic_stream
from tests.contracts.clusters import Cluster as Backend
from tests.ports import free_port
from tests.pulsar.servers import Both
from tests.spark.source.conftest import numbered, send
from tests.spark.source.test_streaming import Batches, run


def test_what_was_not_read_and_is_gone_is_a_failure_unless_it_may_be(
    spark: SparkSession, backend: Backend, cluster: Cluster, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    topic = backend.topic("gone")
    send(backend.url, topic, numbered(3))
    read, allowed = Batches(), Batches()
    strict = read_topic_stream(spark, cluster, topic)
    run(strict, read, tmp_path)
    send(backend.url, topic, numbered(3, 3))
    old = ends(cluster, topic)
    both: Both = request.getfixturevalue("both")
    admin = both.pulsar.admin_url if backend.url == both.pulsar.service_url else backend.openschema
    httpx.delete(f"{admin}/admin/v2/persistent/public/default/{topic}?force=true", timeout=30).raise_for_status()
    send(backend.url, topic, numbered(4, 10))
    with pytest.raises(PySparkException, match=r"records after .* are gone.*failOnDataLoss"):
        run(strict, read, tmp_path)
    assert read.numbers == [0, 1, 2]
    run(read_topic_stream(spark, cluster, topic, failOnDataLoss=False), allowed, tmp_path)
    assert allowed.numbers == [10, 11, 12, 13]
    # A range of which nothing is left ends all the same.
    began = time.monotonic()
    first = {topic: {"-1": f"{old[topic]['-1'].split(':')[0]}:0:0"}}
    assert read_topic(spark, cluster, topic, starting=first, ending=old, failOnDataLoss=False).count() == 0
    assert time.monotonic() - began < 60


def test_a_broker_that_is_not_there(spark: SparkSession) -> None:
    nobody = Cluster(f"pulsar://127.0.0.1:{free_port()}")
    began = time.monotonic()
    with pytest.raises(AnalysisException, match=f"{nobody.url} could not be used for 2 s"):
        read_topic(spark, nobody, "orders", timeoutSeconds=2).collect()
    assert time.monotonic() - began < 40


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "Topic persistent://public/default/missing not found on pulsar://"),
        ({"topicsPattern": "x"}, "and not both"),
        ({"startingPosition": "tomorrow"}, "startingPosition: 'tomorrow' is none"),
        ({"startingPosition": '{"missing": "5"}'}, "position: .* is none; write"),
        ({"endingPosition": "earliest"}, "endingPosition: nothing ends"),
        ({"maxRecordsPerBatch": "10"}, "maxRecordsPerBatch: it is for streams"),
        ({"failOnDataLoss": "maybe"}, "failOnDataLoss: 'maybe' is neither"),
        ({"minPartitions": "0"}, "minPartitions: '0' is no number"),
        ({"framing": "header"}, "framing: 'header' is none"),
        ({"maxOffsetsPerTrigger": "10"}, "maxoffsetspertrigger: the source tally has no such option"),
        ({"url": "http://127.0.0.1:1"}, "does not begin with pulsar://"),
        ({"timeoutSeconds": "-1"}, "timeoutSeconds: '-1' is no number"),
    ],
)
def test_wrong_options_are_named(embedded: Backend, options: dict[str, str], reason: str) -> None:
    """Without Spark: it shows what they raise, which it takes seconds to."""
    from tallystick.errors import TallystickError
    from tallystick.spark.columns import FRAMES
    from tallystick.spark.source import TallyDataSource

    source = TallyDataSource({"url": embedded.url, "topics": "missing"} | options)
    with pytest.raises(TallystickError, match=reason):
        source.reader(FRAMES).partitions()


def test_a_topic_that_is_missing_is_not_made(spark: SparkSession, backend: Backend, cluster: Cluster) -> None:
    topic = backend.topic("missing")
    for _ in range(2):
        with pytest.raises(AnalysisException, match=f"{topic} not found on {backend.url}"):
            read_topic(spark, cluster, topic).collect()
