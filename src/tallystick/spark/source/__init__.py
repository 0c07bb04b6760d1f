"""The Spark data source `tally` for Pulsar's protocol: the embedded broker and any Pulsar, batches and streams."""

from tallystick.spark.source.source import TallyDataSource, register

__all__ = ["TallyDataSource", "register"]
