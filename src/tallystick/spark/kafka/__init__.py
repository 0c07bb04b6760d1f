"""Kafka's topics as DataFrames: read by Spark's own connector, written by it or in transactions of our own."""

from tallystick.spark.kafka.offsets import ends
from tallystick.spark.kafka.reading import read, read_stream

__all__ = ["ends", "read", "read_stream"]
