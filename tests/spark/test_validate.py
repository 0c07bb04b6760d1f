"""`validate`: the same frames with a finding where a record does not fit; a mask leaves the rest alone."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from tallystick.spark import FRAMES, Cluster, decode, read_topic, validate
from tests.contracts.clusters import Served
from tests.e2e.topics import unused
from tests.spark.mixed import fill


def test_validate_is_a_decode_that_keeps_only_the_finding(spark: SparkSession, served: Served) -> None:
    cluster, topic = Cluster(served.pulsar), unused("validated")
    filled = fill(spark, cluster, topic, 40, seed=5, bad=0.3)
    frames = read_topic(spark, cluster, topic).cache()
    whole = validate(frames, cluster)
    assert whole.columns == [*FRAMES.names, "finding"]
    assert whole.drop("finding", "properties").exceptAll(frames.drop("properties")).count() == 0
    found = {bytes(row.key).decode(): row.finding for row in whole.select("key", "finding").collect()}
    assert {key for key, finding in found.items() if finding is not None} == set(filled.bad)
    decoded = {
        bytes(row.key).decode(): row.finding for row in decode(frames, cluster).select("key", "finding").collect()
    }
    assert found == decoded

    is_even = F.pmod(F.col("key").cast("string").cast("int"), F.lit(2)) == 0
    half = validate(frames, cluster, mask=is_even)
    assert half.drop("finding", "properties").exceptAll(frames.drop("properties")).count() == 0
    marked = {bytes(row.key).decode() for row in half.where("finding is not null").collect()}
    assert marked == {key for key in filled.bad if int(key) % 2 == 0}
    assert marked
    assert marked < set(filled.bad)
    frames.unpersist()
