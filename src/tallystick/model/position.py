"""Where a message stands in its topic."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class PulsarPosition:
    """An entry of a ledger, and a place in it where the entry is a batch. −1: no partition, no batch."""

    ledger: int
    entry: int
    partition: int = -1
    batch_index: int = -1

    def __str__(self) -> str:
        return f"{self.ledger}:{self.entry}:{self.partition}:{self.batch_index}"


@dataclass(frozen=True, slots=True, order=True)
class KafkaPosition:
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.partition}:{self.offset}"


Position = PulsarPosition | KafkaPosition
