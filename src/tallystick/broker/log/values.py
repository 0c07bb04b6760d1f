"""What the log keeps, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Entry:
    """One batch as a producer sent it."""

    number: int
    """0, 1, 2 … in its topic, never reused once it is acknowledged."""
    published_ms: int
    messages: int
    """How many the batch holds."""
    data: bytes
    """The entry as it came over the wire, unchanged."""


@dataclass(frozen=True, slots=True)
class TopicRow:
    id: int
    """Never reused; also the ledger id that clients see."""
    name: str
    """persistent://tenant/namespace/local, or local-partition-N."""
    partitions: int | None
    """Of a partitioned topic, which has no entries itself; None for a topic with entries."""
    properties: Mapping[str, str]
    created_ms: int
    first: int
    """The first entry that is kept."""
    next: int
    """The number of the next entry."""
    bytes: int
    """Of the entries that are kept."""
    messages: int
    """Ever appended."""


@dataclass(frozen=True, slots=True)
class CursorState:
    """The durable state of a subscription."""

    acked_before: int
    """Every entry below it is acknowledged."""
    acked: tuple[tuple[int, int], ...] = ()
    """Ranges beyond it, first and last entry, both included."""
    partly: Mapping[int, bytes] = field(default_factory=dict)
    """Entry → a bit for each of its messages that is not acknowledged yet, in little-endian words of 64 bits."""
    properties: Mapping[str, str] = field(default_factory=dict)
