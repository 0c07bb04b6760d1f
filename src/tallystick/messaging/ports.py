"""What the messaging engine needs of a transport.

All coroutines run on the engine's event loop. What is marked "any thread" is called on the way of every message, from
the thread of whoever sends or receives.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tallystick.errors import TallystickError
from tallystick.messaging.pending import Pending
from tallystick.messaging.settings import ConsumerSettings, ProducerSettings, StartAt
from tallystick.model.definition import SchemaDefinition
from tallystick.model.position import Position
from tallystick.model.subject import Version
from tallystick.serde.schema import SchemaIdBytes


@dataclass(frozen=True, slots=True)
class Mark:
    """What a message carries of its schema. One batch has one mark: a message with another one starts a new batch."""

    version: Version | None = None
    """In the topic's own subject, where the cluster keeps the schemas."""
    schema_id: SchemaIdBytes | None = None
    """Of a third-party registry, in the metadata (PIP-420)."""
    headers: tuple[tuple[str, bytes], ...] = ()
    """Of Kafka's messages whose ids travel there."""


NO_MARK = Mark()


@dataclass(slots=True)
class Outgoing:
    """A message that is encoded. A payload of None is a tombstone."""

    payload: bytes | None
    mark: Mark = NO_MARK
    key: bytes | None = None
    is_key_text: bool = True
    """Pulsar writes other keys in base64."""
    properties: Mapping[str, str] = field(default_factory=dict)
    event_time_ms: int | None = None
    deliver_at_ms: int | None = None
    ordering_key: bytes | None = None
    sequence_id: int | None = None
    replicated_from: str | None = None
    partition: int | None = None
    """Where it is to go, whatever its key."""


@dataclass(slots=True)
class Incoming:
    """A message as it came."""

    topic: str
    """Without the partition."""
    position: Position
    payload: bytes | None
    mark: Mark = NO_MARK
    key: bytes | None = None
    is_key_text: bool = True
    properties: Mapping[str, str] = field(default_factory=dict)
    event_time_ms: int | None = None
    publish_time_ms: int | None = None
    producer_name: str | None = None
    sequence_id: int | None = None
    redelivery_count: int = 0
    replicated_from: str | None = None
    headers: Sequence[tuple[str, bytes]] = ()
    """All of Kafka's, as they came."""
    receipt: object = None
    """What the transport needs to acknowledge it."""


class Outlet(Protocol):
    """One producer on one topic, with all its partitions. It connects again by itself and loses nothing meanwhile."""

    @property
    def name(self) -> str:
        """The producer's, given or chosen by the broker."""

    @property
    def version(self) -> Version | None:
        """Of the schema that it was opened with, where the cluster keeps schemas."""

    async def attach(self, definition: SchemaDefinition) -> Version:
        """Get or create: the version of a schema in the topic's own subject.

        Raises `IncompatibleSchema`, `Unsupported` where the cluster keeps no schemas, `Unavailable`.
        """

    def put(self, message: Outgoing, sent: Pending[Position]) -> None:
        """Any thread, one at a time. `sent` gets the position, or the error of this message alone. Does not wait."""

    def flush(self) -> None:
        """Any thread. What waits for company is sent now."""

    async def close(self) -> None:
        """Flushes, waits for what is on its way, and fails what is left after the send time-out."""


Deliver = Callable[[Sequence[Incoming]], None]
"""Called on the engine's event loop."""


class Inlet(Protocol):
    """One consumer on some topics. It connects again by itself; what was not acknowledged may come again then."""

    @property
    def trouble(self) -> TallystickError | None:
        """Why nothing comes at present; None where all is well."""

    def taken(self, count: int) -> None:
        """Any thread. So many of the delivered messages have been taken: more may come."""

    def acknowledge(self, message: Incoming, *, cumulative: bool = False, done: Pending[None] | None = None) -> None:
        """Any thread. Sent with others after a short while; `done` waits for the broker's answer and makes it soon."""

    def reject(self, message: Incoming) -> None:
        """Any thread. It comes again, after the settings' delay."""

    def redeliver_all(self) -> None:
        """Any thread. All that is not acknowledged comes again."""

    async def seek(self, start: "StartAt | Position") -> None:
        """What is delivered next starts there; what was delivered before and not taken is dropped by the caller."""

    async def last_positions(self) -> Mapping[int, Position | None]:
        """The last message of every partition (−1: a topic without any); None where it is empty."""

    async def writer(self, topic: str, version: Version | None) -> SchemaDefinition | None:
        """The schema of a version of the topic's own subject, or (None) the latest; None where there is none.

        Raises `NotFound` for a version that is not there, and `Unavailable`.
        """

    async def unsubscribe(self) -> None: ...

    async def close(self) -> None:
        """Sends the acknowledgements that wait."""


class Transport(Protocol):
    """A connection to one cluster."""

    @property
    def keeps_schemas(self) -> bool:
        """Whether the cluster has a registry of its own, as Pulsar has."""

    async def open_outlet(self, topic: str, settings: ProducerSettings, definition: SchemaDefinition | None) -> Outlet:
        """Raises `IncompatibleSchema` with findings, `Unavailable`, `Unauthenticated`, `Forbidden`, `Busy`."""

    async def open_inlet(
        self, settings: ConsumerSettings, definition: SchemaDefinition | None, deliver: Deliver
    ) -> Inlet:
        """The same errors; `NotFound` for a topic that is not there and is not made."""

    async def latest_schema(self, topic: str) -> SchemaDefinition | None:
        """The latest schema of the topic's own subject; None where there is none, or the cluster keeps none."""

    async def schema(self, topic: str, version: Version) -> SchemaDefinition | None:
        """The schema of a version of the topic's own subject; None where the cluster keeps none.

        Raises `NotFound` for a version that is not there.
        """

    async def partitions(self, topic: str) -> int:
        """0 for a topic without any."""

    async def close(self) -> None: ...
