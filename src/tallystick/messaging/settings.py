"""Settings of producers and consumers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from tallystick.errors import InvalidArgument


class MultiSchema(StrEnum):
    """Whether messages may have schemas of their own (PIP-43)."""

    AUTO = "auto"
    """From the first message with one on."""
    ON = "on"
    OFF = "off"


class Compression(StrEnum):
    NONE = "none"
    LZ4 = "lz4"
    ZLIB = "zlib"
    ZSTD = "zstd"
    SNAPPY = "snappy"


class Subscription(StrEnum):
    """How the consumers of one subscription share its messages. Kafka's groups share partitions, whatever it says."""

    EXCLUSIVE = "exclusive"
    SHARED = "shared"
    FAILOVER = "failover"
    KEY_SHARED = "key_shared"


class Framing(StrEnum):
    """Where a message carries the id of its schema. Configured for each topic, never guessed."""

    TRANSPORT = "transport"
    """Pulsar: in the metadata. Kafka: as with `PAYLOAD`."""
    PAYLOAD = "payload"
    """Before the payload: a zero byte and the id in four. Pulsar's brokers see bytes."""
    HEADER = "header"
    """Kafka only: in the header `__value_schema_id` (and `__key_schema_id`)."""


EARLIEST = "earliest"
LATEST = "latest"
StartAt = str | datetime
"""`"earliest"`, `"latest"`, or the first message that was published then or later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerSettings:
    name: str | None = None
    """The broker chooses one where none is given. A name that stays lets the broker drop what is sent twice."""
    batch_messages: int = 1000
    """The most in one batch; 1 turns batches off."""
    batch_bytes: int = 128 * 1024
    """The most in one batch."""
    batch_delay_s: float = 0.01
    """How long the first message of a batch waits for company."""
    compression: Compression = Compression.NONE
    """Of batches: none, lz4, zlib, zstd or snappy."""
    max_pending: int = 50_000
    """Messages on their way; whoever sends more waits."""
    send_timeout_s: float = 30.0
    """After this a message that the broker has not taken fails."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """What the broker shows with the producer."""
    initial_sequence_id: int | None = None
    """Messages are numbered after this one; with a name that stays, where the last run ended."""

    def __post_init__(self) -> None:
        _choose(self, "compression", Compression)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    topic: str | None = None
    """By default `<topic>-<subscription>-DLQ`."""
    after: int | None = None
    """Redeliveries, after which a message goes there by itself; None: only where the program sends it there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSettings:
    topics: Sequence[str]
    """One or several."""
    subscription: str | None = None
    """None: a reader, which keeps no place."""
    kind: Subscription = Subscription.EXCLUSIVE
    """How the subscription's consumers share its messages: exclusive, shared, failover or key_shared (Pulsar)."""
    start: StartAt = LATEST
    """Where a new subscription, or a reader, begins: earliest, latest, or a time."""
    name: str | None = None
    """What the broker shows."""
    queue_size: int = 1000
    """Messages that are fetched ahead."""
    acknowledge_delay_s: float = 0.1
    """Acknowledgements are sent together."""
    reject_delay_s: float = 1.0
    """When a rejected message comes again."""
    read_compacted: bool = False
    """Only the last message of each key (Pulsar)."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """What the broker shows with the consumer."""

    def __post_init__(self) -> None:
        _choose(self, "kind", Subscription)


def _choose(settings: object, name: str, choices: type[StrEnum]) -> None:
    """Lets a setting be given by its text. Raises `InvalidArgument` for one that is no choice."""
    given = getattr(settings, name)
    try:
        object.__setattr__(settings, name, choices(given))
    except ValueError as e:
        raise InvalidArgument(name, f"{given!r} is none; use one of {', '.join(choices)}") from e
