"""The public names of `tallystick.spark` are a decision, too, and cost nothing until they are used."""

import subprocess
import sys
from importlib import import_module

import tallystick.spark

PUBLIC = [
    "Cluster",
    "Connector",
    "Evolve",
    "FINDING_TYPE",
    "FRAMES",
    "Run",
    "Table",
    "TableFormat",
    "TopicTables",
    "decode",
    "decode_each",
    "encode",
    "ends",
    "explained",
    "for_each_decoded_batch",
    "land",
    "land_stream",
    "quarantined",
    "read_topic",
    "read_topic_stream",
    "register",
    "replayable",
    "session",
    "session_settings",
    "validate",
    "write_topic",
    "write_topic_stream",
]


def test_public_names() -> None:
    assert sorted(tallystick.spark.__all__) == PUBLIC
    assert all(hasattr(tallystick.spark, name) for name in PUBLIC)


def test_no_module_stands_in_the_way_of_a_name() -> None:
    # A module that is loaded is an attribute of its package, and would hide a function of the same name.
    for home in tallystick.spark._HOMES:
        import_module(f"tallystick.spark.{home}")
    homes = {name: getattr(tallystick.spark, name).__class__.__name__ for name in PUBLIC}
    assert [name for name, kind in homes.items() if kind == "module"] == []


def test_a_cluster_can_be_named_without_spark() -> None:
    program = (
        "import sys; from tallystick.spark import Cluster; Cluster('kafka://a:1'); print('pyspark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "False\n"
