"""One lane of a micro-batch as one transaction, in the worker that has its rows. See `exactly_once`."""

import itertools
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, NamedTuple, Self

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import OFFSET_INVALID, Consumer, KafkaError, KafkaException, Producer, TopicPartition

from tallystick.errors import InvalidArgument, TallystickError, TimedOut, Unavailable
from tallystick.messaging.settings import ProducerSettings
from tallystick.spark.kafka.exactly_once import LANE, SUM, TIME, Job
from tallystick.spark.kafka.offsets import library_settings
from tallystick.transports.kafka.clients import Watch, made
from tallystick.transports.kafka.failures import send_failure, translated
from tallystick.transports.kafka.settings import producer_config

_TRANSACTION_S = 300
"""How long a transaction may take; as long may one of a process that died hold up readers."""
_STEP_S = 60.0
"""How long one step may take: opening, committing, and waiting for room or for another try."""
_TURN_S = 0.2
_BEHIND = 100_000
_MOVING = {
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
}
_SHUT_OUT = {KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH, KafkaError._FATAL}

Row = tuple[bytes | None, bytes | None, list[tuple[str, bytes]] | None, int, int]
"""Value, key, headers, time and partition."""


class Marker(NamedTuple):
    """What a lane has committed last."""

    batch_id: int
    lanes: int
    rows: str
    """How many, and the sum over their positions."""

    @property
    def metadata(self) -> str:
        return f"{self.lanes} {self.rows}"


class _ShutOut(Exception):
    """Another try has opened the lane."""


