"""A pipeline in a process of its own, to be killed: `python -m tests.spark.faults.landing_job JSON`."""

import json
import sys

from tallystick.spark.cluster import Cluster
from tallystick.spark.landing.stream import land_stream
from tallystick.spark.landing.table import Table
from tallystick.spark.sessions import session
from tests.spark.sessions import SMALL


def main() -> None:
    told = json.loads(sys.argv[1])
    spark = session("faults", master=told["master"], connectors=["avro", "kafka", "delta"], settings=SMALL)
    run = land_stream(
        spark,
        Cluster(told["url"], registry=told["registry"]),
        told["topic"],
        Table(told["format"], told["place"]),
        checkpoint=told["checkpoint"],
        name="faults",
        max_records=told["max_records"],
        available_now=told["available_now"],
    )
    run.run_until_signalled()
    spark.stop()


if __name__ == "__main__":
    main()
