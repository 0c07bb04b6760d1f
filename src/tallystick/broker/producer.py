"""A producer that is attached to a topic."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tallystick.broker.traffic import Traffic
from tallystick.model.subject import Version

if TYPE_CHECKING:
    from tallystick.broker.topic import Topic


class ProducerConnection(Protocol):
    """What topics need of a producer's connection."""

    address: str
    client_version: str

    def close_producer(self, producer: "Producer") -> None:
        """Tells the client that its producer is closed; it comes back by itself."""


@dataclass(eq=False, slots=True)
class Producer:
    id: int
    name: str
    connection: ProducerConnection
    topic: "Topic"
    epoch: int = 0
    is_user_named: bool = False
    schema_version: Version | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    connected_ms: int = 0
    sent: Traffic = field(default_factory=Traffic)
