"""The quarantine of a route: a topic with the records that do not fit, whole, and with everything to replay them.

Bytes and key are the record's own. What it told, where it stood and why it is here stand in its properties, which begin
with `tally.`, so that any client reads them.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tallystick.spark.columns import (
    FINDING,
    FRAMES,
    PARTITION,
    POSITION,
    PROPERTIES,
    SCHEMA_ID,
    SCHEMA_MARK,
    SCHEMA_VERSION,
    STATUS,
    TOPIC,
)
from tallystick.spark.runner import MicroBatch

PREFIX = "tally."


def as_quarantined(checked: DataFrame, batch: MicroBatch, hop: str) -> DataFrame:
    """The validated frames that have a finding, as records of the quarantine's topic."""
    position = F.col(POSITION)
    place = F.concat_ws(":", position["ledger"], position["entry"], position["batch_index"])
    about: dict[str, Column] = {
        "finding": F.to_json(FINDING),
        "rule": F.col(f"{FINDING}.rule"),
        "topic": F.col(TOPIC),
        "partition": F.col(PARTITION).cast("string"),
        "position": place,
        "schema_id": F.col(SCHEMA_ID).cast("string"),
        "schema_version": F.col(SCHEMA_VERSION).cast("string"),
        "schema_mark": F.hex(SCHEMA_MARK),
        "query": F.lit(batch.query),
        "batch": F.lit(str(batch.id)),
        "hop": F.lit(hop),
    }
    pairs = F.array(
        *(F.struct(F.lit(PREFIX + name).alias("name"), value.alias("text")) for name, value in about.items())
    )
    told = F.map_from_entries(F.filter(pairs, lambda pair: pair["text"].isNotNull()))
    # What a record had of that kind comes from another quarantine, and this one is the last word.
    own = F.map_filter(
        F.coalesce(PROPERTIES, F.create_map().cast("map<string,string>")), lambda name, _: _is_other(name)
    )
    nothing = {name: F.lit(None) for name in (SCHEMA_ID, SCHEMA_VERSION, STATUS)} | {SCHEMA_MARK: F.lit(b"")}
    fresh = {**nothing, PROPERTIES: F.map_concat(own, told)}
    bad = checked.where(F.col(FINDING).isNotNull())
    return bad.select(*(fresh.get(f.name, F.col(f.name)).cast(f.dataType).alias(f.name) for f in FRAMES.fields))


def _is_other(name: Column) -> Column:
    return ~name.startswith(PREFIX)
