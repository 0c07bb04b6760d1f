"""Kafka's topics as DataFrames: read by Spark's own connector, written by it or in transactions of our own."""

from tallystick.spark.kafka.offsets import ends
from tallystick.spark.kafka.reading import read, read_stream
from tallystick.spark.kafka.writing import Delivery, write

__all__ = ["Delivery", "ends", "read", "read_stream", "write"]
