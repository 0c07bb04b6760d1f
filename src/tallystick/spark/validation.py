"""validate: frames → the same frames, with a finding where a record does not fit. A decode that keeps nothing else."""

from collections.abc import Sequence
from typing import Literal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tallystick.errors import Unsupported
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import BYTES
from tallystick.spark.cluster import Cluster
from tallystick.spark.columns import FINDING, FINDING_TYPE, PAYLOAD, SCHEMA_VERSION
from tallystick.spark.decoding.decode import Plan, apply, decode, plan, told_by
from tallystick.spark.decoding.schemas import LATEST, Reader, Schemas, Told
from tallystick.spark.decoding.telling import Telling

OWN: Literal["own"] = "own"
"""The schema that a record was written with."""

_PAYLOAD, _VERSION = "_tally_payload", "_tally_version"
_WHOLE, _FOUND = "_tally_whole", "_tally_found"
_AS_BYTES = SchemaDefinition(BYTES)


def validate(
    frames: DataFrame,
    cluster: Cluster | Schemas,
    *,
    mask: Column | None = None,
    reader: Reader | Literal["own"] = LATEST,
    told: Sequence[Told] | None = None,
) -> DataFrame:
    """The frames as they came and `finding`, which is null where all is well.

    A record fits if `reader` can read it, which is as `decode` has it, or "own": whatever it was written with, so that
    a topic may have records of several types and formats. Rows for which `mask` does not hold are left alone: they are
    not decoded, and their finding is null. Whoever knows what the records tell gives it as `told`, and saves a job.
    Raises what `decode` raises.
    """
    kept = frames.withColumns({_PAYLOAD: F.col(PAYLOAD), _VERSION: F.col(SCHEMA_VERSION)})
    if mask is not None:
        # What has no payload is no work.
        kept = kept.withColumn(PAYLOAD, F.when(mask, F.col(PAYLOAD)))
    as_it_came = {PAYLOAD: _PAYLOAD, SCHEMA_VERSION: _VERSION}
    columns = [F.col(as_it_came.get(name, name)).alias(name) for name in frames.columns]
    return _checked(kept, cluster, reader, told).select(*columns, FINDING)


def _checked(
    frames: DataFrame, cluster: Cluster | Schemas, reader: Reader | Literal["own"], told: Sequence[Told] | None
) -> DataFrame:
    if reader != OWN:
        return decode(frames, cluster, reader=reader)
    if frames.isStreaming:
        raise Unsupported(
            "validate looks at the schemas of the records; give it a stream batch by batch, in foreachBatch"
        )
    if isinstance(cluster, Schemas):
        return _by_own(frames, cluster, told)
    with Schemas(cluster) as schemas:
        return _by_own(frames, schemas, told)


def _by_own(frames: DataFrame, schemas: Schemas, known_told: Sequence[Told] | None) -> DataFrame:
    """A turn for each schema, in which only its records have a payload."""
    told = told_by(frames.where(F.col(PAYLOAD).isNotNull())) if known_told is None else known_told
    groups: dict[SchemaDefinition, list[Told]] = {}
    unknown: list[Told] = []
    for one in told:
        known = schemas.writer(one).schema
        (unknown if known is None else groups.setdefault(known.definition, [])).append(one)
    telling = Telling(told)
    rows = frames.withColumns({_FOUND: F.lit(None).cast(FINDING_TYPE), _WHOLE: F.col(PAYLOAD)})
    for definition, members in groups.items():
        rows = _turn(rows, telling.is_one_of(members), plan(frames, schemas, definition, members))
    others = ~telling.is_one_of([one for members in groups.values() for one in members])
    return _turn(rows, others, plan(frames, schemas, _AS_BYTES, unknown)).withColumnRenamed(_FOUND, FINDING)


def _turn(rows: DataFrame, is_of: Column, planned: Plan) -> DataFrame:
    chosen = rows.withColumn(PAYLOAD, F.when(is_of, F.col(_WHOLE)))
    # The next turn tells records apart by what they told themselves, not by what a decode has filled in.
    as_told = {SCHEMA_VERSION: _VERSION}
    kept = [F.col(as_told.get(name, name)).alias(name) for name in rows.columns if name != _FOUND]
    return apply(chosen, planned).select(*kept, F.coalesce(_FOUND, FINDING).alias(_FOUND))
