"""Which schema a stream is read by, and what becomes of a new version while it runs."""

import logging
from collections.abc import Sequence
from enum import StrEnum

from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from tallystick.errors import BadRequest, IncompatibleSchema
from tallystick.model.definition import SchemaDefinition
from tallystick.spark.checkpoint import Memory
from tallystick.spark.columns import VALUE
from tallystick.spark.decoding import formats
from tallystick.spark.decoding.schemas import LATEST, Known, Reader, Schemas
from tallystick.spark.landing.evolution import additions

log = logging.getLogger("tallystick.spark")


class Evolve(StrEnum):
    NEVER = "never"
    """The version that was the latest at the first start, for as long as there is the checkpoint."""
    ADDITIVE = "additive"
    """A new version is taken with the next batch if it only adds fields; another one is passed over."""
    RESTART = "restart"
    """A new version stops the pipeline, which takes it when it is started again."""


class ReaderChanged(BadRequest):
    """A topic has a new version of its schema, and the pipeline is to be started again for it."""

    code = "reader-changed"


class ReaderChoice:
    """Says for each batch which schema it is read by."""

    def __init__(self, wanted: Reader, evolve: Evolve, memory: Memory) -> None:
        self._wanted = wanted
        self._evolve = evolve
        self._memory = memory
        self._passed_over: SchemaDefinition | None = None
        self._is_first = True

    def choose(self, frames: DataFrame, topics: Sequence[str], schemas: Schemas) -> Reader:
        """Raises `ReaderChanged`, and `Unavailable` where nobody can be asked."""
        if isinstance(self._wanted, int):
            # Of this topic for ever, and told also where a batch has nothing but tombstones.
            self._wanted = schemas.reader(topics, self._wanted).definition
        if self._wanted != LATEST:
            return self._wanted
        pinned = self._memory.known.reader
        if pinned is not None and self._evolve is Evolve.NEVER:
            return pinned
        latest = schemas.reader(topics, LATEST)
        if pinned is not None and latest.definition != pinned:
            latest = self._decided(frames, schemas.reader(topics, pinned), latest, topics)
        self._is_first = False
        self._memory.read_by(latest.definition)
        return latest.definition

    def _decided(self, frames: DataFrame, pinned: Known, latest: Known, topics: Sequence[str]) -> Known:
        if self._evolve is Evolve.RESTART:
            if self._is_first:
                return latest
            raise ReaderChanged(
                f"the schema of {', '.join(topics)} has a new version, and evolve='restart' stops here; "
                "start the pipeline again on the same checkpoint, and it reads by the new one"
            )
        reason = _why_not_additive(frames, pinned, latest)
        if reason is None:
            return latest
        if latest.definition != self._passed_over:
            log.warning("a new version of the schema is passed over", extra={"topics": topics, "reason": reason})
            self._passed_over = latest.definition
        return pinned


def _why_not_additive(frames: DataFrame, pinned: Known, latest: Known) -> str | None:
    old, new = (StructType([StructField(VALUE, formats.type_of(frames, known))]) for known in (pinned, latest))
    try:
        additions(old, new, "what has landed")
        missing = additions(new, old, "the new version")
    except IncompatibleSchema as e:
        return e.findings[0].message
    return f"it has no {'.'.join(missing[0].path[1:])} any more" if missing else None
