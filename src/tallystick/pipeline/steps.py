"""The steps of a pipeline: frozen values that know their line, with the file's own settings filled in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tallystick.finding import Place
from tallystick.pipeline.clusters import FromTopics, ToTopic
from tallystick.pipeline.schemas import Encoding, Reader
from tallystick.pipeline.texts import EARLIEST, LATEST
from tallystick.pipeline.words import (
    Delivery,
    Evolve,
    FailureAction,
    FileFormat,
    LogLevel,
    MultiSchema,
    Outcome,
    Per,
    ReplicationDirection,
    RouteMode,
    TableFormat,
)


@dataclass(frozen=True, slots=True)
class Sql:
    """An expression of Spark SQL, and where it begins."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Column:
    """One part of a select list; without a name it is a text that names its columns itself."""

    sql: Sql
    name: str | None = None

    @property
    def text(self) -> str:
        """As it stands in a SELECT."""
        return self.sql.text if self.name is None else f"{self.sql.text} AS `{self.name.replace('`', '``')}`"


@dataclass(frozen=True, slots=True)
class OnFailure:
    """What becomes of a record that does not fit."""

    action: FailureAction = FailureAction.QUARANTINE
    to: ToTopic | None = None
    """Where a record is republished, or the topic of the quarantine; None: the step's own place for that."""
    log: LogLevel = LogLevel.WARNING


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    name: str
    place: Place
    description: str | None = None
    starting: str = EARLIEST
    """`earliest`, `latest`, or a time of ISO 8601."""
    max_records: int | None = None
    every_s: float | None = None

    @property
    def section(self) -> str:
        """The key of the file that it stands under."""
        return f"{type(self).__name__.lower()}s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Egress:
    to: ToTopic
    when: Sql | None = None
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Route(Step):
    ingress: FromTopics
    internal: ToTopic
    egress: tuple[Egress, ...]
    mode: RouteMode = RouteMode.SPLIT
    on_failure: OnFailure = OnFailure()
    delivery: Delivery = Delivery.AT_LEAST_ONCE


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformTest:
    """One record, and what has to become of it: `output`, or `outcome` where that is not None."""

    name: str
    place: Place
    input: Any = field(hash=False)
    key: str | None = None
    topic: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict, hash=False)
    output: Any = field(default=None, hash=False)
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform(Step):
    from_: FromTopics
    to: ToTopic
    reader: Reader = LATEST
    where: Sql | None = None
    select: tuple[Column, ...] = ()
    """Empty: all fields."""
    key: Sql | None = None
    encode: Encoding | None = None
    """None: by the latest schema of the topic in `to`."""
    allow: frozenset[str] = frozenset()
    on_failure: OnFailure = OnFailure()
    delivery: Delivery = Delivery.AT_LEAST_ONCE
    tests: tuple[TransformTest, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Function(Step):
    from_: FromTopics
    to: ToTopic
    call: str
    """`package.module:name`"""
    per: Per = Per.RECORD
    reader: Reader = LATEST
    encode: tuple[Encoding, ...] = ()
    """Empty: by the type hints of the callable."""
    multi_schema: MultiSchema = MultiSchema.AUTO
    on_failure: OnFailure = OnFailure()
    delivery: Delivery = Delivery.AT_LEAST_ONCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    path: str
    format: FileFormat
    place: Place
    options: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(Step):
    files: Files
    to: ToTopic
    key: Sql | None = None
    encode: Encoding | None = None
    """None: by the latest schema of the topic in `to`."""
    multi_schema: MultiSchema = MultiSchema.AUTO
    on_failure: OnFailure = OnFailure()
    delivery: Delivery = Delivery.AT_LEAST_ONCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Replication(Step):
    from_: FromTopics
    to: tuple[str, ...]
    """Names of clusters."""
    rename: str = "{topic}"
    direction: ReplicationDirection = ReplicationDirection.ONE_WAY
    delivery: Delivery = Delivery.AT_LEAST_ONCE

    def renamed(self, topic: str) -> str:
        """What a topic is called at the target; a namespace before its name stays."""
        namespace, slash, name = topic.rpartition("/")
        return f"{namespace}{slash}{self.rename.replace('{topic}', name)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The fields are those of `tallystick.spark.Table`."""

    format: TableFormat
    place: str
    """A folder or a name of a table, not a place in the file."""
    partition_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing(Step):
    from_: FromTopics
    table: Table
    reader: Reader = LATEST
    evolve: Evolve = Evolve.NEVER
    on_failure: OnFailure = OnFailure()
