"""validate: frames → the same frames, with a finding where a record does not fit. A decode that keeps nothing else."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tallystick.spark.cluster import Cluster
from tallystick.spark.columns import FINDING, PAYLOAD, SCHEMA_VERSION
from tallystick.spark.decoding.decode import decode
from tallystick.spark.decoding.schemas import LATEST, Reader, Schemas

_PAYLOAD, _VERSION = "_tally_payload", "_tally_version"


def validate(
    frames: DataFrame, cluster: Cluster | Schemas, *, mask: Column | None = None, reader: Reader = LATEST
) -> DataFrame:
    """The frames as they came and `finding`, which is null where all is well.

    Rows for which `mask` does not hold are left alone: they are not decoded, and their finding is null. Raises what
    `decode` raises.
    """
    kept = frames.withColumns({_PAYLOAD: F.col(PAYLOAD), _VERSION: F.col(SCHEMA_VERSION)})
    if mask is not None:
        # What has no payload is no work.
        kept = kept.withColumn(PAYLOAD, F.when(mask, F.col(PAYLOAD)))
    as_it_came = {PAYLOAD: _PAYLOAD, SCHEMA_VERSION: _VERSION}
    columns = [F.col(as_it_came.get(name, name)).alias(name) for name in frames.columns]
    return decode(kept, cluster, reader=reader).select(*columns, FINDING)
