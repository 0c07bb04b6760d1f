"""Kafka, through librdkafka."""

from tallystick.transports.kafka.settings import KafkaSettings
from tallystick.transports.kafka.transport import KafkaTransport

__all__ = ["KafkaSettings", "KafkaTransport"]
