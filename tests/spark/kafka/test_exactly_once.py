"""A micro-batch is in the topic once, whatever happens to those who write it."""

import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tallystick.errors import InvalidArgument, TallystickError
from tallystick.spark.kafka import read, write
from tallystick.spark.kafka.exactly_once import Job
from tallystick.spark.kafka.transactions import Lane, Rows
from tests.kafka.driving import new_name
from tests.kafka.server import Kafka
from tests.spark.kafka.topics import WAIT_S, Put, cluster_of, held, new_topic, put

ROWS = 60
_DYING = textwrap.dedent(
    """
    import sys, time
    from confluent_kafka import Consumer, Producer, TopicPartition
    servers, topic, group, name = sys.argv[1:]
    producer = Producer({"bootstrap.servers": servers, "transactional.id": name})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"of the dead", partition=0)
    metadata = Consumer({"bootstrap.servers": servers, "group.id": group}).consumer_group_metadata()
    producer.send_offsets_to_transaction([TopicPartition(topic, 0, 0, "2 1 00000000")], metadata, 30)
    producer.flush(30)
    print("ready", flush=True)
    time.sleep(600)
    """
)


@pytest.fixture(scope="module")
def source(kafka: Kafka) -> str:
    topic = new_topic(kafka, 2)
    put(kafka, topic, [Put(b"%03d" % i, partition=i % 2) for i in range(ROWS)])
    return topic


@pytest.fixture
def frames(spark: SparkSession, kafka: Kafka, source: str) -> DataFrame:
    return read(spark, cluster_of(kafka), source)


@pytest.fixture
def job(kafka: Kafka) -> Job:
    return Job(cluster_of(kafka), new_topic(kafka, 4), new_name("query"), 0, 2)


def _write(frames: DataFrame, job: Job, batch_id: int = 0, lanes: int = 2) -> None:
    write(
        frames, job.cluster, job.topic, delivery="exactly-once", query=job.query, batch_id=batch_id, lanes=lanes,
        keep_partition=True,
    )  # fmt: skip


def _values(kafka: Kafka, job: Job, isolation: str = "read_committed") -> list[bytes | None]:
    return [record.value for record in held(kafka, job.topic, isolation=isolation)]


ALL = [b"%03d" % i for i in (*range(0, ROWS, 2), *range(1, ROWS, 2))]
"""By partition, in the order of the source."""


def test_a_batch_that_is_written_again_is_there_once(kafka: Kafka, frames: DataFrame, job: Job) -> None:
    for _ in range(2):
        _write(frames, job)
    assert _values(kafka, job) == ALL
    with pytest.raises(InvalidArgument, match="this batch there with other rows"):
        _write(frames.where("position.entry > 2"), job)
    _write(frames.where("partition = 0"), job, batch_id=1)
    assert _values(kafka, job) == [*ALL[: ROWS // 2], *ALL]
    with pytest.raises(InvalidArgument, match="has written batch 1 there already"):
        _write(frames, job)
    assert _values(kafka, job) == [*ALL[: ROWS // 2], *ALL]


def test_a_driver_that_died_between_two_commits_ends_the_batch(kafka: Kafka, frames: DataFrame, job: Job) -> None:
    _write(frames.where("partition = 1"), job)
    assert _values(kafka, job) == ALL[ROWS // 2 :]
    # Meanwhile somebody has asked for more lanes: this batch keeps those that it began with.
    _write(frames, job, lanes=4)
    assert _values(kafka, job) == ALL
    _write(frames, job, batch_id=1, lanes=4)
    _write(frames, job, batch_id=1, lanes=4)
    assert sorted(filter(None, _values(kafka, job))) == sorted([*ALL, *ALL])


def test_a_task_that_dies_leaves_nothing_of_its_lane(kafka: Kafka, frames: DataFrame, job: Job) -> None:
    last = (F.col("partition") == 0) & (F.col("position.entry") == ROWS // 2 - 1)
    with pytest.raises(TallystickError, match="four bytes"):
        _write(frames.withColumn("schema_id", F.when(last, F.lit(2**40))), job)
    assert not set(ALL[: ROWS // 2]) & set(_values(kafka, job))
    _write(frames, job)
    assert _values(kafka, job) == ALL


def test_what_was_sent_before_a_task_died_does_not_count(kafka: Kafka, job: Job) -> None:
    def dying() -> Iterator[pa.RecordBatch]:
        yield _batch(0, 5)
        limit = time.monotonic() + WAIT_S
        while len(_values(kafka, job, "read_uncommitted")) < 5:
            assert time.monotonic() < limit, "nothing was sent"
        raise RuntimeError("dies here")

    with Lane(job, 0) as lane, pytest.raises(RuntimeError, match="dies here"):
        lane.write(Rows(dying()))
    assert _values(kafka, job) == []
    with Lane(job, 0) as lane:
        assert lane.write(Rows(iter([_batch(0, 5), _batch(5, 9)])))
    assert _values(kafka, job) == [b"%d" % i for i in range(9)]
    assert len(_values(kafka, job, "read_uncommitted")) == 14


def test_the_transaction_of_a_killed_process_is_given_up(kafka: Kafka, frames: DataFrame, job: Job) -> None:
    command = [sys.executable, "-c", _DYING, kafka.servers, job.topic, job.group, job.transactional_id(0)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGKILL)
    _write(frames, job)
    assert b"of the dead" in _values(kafka, job, "read_uncommitted")
    assert _values(kafka, job) == ALL


def test_of_two_tries_at_a_time_the_later_one_writes(kafka: Kafka, job: Job) -> None:
    written = []

    def slowly() -> Iterator[pa.RecordBatch]:
        yield _batch(0, 5)
        with Lane(job, 0) as other:
            written.append(other.write(Rows(iter([_batch(0, 5), _batch(5, 9)]))))
        yield _batch(5, 9)

    with Lane(job, 0) as first:
        written.append(first.write(Rows(slowly())))
    assert written == [True, False]
    assert _values(kafka, job) == [b"%d" % i for i in range(9)]


def _batch(start: int, end: int) -> pa.RecordBatch:
    count = end - start
    header = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    columns = {
        "lane": pa.array([0] * count, pa.int32()),
        "sum": pa.array(range(start, end), pa.int64()),
        "time": pa.array([None] * count, pa.int64()),
        "key": pa.array([None] * count, pa.binary()),
        "value": pa.array([b"%d" % i for i in range(start, end)], pa.binary()),
        "headers": pa.array([None] * count, header),
        "partition": pa.array([0] * count, pa.int32()),
    }
    return pa.RecordBatch.from_pydict(columns)
