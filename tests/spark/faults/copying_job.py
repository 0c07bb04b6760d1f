"""A topic of Kafka is copied in a process of its own, to be killed: `python -m tests.spark.faults.copying_job JSON`."""

import json
import sys

from tallystick.spark.cluster import Cluster
from tallystick.spark.sessions import session
from tallystick.spark.topics import read_topic_stream, write_topic_stream
from tests.spark.sessions import SMALL


def main() -> None:
    told = json.loads(sys.argv[1])
    spark = session("faults", master="local[2]", connectors=["kafka"], settings=SMALL)
    cluster = Cluster(told["url"])
    frames = read_topic_stream(spark, cluster, told["source"], max_records=told["max_records"])
    query = write_topic_stream(
        frames,
        cluster,
        told["target"],
        checkpoint=told["checkpoint"],
        trigger={"availableNow": True} if told["available_now"] else None,
        producer=told["query"],
        delivery="exactly-once",
    )
    query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main()
