"""Messages as programs see them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, TypeVar

from tallystick.errors import InvalidRecord, TallystickError
from tallystick.finding import Finding, Place
from tallystick.messaging.ports import Incoming
from tallystick.model.definition import SchemaDefinition
from tallystick.model.position import Position
from tallystick.model.subject import SchemaId, Version
from tallystick.serde.schema import Read, Schema, SchemaIdBytes
from tallystick.wire.pulsar.schemas import KeyValueIds

T = TypeVar("T")
V = TypeVar("V")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNREAD: Any = object()


@dataclass(slots=True)
class NewMessage(Generic[T]):
    """A message that is to be sent. A value of None is a tombstone: the key has no value any more."""

    value: T | None
    schema: Schema[T] | None = None
    """None: the producer's own."""
    key: str | bytes | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    event_time: datetime | None = None
    deliver_at: datetime | None = None
    ordering_key: bytes | None = None
    partition: int | None = None
    sequence_id: int | None = None
    replicated_from: str | None = None


@dataclass(frozen=True, slots=True)
class Writer:
    """The schema that messages were written with, and how they are read."""

    read: Read[Any]
    definition: SchemaDefinition | None = None
    version: Version | None = None
    schema_id: SchemaId | SchemaIdBytes | None = None
    error: TallystickError | None = None
    """Why messages of it cannot be read."""
    reads_keys: bool = False
    """Whether the key is half of the value, so that a message without payload has one."""


class Message(Generic[T]):
    """A message that was received. Its value is decoded when it is asked for."""

    __slots__ = ("_incoming", "_value", "_writer")

    def __init__(self, incoming: Incoming, writer: Writer) -> None:
        self._incoming = incoming
        self._writer = writer
        self._value = _UNREAD

    def __repr__(self) -> str:
        return f"<Message {self.topic} {self.position}>"

    @property
    def value(self) -> T:
        """Decoded by the writer's schema into the reader's; None for a tombstone (of a pair: its value's half).

        Raises `InvalidRecord` with findings where the payload does not fit, and whatever kept the writer's schema away.
        """
        if self._value is _UNREAD:
            self._value = self._read()
        return self._value  # type: ignore[no-any-return]

    def _read(self) -> Any:
        incoming, writer = self._incoming, self._writer
        if writer.error is not None:
            raise self._told(writer.error)
        if incoming.payload is None and not (writer.reads_keys and incoming.key is not None):
            return None
        try:
            return writer.read(incoming.payload, incoming.key)  # type: ignore[arg-type]  # readers of pairs take None
        except InvalidRecord as e:
            raise self._told(e) from e

    def _told(self, error: TallystickError) -> TallystickError:
        if not isinstance(error, InvalidRecord):
            return error
        return InvalidRecord(f"topic {self.topic}, message {self.position}: {error.message}", error.findings)

    @property
    def topic(self) -> str:
        return self._incoming.topic

    @property
    def position(self) -> Position:
        return self._incoming.position

    @property
    def partition(self) -> int:
        """−1 on a topic without partitions."""
        return self._incoming.position.partition

    @property
    def payload(self) -> bytes | None:
        """The bytes as they came, with a frame where the topic has one; None for a tombstone."""
        return self._incoming.payload

    @property
    def is_tombstone(self) -> bool:
        return self._incoming.payload is None

    @property
    def key(self) -> str | None:
        """Raises `InvalidRecord` for a key that is no text; `key_bytes` has it."""
        key = self._incoming.key
        try:
            return None if key is None else key.decode()
        except UnicodeDecodeError as e:
            raise _key_is_no_text(self.topic, self.position) from e

    @property
    def key_bytes(self) -> bytes | None:
        return self._incoming.key

    @property
    def properties(self) -> Mapping[str, str]:
        return self._incoming.properties

    @property
    def event_time(self) -> datetime | None:
        return _time(self._incoming.event_time_ms)

    @property
    def publish_time(self) -> datetime | None:
        return _time(self._incoming.publish_time_ms)

    @property
    def producer_name(self) -> str | None:
        return self._incoming.producer_name

    @property
    def sequence_id(self) -> int | None:
        return self._incoming.sequence_id

    @property
    def redelivery_count(self) -> int:
        return self._incoming.redelivery_count

    @property
    def replicated_from(self) -> str | None:
        return self._incoming.replicated_from

    @property
    def schema_version(self) -> Version | None:
        """In the topic's own subject, from 1; None where the cluster keeps no schemas, or the message has none."""
        return self._writer.version

    @property
    def schema_id(self) -> SchemaId | SchemaIdBytes | None:
        """What the message carries: a number in a frame or header, or the bytes of a third-party registry."""
        return self._writer.schema_id

    @property
    def schema(self) -> SchemaDefinition | None:
        """The schema that it was written with, where it is known."""
        return self._writer.definition

    @property
    def incoming(self) -> Incoming:
        """As the transport delivered it."""
        return self._incoming


def milliseconds(time: datetime) -> int:
    """Since 1970; a time without a zone is local time."""
    return int((time.astimezone(UTC) - _EPOCH) / timedelta(milliseconds=1))


def shown_id(schema_id: SchemaId | SchemaIdBytes) -> str:
    """A schema id for people: a number as it is, bytes in hexadecimal, a pair with a slash."""
    if isinstance(schema_id, KeyValueIds):
        return f"{schema_id.key.hex()}/{schema_id.value.hex()}"
    return schema_id.hex() if isinstance(schema_id, bytes) else str(schema_id)


def _time(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else _EPOCH + timedelta(milliseconds=milliseconds)


def _key_is_no_text(topic: str, position: Position) -> InvalidRecord:
    reason = f"topic {topic}, message {position}: the key is no UTF-8 text; key_bytes has it"
    finding = Finding(
        rule="MESSAGE_KEY_NOT_TEXT",
        message=reason,
        fix="read it as bytes with key_bytes",
        old=Place(""),
        new=Place(""),
    )
    return InvalidRecord(reason, [finding])