def send(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Tells of each lane how many rows it has, and whether they were written now."""
    for number, parts in itertools.groupby(_by_lane(batches), key=lambda part: part[0]):
        rows = Rows(part for _, part in parts)
        with Lane(job, number) as lane:
            is_new = lane.write(rows)
        told = {"lane": [number], "rows": [rows.count], "written": [is_new]}
        yield pa.RecordBatch.from_pydict(
            told, pa.schema([("lane", pa.int32()), ("rows", pa.int64()), ("written", pa.bool_())])
        )


def _by_lane(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, pa.RecordBatch]]:
    for batch in batches:
        for lane in pc.unique(batch.column(LANE)).to_pylist():
            yield lane, batch.filter(pc.equal(batch.column(LANE), lane))


class Rows:
    """The rows of a lane, counted and summed up as they pass."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self._sum = 0
        self.count = 0

    def __iter__(self) -> Iterator[Row]:
        for batch in self._batches:
            self._add(batch)
            yield from _rows(batch)

    def pass_over(self) -> None:
        for batch in self._batches:
            self._add(batch)

    @property
    def told(self) -> str:
        return f"{self.count} {self._sum:08x}"

    def _add(self, batch: pa.RecordBatch) -> None:
        self.count += batch.num_rows
        self._sum = zlib.crc32(batch.column(SUM).to_numpy().tobytes(), self._sum)


def _rows(batch: pa.RecordBatch) -> Iterator[Row]:
    headers = ([(h["key"], h["value"]) for h in some] if some else None for some in batch.column("headers").to_pylist())
    # Kafka has no times before 1970, and takes 0 for the time of writing.
    times = (max(0, time_ms or 0) for time_ms in batch.column(TIME).to_pylist())
    partitions = (-1 if number is None else number for number in batch.column("partition").to_pylist())
    values, keys = batch.column("value").to_pylist(), batch.column("key").to_pylist()
    yield from zip(values, keys, headers, times, partitions, strict=True)


class Lane:
    def __init__(self, job: Job, number: int) -> None:
        self._job = job
        self._number = number
        self._settings = library_settings(job.cluster, _STEP_S)
        self._watch = Watch(self._settings.servers)
        self._producer = self._made()
        self._consumer = _consumer(job)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._consumer.close()

    @staticmethod
    def markers(job: Job) -> dict[int, Marker]:
        """Of all lanes that have one; what is not decided yet does not count."""
        consumer = _consumer(job, is_stable=False)
        try:
            return _markers(consumer, job, range(_partitions(consumer, job)))
        finally:
            consumer.close()

    def open(self) -> None:
        """From here on no earlier try can write or commit."""
        # librdkafka looks for the coordinator at once or half a second later; a connection makes it at once.
        self._try(lambda: self._producer.list_topics(self._job.topic, _STEP_S))
        self._try(lambda: self._producer.init_transactions(_STEP_S))

    def write(self, rows: Rows) -> bool:
        """Whether it was written now; otherwise it was there already."""
        try:
            self.open()
            if self._is_done(rows):
                return False
            self._begin_and_commit(rows)
        except _ShutOut:
            self._wait_for_the_other(rows)
            return False
        return True

    def _begin_and_commit(self, rows: Rows) -> None:
        self._producer.begin_transaction()
        try:
            for row in rows:
                self._put(row)
            marker = Marker(self._job.batch_id, self._job.lanes, rows.told)
            place = TopicPartition(self._job.topic, self._number, marker.batch_id, marker.metadata)
            group = self._consumer.consumer_group_metadata()
            self._try(lambda: self._producer.send_offsets_to_transaction([place], group, _STEP_S))
            self._try(lambda: self._producer.commit_transaction(_STEP_S))
        except _ShutOut:
            raise
        except BaseException:
            self._give_up()
            raise

    def _is_done(self, rows: Rows) -> bool:
        marker = self._marker()
        if marker is None or marker.batch_id < self._job.batch_id:
            return False
        if marker.batch_id > self._job.batch_id:
            raise self._refusal(f"has written batch {marker.batch_id} there already")
        rows.pass_over()
        if marker != Marker(self._job.batch_id, self._job.lanes, rows.told):
            raise self._refusal(f"has written this batch there with other rows ({marker.rows}, not {rows.told})")
        return True

    def _refusal(self, reason: str) -> InvalidArgument:
        return InvalidArgument(
            "query",
            f"{self._job.query!r} is to write batch {self._job.batch_id} to topic {self._job.topic}, and {reason}: was "
            "its checkpoint deleted, or does another query have its name? Use a new name for a new checkpoint",
        )

    def _marker(self) -> Marker | None:
        limit = time.monotonic() + _STEP_S
        while True:
            try:
                return _markers(self._consumer, self._job, [self._number]).get(self._number)
            except KafkaException as e:
                if time.monotonic() >= limit or not e.args[0].retriable():
                    raise self._explained(e.args[0]) from e
                time.sleep(_TURN_S)

    def _wait_for_the_other(self, rows: Rows) -> None:
        rows.pass_over()
        limit = time.monotonic() + _STEP_S
        while time.monotonic() < limit:
            marker = self._marker()
            if marker is not None and marker.batch_id >= self._job.batch_id:
                return
            time.sleep(_TURN_S)
        raise Unavailable(
            f"topic {self._job.topic}: another try of batch {self._job.batch_id} of {self._job.query!r} has taken lane "
            f"{self._number}, and did not end within {_STEP_S:g} s; does the query run twice?"
        )

    def _put(self, row: Row) -> None:
        value, key, headers, time_ms, partition = row
        limit = 0.0
        while True:
            try:
                self._producer.produce(
                    self._job.topic,
                    value,
                    key,
                    partition,
                    timestamp=time_ms,
                    headers=headers,  # type: ignore[arg-type]
                )
            except BufferError:
                limit = limit or time.monotonic() + _STEP_S
                if time.monotonic() >= limit:
                    raise TimedOut(f"topic {self._job.topic}: Kafka took nothing within {_STEP_S:g} s") from None
                self._producer.poll(_TURN_S)
            except KafkaException as e:
                raise self._raised(e.args[0], len(value or b"")) from e
            else:
                self._producer.poll(0)
                return

    def _try(self, step: Callable[[], Any]) -> None:
        limit = time.monotonic() + _STEP_S
        while True:
            try:
                step()
            except KafkaException as e:
                if not e.args[0].retriable() or time.monotonic() >= limit:
                    raise self._raised(e.args[0]) from e
                self._watch.require_hope()
            else:
                return

    def _give_up(self) -> None:
        try:
            self._producer.abort_transaction(_STEP_S / 10)
        except KafkaException:
            # The next try, or the time-out of the transaction, ends it.
            return

    def _raised(self, error: KafkaError, size_bytes: int = 0) -> Exception:
        if error.code() in _SHUT_OUT:
            return _ShutOut()
        self._watch.require_hope()
        return self._explained(error, size_bytes)

    def _explained(self, error: KafkaError, size_bytes: int = 0) -> TallystickError:
        if size_bytes:
            return send_failure(error, self._job.topic, self._settings.servers, size_bytes)
        return translated(error, self._job.topic, self._settings.servers)

    def _made(self) -> Producer:
        wanted = ProducerSettings(max_pending=_BEHIND, batch_messages=10_000, batch_bytes=1_000_000)
        config = {
            "transaction.timeout.ms": _TRANSACTION_S * 1000,
            **producer_config(self._settings, wanted),
            "transactional.id": self._job.transactional_id(self._number),
        }
        return made(Producer, config, self._settings.options, self._watch)


def _consumer(job: Job, *, is_stable: bool = True) -> Consumer:
    """Keeps the markers; it reads no records and is no member of its group."""
    settings = library_settings(job.cluster, _STEP_S)
    config = {
        **settings.options,
        "bootstrap.servers": settings.servers,
        "group.id": job.group,
        "enable.auto.commit": False,
        # What a transaction has not decided yet is waited for.
        "isolation.level": "read_committed" if is_stable else "read_uncommitted",
    }
    return made(Consumer, config, settings.options, Watch(settings.servers))


def _partitions(consumer: Consumer, job: Job) -> int:
    try:
        return len(consumer.list_topics(job.topic, timeout=_STEP_S).topics[job.topic].partitions)
    except KafkaException as e:
        raise translated(e.args[0], job.topic, "") from e


def _markers(consumer: Consumer, job: Job, lanes: Iterable[int]) -> dict[int, Marker]:
    """Raises librdkafka's errors."""
    asked = [TopicPartition(job.topic, lane) for lane in lanes]
    found = {}
    for place in _committed(consumer, asked):
        if place.error is not None:
            raise KafkaException(place.error)
        if place.offset != OFFSET_INVALID:
            lanes_then, _, rows = (place.metadata or "0 ").partition(" ")
            found[place.partition] = Marker(place.offset, int(lanes_then), rows)
    return found


def _committed(consumer: Consumer, asked: list[TopicPartition]) -> list[TopicPartition]:
    """Asked again while the group's coordinator starts, or moves to another broker."""
    limit = time.monotonic() + _STEP_S
    while True:
        try:
            return consumer.committed(asked, timeout=_STEP_S)
        except KafkaException as e:
            if e.args[0].code() not in _MOVING or time.monotonic() >= limit:
                raise
            time.sleep(_TURN_S)
