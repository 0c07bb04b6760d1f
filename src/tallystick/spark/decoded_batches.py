"""for_each_decoded_batch: a stream of frames, decoded batch by batch, each by the schemas that its records have."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame

from tallystick.errors import InvalidArgument
from tallystick.spark.cluster import Cluster
from tallystick.spark.columns import TOPIC
from tallystick.spark.decoding.decode import apply, plan, told_by
from tallystick.spark.decoding.explaining import Explanation
from tallystick.spark.decoding.schemas import LATEST, Reader, Writer
from tallystick.spark.landing.counts import Counts, SchemaKey
from tallystick.spark.readers import Evolve, ReaderChoice
from tallystick.spark.runner import MicroBatch, Run, RunSettings

Handle = Callable[[DataFrame, int], Counts | None]
"""Is given the decoded rows of a batch and its number, which comes again where the batch is tried again. What it
returns is counted in the pipeline's status."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A decoded micro-batch: the name of its query, its number, and its writers' schemas."""

    query: str
    id: int
    schemas: tuple[SchemaKey, ...]
    explanation: Explanation


HandleBatch = Callable[[DataFrame, Batch], Counts | None]


def for_each_decoded_batch(
    stream: DataFrame,
    cluster: Cluster,
    handle: Handle,
    *,
    checkpoint: str,
    name: str,
    reader: Reader = LATEST,
    evolve: Evolve | str = Evolve.NEVER,
    every_s: float | None = None,
    available_now: bool = False,
    patience_s: float = 600.0,
    keep: bool | None = None,
) -> Run:
    """Starts a query that decodes each micro-batch of a stream of frames and gives the rows to `handle`.

    Writers' schemas are looked up for each batch. `reader` is as `decode` has it; of "latest" `evolve` says what a
    new version means while the pipeline runs. Brokers and registries that are away are waited for. With
    `available_now` the run ends by itself when all has been read: on Kafka what is there at the start, on Pulsar up to
    the `ending` of the stream.
    """
    settings = RunSettings(
        name=name,
        checkpoint=checkpoint,
        every_s=every_s,
        available_now=available_now,
        patience_s=patience_s,
        keep=keep,
    )
    work = DecodedBatches(lambda rows, batch: handle(rows, batch.id), reader, evolve)
    return Run(stream, cluster, work, settings)


class DecodedBatches:
    """Work of a run: decodes, and hands on."""

    def __init__(self, handle: HandleBatch, reader: Reader = LATEST, evolve: Evolve | str = Evolve.NEVER) -> None:
        try:
            self._evolve = Evolve(evolve)
        except ValueError as e:
            raise InvalidArgument("evolve", f"{evolve!r} is none; use one of {', '.join(Evolve)}") from e
        self._handle, self._reader = handle, reader
        self._choice: ReaderChoice | None = None

    def __call__(self, frames: DataFrame, batch: MicroBatch) -> Counts | None:
        if self._choice is None:
            self._choice = ReaderChoice(self._reader, self._evolve, batch.memory)
        told = told_by(frames)
        topics = sorted({one.topic for one in told}) or [row[0] for row in frames.select(TOPIC).limit(1).collect()]
        if not topics:
            return None
        reader = self._choice.choose(frames, topics, batch.schemas)
        planned = plan(frames, batch.schemas, reader, told)
        keys = dict.fromkeys(_key(branch.writer) for branch in planned.branches)
        explanation = Explanation.of((branch.writer for branch in planned.branches), planned.reader)
        return self._handle(apply(frames, planned), Batch(batch.query, batch.id, tuple(keys), explanation))


def _key(writer: Writer) -> SchemaKey:
    """As the decoded rows tell it: with the version, where the subject has it."""
    told = writer.told
    return SchemaKey(told.topic, told.schema_id, writer.version if told.schema_version is None else told.schema_version)
