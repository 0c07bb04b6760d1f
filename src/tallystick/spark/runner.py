"""The runner: a stream of frames, worked on batch by batch, that goes on after whatever passes.

A streaming plan is fixed when it starts. So the driver looks at each micro-batch first, and plans the work for it: new
schemas need no restart.
"""

import json
import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import FrameType

from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from tallystick.errors import Closed, InvalidArgument, TallystickError, TimedOut, Unavailable
from tallystick.model.pipeline import Outcomes, PipelineState, PipelineStatus, bounded, pipeline_name
from tallystick.spark.checkpoint import Memory
from tallystick.spark.cluster import KAFKA, PULSAR, Cluster
from tallystick.spark.decoding.schemas import Schemas
from tallystick.spark.failures import transient_reason
from tallystick.spark.landing.counts import Counts
from tallystick.spark.readers import ReaderChanged
from tallystick.spark.status import StatusReporter

log = logging.getLogger("tallystick.spark")

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 15.0
_TURN_S = 0.05


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """The name of its query, which a checkpoint has for ever, its number, and what the pipeline knows."""

    query: str
    id: int
    schemas: Schemas
    memory: Memory


Work = Callable[[DataFrame, MicroBatch], Counts | None]
"""Is given the frames of a batch. What it returns is counted in the pipeline's status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    name: str
    checkpoint: str
    every_s: float | None = None
    """Between the beginnings of two batches; None: the next one begins when there are records."""
    available_now: bool = False
    """Ends when all has been read: on Kafka what is there at the start, on Pulsar up to the `ending` of the stream."""
    patience_s: float = 600.0
    """How long a broker or registry may be away before the pipeline fails."""
    keep: bool | None = None
    """Whether a batch's frames are kept while they are needed twice. None: where they come by Pulsar's protocol."""

    def __post_init__(self) -> None:
        pipeline_name(self.name)


@dataclass(slots=True)
class _Totals:
    """Since the start."""

    by_schema: dict[str, Outcomes] = field(default_factory=dict)
    records: Outcomes = field(default_factory=Outcomes)
    batch: int | None = None
    rate: float | None = None

    def add(self, counts: Counts | None, batch_id: int, seconds: float) -> None:
        self.batch = batch_id
        if counts is None:
            return
        self.records += counts.records
        for name, counted in counts.by_schema.items():
            self.by_schema[name] = self.by_schema.get(name, Outcomes()) + counted
        self.rate = round(counts.records.seen / seconds, 1)


class Run:
    """A pipeline that runs. Its query is started anew, on its checkpoint, where something was away."""

    def __init__(
        self,
        stream: DataFrame,
        cluster: Cluster,
        work: Work,
        settings: RunSettings,
        show: Callable[[PipelineStatus], None] = lambda status: None,
        at_end: Callable[[], None] = lambda: None,
    ) -> None:
        if not stream.isStreaming:
            raise InvalidArgument("stream", "this is no stream; decode a batch with decode(…)")
        self._stream, self._cluster, self._work, self._settings = stream, cluster, work, settings
        self._show, self._at_end = show, at_end
        self._memory = Memory(stream.sparkSession, settings.checkpoint, settings.name)
        self._schemas = Schemas(cluster)
        self._reporter = StatusReporter(cluster, settings.name)
        self._totals = _Totals()
        self._started_at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        self._raised: BaseException | None = None
        self._is_stopping = False
        self._is_in_batch = False
        self._failing_since: float | None = None
        self._failure: BaseException | None = None
        self.status = PipelineStatus(state=PipelineState.RUNNING, started_at=self._started_at)
        self._query: StreamingQuery | None = None
        """Its first batch may come before it is known."""
        self._query = self._start()
        self._tell(PipelineState.RUNNING)
        self._thread = threading.Thread(target=self._supervise, name=f"tallystick-{settings.name}", daemon=True)
        self._thread.start()

    @property
    def query(self) -> StreamingQuery:
        """The query of Spark, which is another one after each interruption."""
        assert self._query is not None
        return self._query

    @property
    def is_active(self) -> bool:
        return self._thread.is_alive()

    def wait(self, timeout_s: float | None = None) -> PipelineStatus:
        """Until the run ends. Raises what it failed for; `TimedOut` where it goes on after that time."""
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            raise TimedOut(f"pipeline {self._settings.name} still runs after {timeout_s:g} s")
        if self._failure is not None:
            raise self._failure
        return self.status

    def run_until_signalled(self) -> PipelineStatus:
        """Waits in the main thread; SIGTERM and SIGINT let the batch that runs end, and then the run."""

        def stop(number: int, frame: FrameType | None) -> None:
            self._is_stopping = True

        with _signals(stop):
            while self._thread.is_alive():
                self._thread.join(_TURN_S)
                if self._is_stopping:
                    self.stop()
        return self.wait()

    def stop(self, timeout_s: float = 300.0) -> None:
        """Lets the batch that runs end; one that takes longer is broken off and comes again after the next start."""
        self._is_stopping = True
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            self.query.stop()
            self._thread.join()

    def _start(self) -> StreamingQuery:
        writer = self._stream.writeStream.foreachBatch(self._batch).queryName(self._settings.name)
        writer = writer.option("checkpointLocation", self._settings.checkpoint)
        if self._settings.available_now and self._cluster.kind == KAFKA:
            writer = writer.trigger(availableNow=True)
        elif self._settings.every_s is not None and not self._settings.available_now:
            writer = writer.trigger(processingTime=f"{self._settings.every_s} seconds")
        return writer.start()

    def _supervise(self) -> None:
        try:
            while not self._attempt():
                pass
        except BaseException as e:  # noqa: BLE001  # raised again where somebody waits
            self._failure = e
            state = PipelineState.BLOCKED if isinstance(e, ReaderChanged) else PipelineState.FAILED
            self._tell(state, _reason(e))
        finally:
            self._schemas.close()
            self._reporter.close()
            self._at_end()

    def _attempt(self) -> bool:
        """One life of the query; whether the run is at its end."""
        try:
            self._follow()
        except (PySparkException, TallystickError) as e:
            if self._is_stopping:
                self._tell(PipelineState.STOPPED)
                return True
            raised, self._raised = self._raised, None
            self._wait_for_better(e if raised is None else raised)
            if not self._is_stopping:
                self._query = self._start()
            return False
        self._tell(PipelineState.STOPPED if self._is_stopping else PipelineState.FINISHED)
        return True

    def _follow(self) -> None:
        """Until the query ends, or has nothing left to do. Raises why it failed."""
        query = self.query
        if self._settings.available_now and self._cluster.kind != KAFKA:
            query.processAllAvailable()
            query.stop()
        while not query.awaitTermination(_TURN_S):  # type: ignore[arg-type]  # it takes parts of seconds
            if self._is_stopping and not self._is_in_batch and not query.status["isTriggerActive"]:
                query.stop()

    def _wait_for_better(self, error: BaseException) -> None:
        """Pauses after an error that may pass; raises any other, and one that has not passed for too long."""
        reason = transient_reason(error)
        if reason is None:
            raise error
        now = time.monotonic()
        if self._failing_since is None:
            self._failing_since = now
        failing_s = now - self._failing_since
        if failing_s >= self._settings.patience_s:
            raise Unavailable(
                f"pipeline {self._settings.name} has waited {failing_s:.0f} s, and still: {reason}"
            ) from error
        self._tell(PipelineState.WAITING, reason)
        log.warning("the pipeline waits", extra={"pipeline": self._settings.name, "reason": reason})
        pause_s = min(_LONGEST_PAUSE_S, max(_FIRST_PAUSE_S, failing_s / 2))
        end = now + pause_s
        while time.monotonic() < end and not self._is_stopping:
            time.sleep(_TURN_S)

    def _batch(self, frames: DataFrame, batch_id: int) -> None:
        """Called by Spark for each micro-batch."""
        if self._is_stopping:
            raise Closed("the pipeline is being stopped; this batch comes again after the next start")
        self._is_in_batch = True
        try:
            began = time.monotonic()
            counts = self._worked(frames, batch_id)
            self._failing_since = None
            self._totals.add(counts, batch_id, time.monotonic() - began)
            self._tell(PipelineState.RUNNING)
        except Exception as e:
            # Spark makes a text of it; whoever waits for the run gets the error itself.
            self._raised = e
            raise
        finally:
            self._is_in_batch = False

    def _worked(self, frames: DataFrame, batch_id: int) -> Counts | None:
        is_kept = self._settings.keep if self._settings.keep is not None else self._cluster.kind == PULSAR
        with ExitStack() as held:
            if is_kept:
                frames = frames.persist(StorageLevel.MEMORY_AND_DISK)
                held.callback(frames.unpersist)
            return self._work(frames, MicroBatch(self._memory.known.query, batch_id, self._schemas, self._memory))

    def _tell(self, state: PipelineState, message: str | None = None) -> None:
        self.status = PipelineStatus(
            state=state,
            records=self._totals.records,
            by_schema=bounded(self._totals.by_schema),
            batch=self._totals.batch,
            lag=lag_of(self._query),
            rate=self._totals.rate,
            started_at=self._started_at,
            message=message,
        )
        self._reporter.tell(self.status)
        self._show(self.status)


@contextmanager
def _signals(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, handler) for number in numbers]
    try:
        yield
    finally:
        for number, old in zip(numbers, before, strict=True):
            signal.signal(number, old)


def lag_of(query: StreamingQuery | None) -> int | None:
    """Records that were there and not read when the last batch ended, where the source counts them: on Kafka."""
    progress = None if query is None else query.lastProgress
    if progress is None:
        return None
    lag = 0
    # As values the offsets are texts; only the JSON has their parts.
    for source in json.loads(progress.json)["sources"]:
        latest, end = source.get("latestOffset"), source.get("endOffset")
        if not isinstance(latest, dict) or not isinstance(end, dict):
            return None
        for topic, partitions in latest.items():
            for partition, offset in partitions.items():
                read = end.get(topic, {}).get(partition, 0)
                if not isinstance(offset, int) or not isinstance(read, int):
                    return None
                lag += max(0, offset - read)
    return lag


def _reason(error: BaseException) -> str:
    return error.message if isinstance(error, TallystickError) else str(error).partition("\n")[0][:500]
