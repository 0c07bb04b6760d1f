from tests.kafka.fixtures import kafka
from tests.pulsar.fixtures import both, common

__all__ = ["both", "common", "kafka"]
