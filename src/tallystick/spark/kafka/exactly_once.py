"""A sink that writes a micro-batch once, however often it is tried.

The rows of a micro-batch are divided into *lanes*: all that come from one partition of a source topic are in one lane,
in the order of their positions, and nothing but topic, partition and the number of lanes decides in which. Each lane is
one transaction with a `transactional.id` of its own: query, topic and lane. Inside of it stands the *marker*: the
number of the micro-batch, as an offset of the group `tallystick-<query>` on that partition of the target topic whose
number is the lane's. What follows:

- A try that opens a lane shuts out all earlier ones, wherever they still run: their transaction is given up, and what
  they still send is refused. Only then it looks at the marker, so nobody can commit between the look and the write.
- A lane that has the marker of this micro-batch was committed: its rows are passed over. So a task that is repeated, a
  second copy of a slow task, and a driver that died between two lanes leave neither doubles nor gaps.
- A try that was shut out waits for the other one to commit, rather than shutting it out in turn.
- The marker has a sum over the positions of the rows: where the same number comes with other rows, or with a smaller
  number than the last, something is wrong (a checkpoint was deleted, a name is used twice), and it is an error.

It relies on the micro-batch of a number having the same rows each time, which Spark promises for sources that can be
read again and steps that depend on nothing but the rows. Kafka forgets markers `offsets.retention.minutes` (7 days by
default) after the last commit: a micro-batch that failed has to be repeated before.
"""

from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from tallystick.errors import InvalidArgument
from tallystick.spark import columns as c
from tallystick.spark.cluster import Cluster
from tallystick.spark.kafka.offsets import Questions, library_settings

MOST_LANES = 8
"""Unless more are asked for: each costs a transaction."""
LANE, SUM, TIME = "lane", "sum", "time"


@dataclass(frozen=True, slots=True)
class Job:
    """One micro-batch of one query into one topic. `lanes` of 0: as many as the topic has partitions, up to a limit."""

    cluster: Cluster
    topic: str
    query: str
    batch_id: int
    lanes: int

    @property
    def group(self) -> str:
        return f"tallystick-{self.query}"

    def transactional_id(self, lane: int) -> str:
        return f"tallystick-{self.query}-{self.topic}-{lane}"


def write(frames: DataFrame, records: dict[str, Column], job: Job) -> None:
    library_settings(job.cluster)
    from tallystick.spark.kafka.transactions import Lane, send

    chosen = _with_lanes(job)
    known = Lane.markers(chosen)
    if any(marker.lanes != chosen.lanes for marker in known.values()):
        # The number of lanes was changed. Those of before are shut out, and a batch that they began is ended by them.
        for lane in range(max(marker.lanes for marker in known.values())):
            with Lane(chosen, lane) as old:
                old.open()
        known = Lane.markers(chosen)
        begun = {marker.lanes for marker in known.values() if marker.batch_id == chosen.batch_id}
        chosen = replace(chosen, lanes=begun.pop() if begun else chosen.lanes)
    rows = _in_lanes(frames, records, chosen.lanes)
    rows.mapInArrow(lambda batches: send(chosen, batches), "lane int, rows long, written boolean").collect()


def _with_lanes(job: Job) -> Job:
    partitions = len(Questions(job.cluster).partitions(job.topic)[job.topic])
    if job.lanes > partitions:
        raise InvalidArgument(
            "lanes", f"{job.lanes} are too many: topic {job.topic} has {partitions} partitions, and each lane needs one"
        )
    return replace(job, lanes=job.lanes or min(MOST_LANES, partitions))


def _in_lanes(frames: DataFrame, records: dict[str, Column], lanes: int) -> DataFrame:
    """What is sent, each lane in one task, in the order of its source."""
    source = (F.col(c.TOPIC), F.col(c.PARTITION))
    place = [*source, *(F.col(f"{c.POSITION}.{part}") for part in ("ledger", "entry", "batch_index"))]
    lane = F.pmod(F.col(c.PARTITION) + F.pmod(F.hash(F.col(c.TOPIC)), F.lit(lanes)), F.lit(lanes)).cast("int")
    divided = frames.withColumn(LANE, lane).repartitionById(lanes, LANE).sortWithinPartitions(LANE, *place)
    return divided.select(
        LANE,
        F.xxhash64(*place).alias(SUM),
        F.unix_millis(F.col(c.EVENT_TIME)).alias(TIME),
        *(column.alias(name) for name, column in records.items()),
    )
