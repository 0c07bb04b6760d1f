"""The words that a pipeline file chooses from.

They are the words of the engine that runs it, which stands above this package; a test keeps them the same.
"""

from enum import StrEnum


class MultiSchema(StrEnum):
    """Whether the records of one topic may have different schemas (PIP-43)."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class Framing(StrEnum):
    """Where a record carries the id of its schema."""

    TRANSPORT = "transport"
    PAYLOAD = "payload"
    HEADER = "header"


class Delivery(StrEnum):
    AT_LEAST_ONCE = "at-least-once"
    EXACTLY_ONCE = "exactly-once"


class RouteMode(StrEnum):
    """Which end of a route validates."""

    SPLIT = "split"
    """Each end one half of the records."""
    INGRESS = "ingress"
    EGRESS = "egress"
    BOTH = "both"
    OFF = "off"


class FailureAction(StrEnum):
    """What becomes of a record that does not fit."""

    DROP = "drop"
    QUARANTINE = "quarantine"
    REPUBLISH = "republish"
    STOP = "stop"


class LogLevel(StrEnum):
    OFF = "off"
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Outcome(StrEnum):
    """What a test expects of a record that gives no output."""

    SKIPPED = "skipped"
    FAILED = "failed"


class Per(StrEnum):
    """What a function is called with."""

    RECORD = "record"
    BATCH = "batch"


class FileFormat(StrEnum):
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


class TableFormat(StrEnum):
    PARQUET = "parquet"
    DELTA = "delta"
    ICEBERG = "iceberg"


class Evolve(StrEnum):
    """What a new version of the schema means while a pipeline runs."""

    NEVER = "never"
    ADDITIVE = "additive"
    RESTART = "restart"


class ReplicationDirection(StrEnum):
    ONE_WAY = "one-way"
    TWO_WAY = "two-way"
