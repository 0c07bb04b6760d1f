"""The options of the data source `tally`.

| reading | |
|---|---|
| `url` | `pulsar://HOST:PORT` or `pulsar+ssl://HOST:PORT` |
| `topics` | names with commas between them; of topics with partitions all, or `NAME-partition-N` |
| `topicsPattern` | instead: a regular expression for whole names in `public/default`, or after `tenant/namespace/` |
| `framing` | `transport`, `payload` or `mesh`: where records carry the ids of their schemas |
| `startingPosition` | `earliest` (if it is not said), `latest`, a time (ISO 8601), or JSON of positions: after them |
| `endingPosition` | `latest` (if it is not said; for streams: none), a time, or JSON of positions: up to them |
| `maxRecordsPerBatch` | of a stream: the most in a micro-batch |
| `failOnDataLoss` | `true` (if it is not said): fails where records are gone, or damaged, that should have been read |
| `minPartitions` | cuts ranges of entries, so that more tasks read; without it a task reads a partition |
| `timeoutSeconds` | 60, if it is not said: how long a broker is waited for |

| writing | |
|---|---|
| `url`, `framing`, `timeoutSeconds` | the same |
| `topic` | one |
| `producer`, `batchId`, `deduplicate` | see `write_topic` |
| `compression` | of batches: `none`, `lz4`, `zlib`, `zstd` or `snappy` |
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeVar

from tallystick.errors import InvalidArgument
from tallystick.messaging.settings import EARLIEST, LATEST, Compression
from tallystick.spark.source.places import Places, from_json

URL, TOPICS, PATTERN, FRAMING = "url", "topics", "topicsPattern", "framing"
STARTING, ENDING = "startingPosition", "endingPosition"
MOST_RECORDS, FAIL_ON_LOSS, MIN_PARTITIONS, TIMEOUT = (
    "maxRecordsPerBatch",
    "failOnDataLoss",
    "minPartitions",
    "timeoutSeconds",
)
TOPIC, PRODUCER, BATCH, DEDUPLICATE, COMPRESSION = "topic", "producer", "batchId", "deduplicate", "compression"
READING = (URL, TOPICS, PATTERN, FRAMING, STARTING, ENDING, MOST_RECORDS, FAIL_ON_LOSS, MIN_PARTITIONS, TIMEOUT)
WRITING = (URL, TOPIC, FRAMING, PRODUCER, BATCH, DEDUPLICATE, COMPRESSION, TIMEOUT)
_OF_SPARK = {"path", "checkpointlocation", "queryname"}

Choice = TypeVar("Choice", bound=StrEnum)
Where = str | datetime | Places
"""`earliest`, `latest`, a time, or places of single partitions."""


class SourceFraming(StrEnum):
    """Where a record carries the id of its schema."""

    TRANSPORT = "transport"
    """In the metadata."""
    PAYLOAD = "payload"
    """Before the payload: a zero byte and the id in four."""
    MESH = "mesh"
    """The same, after a status byte."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    url: str
    topics: tuple[str, ...]
    pattern: str | None
    framing: SourceFraming
    starting: Where
    ending: Where
    most_records: int | None
    fails_on_loss: bool
    min_partitions: int | None
    timeout_s: float


@dataclass(frozen=True, slots=True)
class WriteOptions:
    url: str
    topic: str
    framing: SourceFraming
    producer: str | None
    """None: a name of the query's, or of this write alone."""
    batch_id: int | None
    deduplicates: bool
    compression: Compression
    timeout_s: float


def read_options(options: Mapping[str, str]) -> ReadOptions:
    """Raises `InvalidArgument` that names the option."""
    given = _Given(options, READING)
    topics = tuple(topic for part in given.text(TOPICS, "").split(",") if (topic := part.strip()))
    pattern = given.text(PATTERN, "") or None
    if bool(topics) == (pattern is not None):
        raise InvalidArgument(TOPICS, f"name topics with {TOPICS!r}, or some by {PATTERN!r}, and not both")
    if pattern is not None:
        _check_pattern(pattern)
    ending = _where(ENDING, given.text(ENDING, LATEST))
    if ending == EARLIEST:
        raise InvalidArgument(ENDING, "nothing ends with earliest; leave it out to read up to the latest record")
    return ReadOptions(
        url=given.required(URL),
        topics=topics,
        pattern=pattern,
        framing=given.choice(FRAMING, SourceFraming, SourceFraming.TRANSPORT),
        starting=_where(STARTING, given.text(STARTING, EARLIEST)),
        ending=ending,
        most_records=given.count(MOST_RECORDS),
        fails_on_loss=given.flag(FAIL_ON_LOSS, True),
        min_partitions=given.count(MIN_PARTITIONS),
        timeout_s=given.seconds(),
    )


def write_options(options: Mapping[str, str]) -> WriteOptions:
    """Raises `InvalidArgument` that names the option."""
    given = _Given(options, WRITING)
    return WriteOptions(
        url=given.required(URL),
        topic=given.required(TOPIC),
        framing=given.choice(FRAMING, SourceFraming, SourceFraming.TRANSPORT),
        producer=given.text(PRODUCER, "") or None,
        batch_id=given.count(BATCH, least=0),
        deduplicates=given.flag(DEDUPLICATE, True),
        compression=given.choice(COMPRESSION, Compression, Compression.NONE),
        timeout_s=given.seconds(),
    )


class _Given:
    def __init__(self, options: Mapping[str, str], known: tuple[str, ...]) -> None:
        self._options = {name.lower(): value for name, value in options.items()}
        unknown = set(self._options) - {name.lower() for name in known} - _OF_SPARK
        if unknown:
            raise InvalidArgument(min(unknown), f"the source tally has no such option; it has {', '.join(known)}")

    def text(self, name: str, default: str) -> str:
        return self._options.get(name.lower(), default)

    def required(self, name: str) -> str:
        found = self.text(name, "")
        if not found:
            raise InvalidArgument(name, f"the source tally needs the option {name!r}")
        return found

    def count(self, name: str, least: int = 1) -> int | None:
        text = self.text(name, "")
        if not text:
            return None
        if not text.isdecimal() or int(text) < least:
            raise InvalidArgument(name, f"{text!r} is no number from {least}")
        return int(text)

    def flag(self, name: str, default: bool) -> bool:
        text = self.text(name, str(default)).lower()
        if text not in ("true", "false"):
            raise InvalidArgument(name, f"{text!r} is neither true nor false")
        return text == "true"

    def seconds(self) -> float:
        text = self.text(TIMEOUT, "60")
        try:
            seconds = float(text)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds < float("inf"):
            raise InvalidArgument(TIMEOUT, f"{text!r} is no number of seconds")
        return seconds

    def choice(self, name: str, choices: type[Choice], default: Choice) -> Choice:
        text = self.text(name, default)
        try:
            return choices(text)
        except ValueError as e:
            raise InvalidArgument(name, f"{text!r} is none; use one of {', '.join(choices)}") from e


def _where(name: str, text: str) -> Where:
    if text in (EARLIEST, LATEST):
        return text
    if text.lstrip().startswith("{"):
        return from_json(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError as e:
        raise InvalidArgument(
            name, f"{text[:60]!r} is none; write earliest, latest, a time such as 2026-01-31T12:00:00Z, or JSON"
        ) from e
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def _check_pattern(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as e:
        raise InvalidArgument(PATTERN, f"{pattern!r} is no regular expression: {e}") from e
