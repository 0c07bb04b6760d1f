"""Schema: what producers and consumers encode and decode with."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from tallystick.errors import SchemaSerializationError
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.schema_type import EXTERNAL, SchemaType
from tallystick.serde.ports import SchemaLookup
from tallystick.wire.pulsar.schemas import KeyValueIds

T = TypeVar("T")
SchemaIdBytes = bytes | KeyValueIds

Read = Callable[[bytes, bytes | None], T]
"""Payload and key of a message → its value. The key counts only where it is a part of the value."""


class EncodeData(NamedTuple):
    """The payload of a value, and the id that a third-party registry gave its schema."""

    data: bytes | None
    schema_id: SchemaIdBytes | None = None
    key: bytes | None = None
    """Where the key is a part of the value and travels apart from it."""


@dataclass(frozen=True, slots=True)
class RegistrySettings:
    """What schemas get from the client that uses them: its registry, where it has one, and nothing to close."""

    lookup: SchemaLookup | None = None
    topic: str = ""


class Schema(ABC, Generic[T]):
    """Three methods make a schema of any third-party registry (PIP-420).

    `encode` finds or registers what it needs and returns the payload with the schema's id; `decode` gets both back;
    `close` is called when the producer or consumer is closed. They may block, and raise `SchemaSerializationError`.
    """

    definition: SchemaDefinition = SchemaDefinition(EXTERNAL)
    """What the broker is told. EXTERNAL: that somebody else keeps the schema."""

    @property
    def kept_type(self) -> SchemaType | None:
        """The type of what a third-party registry keeps, where it is one of ours: frames of Protobuf say more."""
        return None

    @abstractmethod
    def encode(self, topic: str, value: T) -> EncodeData: ...

    @abstractmethod
    def decode(self, topic: str, data: bytes, schema_id: SchemaIdBytes | None) -> T: ...

    def close(self) -> None:
        """Gives back what the schema holds."""

    def configure(self, settings: RegistrySettings) -> None:
        """Called once, before the first message, with the registry of the client."""

    def prepare(self, topic: str, schema_id: SchemaIdBytes) -> None:
        """Fetches what `decode` will need for this id, so that reading a value does not wait. Optional."""

    def reader_of(
        self,
        topic: str,
        writer: SchemaDefinition | None,
        schema_id: SchemaIdBytes | None,
        references: References = NO_REFERENCES,
    ) -> Read[T]:
        """How messages of one writer's schema are read.

        `writer` is what the cluster or the client's registry keeps, with what it refers to; None: it knows of none.
        """
        return lambda payload, key: self.decode(topic, payload, schema_id)

    def as_key(self) -> "Schema[T]":
        """The schema for the keys of a pair: registries may keep them under other names than the values."""
        return self

    def schema_id_for(self, topic: str) -> SchemaIdBytes:
        """The id of this schema for a topic, registered where it is not there yet: for bytes that are encoded already.

        Optional; without it `AutoProduceBytes` cannot send for the schema.
        """
        raise SchemaSerializationError(
            f"topic {topic}: {type(self).__name__} does not tell its schema id without a value; "
            "send values with it, or give it a method schema_id_for(topic)"
        )
