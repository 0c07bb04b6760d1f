"""Pipelines on Spark: topics as DataFrames, every record by its own schema."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.spark.cluster import Cluster
    from tallystick.spark.columns import FINDING_TYPE, FRAMES
    from tallystick.spark.decoded_batches import for_each_decoded_batch
    from tallystick.spark.decoding.decode import decode
    from tallystick.spark.decoding.each import decode_each
    from tallystick.spark.decoding.explaining import explained
    from tallystick.spark.encoding.encode import encode
    from tallystick.spark.jars import Connector
    from tallystick.spark.landing.land import land
    from tallystick.spark.landing.stream import land_stream
    from tallystick.spark.landing.table import Table, TableFormat
    from tallystick.spark.quarantine import quarantined, replayable
    from tallystick.spark.readers import Evolve
    from tallystick.spark.runner import Run
    from tallystick.spark.sessions import session, session_settings
    from tallystick.spark.source import register
    from tallystick.spark.sql import TopicTables
    from tallystick.spark.topics import ends, read_topic, read_topic_stream, write_topic, write_topic_stream
    from tallystick.spark.validation import validate

__all__ = [
    "FINDING_TYPE",
    "FRAMES",
    "Cluster",
    "Connector",
    "Evolve",
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

_HOMES = {
    "cluster": ["Cluster"],
    "columns": ["FINDING_TYPE", "FRAMES"],
    "decoded_batches": ["for_each_decoded_batch"],
    "decoding.decode": ["decode"],
    "decoding.each": ["decode_each"],
    "decoding.explaining": ["explained"],
    "encoding.encode": ["encode"],
    "jars": ["Connector"],
    "landing.land": ["land"],
    "landing.stream": ["land_stream"],
    "landing.table": ["Table", "TableFormat"],
    "quarantine": ["quarantined", "replayable"],
    "readers": ["Evolve"],
    "runner": ["Run"],
    "sessions": ["session", "session_settings"],
    "source": ["register"],
    "sql": ["TopicTables"],
    "topics": ["ends", "read_topic", "read_topic_stream", "write_topic", "write_topic_stream"],
    "validation": ["validate"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    # Loaded when asked for: workers, and commands that only name a cluster, need little of it.
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
