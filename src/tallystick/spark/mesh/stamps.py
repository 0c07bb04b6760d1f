"""What records tell of their schemas, in the words of another topic: versions become ids, and ids versions."""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tallystick.spark.columns import FRAMES, SCHEMA_ID, SCHEMA_MARK, SCHEMA_VERSION
from tallystick.spark.decoding.schemas import Schemas, Told
from tallystick.spark.decoding.telling import Telling
from tallystick.spark.encoding.encode import Stamp, stamp


def restamped(frames: DataFrame, told: Sequence[Told], source: Schemas, target: Schemas, topic: str) -> DataFrame:
    """The frames as records of `topic`: each tells the schema that it has told, as the target's readers look for it.

    Schemas that the target does not have are created there. Records that tell no known schema keep what they tell.
    Raises `IncompatibleSchema` where the target refuses a schema.
    """
    stamps: dict[Told, Stamp] = {}
    for one in told:
        known = source.writer(one).schema
        if known is not None:
            stamps[one] = stamp(target, topic, known)
    if not stamps:
        return frames
    telling = Telling(told)
    ids = telling.numbered({one: found.schema_id for one, found in stamps.items() if found.schema_id is not None})
    versions = telling.numbered(
        {one: found.schema_version for one, found in stamps.items() if found.schema_version is not None}
    )
    marks = telling.as_bytes({one: found.schema_mark for one, found in stamps.items() if found.schema_mark is not None})
    is_known = telling.is_one_of(list(stamps))
    fresh: dict[str, Column] = {
        SCHEMA_ID: F.when(is_known, ids).otherwise(F.col(SCHEMA_ID)),
        # A topic whose records carry ids has versions for nobody.
        SCHEMA_VERSION: F.when(is_known & F.lit(not target.cluster.is_framed), versions),
        SCHEMA_MARK: F.when(is_known, marks).otherwise(F.col(SCHEMA_MARK)),
    }
    columns = [
        fresh[name].cast(FRAMES[name].dataType).alias(name) if name in fresh else F.col(name) for name in frames.columns
    ]
    return frames.select(*columns)
