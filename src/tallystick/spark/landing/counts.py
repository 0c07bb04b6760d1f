"""How many records landed, by schema. Counted by the job that writes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from tallystick.model.pipeline import OTHERS, Outcomes
from tallystick.spark.columns import SCHEMA_ID, SCHEMA_VERSION, TOPIC
from tallystick.spark.landing.rows import IS_DELETED, PREFIX

_MOST_OBSERVED = 16
"""Schemas that are counted one by one on the JVM: each costs a comparison for every record."""
_DEFAULT = "persistent://public/default/"


class SchemaKey(NamedTuple):
    """What tells the schema of a record."""

    topic: str
    schema_id: int | None
    schema_version: int | None

    def __str__(self) -> str:
        name = self.topic.removeprefix(_DEFAULT)
        if self.schema_version is not None:
            return f"{name} v{self.schema_version}"
        return name if self.schema_id is None else f"{name} id {self.schema_id}"


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the records of a batch."""

    by_schema: Mapping[str, Outcomes] = field(default_factory=dict)
    """`*` stands for those that were not told apart."""
    is_repeated: bool = False
    """Whether the batch had landed before, and nothing was written now."""

    @property
    def records(self) -> Outcomes:
        return sum(self.by_schema.values(), Outcomes())

    def as_dict(self) -> dict[str, dict[str, int]]:
        return {name: counted.as_dict() for name, counted in self.by_schema.items()}


def counts_of(told: Mapping[str, Mapping[str, int]]) -> dict[str, Outcomes]:
    return {name: Outcomes(**counted) for name, counted in told.items()}


def fitting(landed: DataFrame, watch: Observation, schemas: Sequence[SchemaKey]) -> DataFrame:
    """Of rows of `as_landed` those that fit; `watch` sees all of them.

    Nothing but the writer should come after it: rows are copied for whatever else does.
    """
    # By a function over an array, for which Spark makes no code: what it makes code for copies every row that it keeps.
    is_fitting = F.exists(F.array(IS_DELETED), lambda is_deleted: is_deleted.isNotNull())
    return landed.observe(watch, *_observed(schemas)).where(is_fitting)


def _observed(schemas: Sequence[SchemaKey]) -> list[Column]:
    """Of few schemas one by one."""
    is_deleted = F.col(IS_DELETED)
    outcomes = {"good": ~is_deleted, "quarantined": is_deleted.isNull(), "tombstones": is_deleted}
    columns = [_count(condition).alias(name) for name, condition in outcomes.items()]
    if 1 < len(schemas) <= _MOST_OBSERVED:
        for number, key in enumerate(schemas):
            columns += [_count(_is_of(key) & outcomes[name]).alias(f"{name}_{number}") for name in outcomes]
    return columns


def _count(condition: Column) -> Column:
    # Not by count_if, for which Spark gives every row a column and takes it away again.
    return F.count(F.when(condition, True))


def _is_of(key: SchemaKey) -> Column:
    told = {TOPIC: key.topic, SCHEMA_ID: key.schema_id, SCHEMA_VERSION: key.schema_version}
    condition = F.lit(True)
    for name, value in told.items():
        condition = condition & F.col(PREFIX + name).eqNullSafe(F.lit(value))
    return condition


def counted(found: Mapping[str, Any], schemas: Sequence[SchemaKey]) -> dict[str, Outcomes]:
    """What the `Observation` of `fitting` found."""
    names = ("good", "quarantined", "tombstones")
    whole = Outcomes(*(found.get(name, 0) for name in names))
    if len(schemas) == 1:
        return {str(schemas[0]): whole}
    by_schema = {
        str(key): Outcomes(*(found[f"{name}_{number}"] for name in names))
        for number, key in enumerate(schemas)
        if f"good_{number}" in found
    }
    told = sum(by_schema.values(), Outcomes())
    rest = Outcomes(whole.good - told.good, whole.quarantined - told.quarantined, whole.tombstones - told.tombstones)
    return by_schema | ({OTHERS: rest} if rest.seen or not by_schema else {})
