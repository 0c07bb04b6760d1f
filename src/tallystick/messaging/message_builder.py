"""A message that is put together step by step, as in Pulsar's clients."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tallystick.messaging.message import NewMessage
from tallystick.messaging.pending import Pending
from tallystick.model.position import Position
from tallystick.serde.schema import Schema

if TYPE_CHECKING:
    from tallystick.messaging.producer import Producer

T = TypeVar("T")


class MessageBuilder(Generic[T]):
    def __init__(self, producer: "Producer[Any]", schema: Schema[T] | None) -> None:
        self._producer = producer
        self._message: NewMessage[T] = NewMessage(None, schema)

    def value(self, value: T | None) -> "MessageBuilder[T]":
        self._message.value = value
        return self

    def key(self, key: str | bytes) -> "MessageBuilder[T]":
        self._message.key = key
        return self

    def ordering_key(self, key: bytes) -> "MessageBuilder[T]":
        self._message.ordering_key = key
        return self

    def property(self, name: str, value: str) -> "MessageBuilder[T]":
        self._message.properties = {**self._message.properties, name: value}
        return self

    def properties(self, properties: Mapping[str, str]) -> "MessageBuilder[T]":
        self._message.properties = {**self._message.properties, **properties}
        return self

    def event_time(self, time: datetime) -> "MessageBuilder[T]":
        self._message.event_time = time
        return self

    def deliver_at(self, time: datetime) -> "MessageBuilder[T]":
        self._message.deliver_at = time
        return self

    def deliver_after(self, delay: timedelta) -> "MessageBuilder[T]":
        return self.deliver_at(datetime.now(UTC) + delay)

    def sequence_id(self, number: int) -> "MessageBuilder[T]":
        self._message.sequence_id = number
        return self

    def partition(self, number: int) -> "MessageBuilder[T]":
        self._message.partition = number
        return self

    def send(self) -> Position:
        return self._producer.send_message(self._message)

    def send_async(self) -> Pending[Position]:
        return self._producer.submit(self._message)
