"""Dead letters: messages that cannot be used, as they came, with the reason."""

import json
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from tallystick.errors import InvalidArgument
from tallystick.messaging.message import Message, NewMessage, shown_id
from tallystick.messaging.pending import Pending
from tallystick.messaging.settings import DeadLetter
from tallystick.model.position import Position

ORIGIN_TOPIC, ORIGIN_POSITION = "dead-letter-topic", "dead-letter-position"
ORIGIN_SUBSCRIPTION, REASON, FINDINGS = "dead-letter-subscription", "dead-letter-reason", "dead-letter-findings"
SCHEMA_VERSION, SCHEMA_ID = "dead-letter-schema-version", "dead-letter-schema-id"


class Burying(Protocol):
    """The producer that dead letters need."""

    def submit(self, message: NewMessage[Any]) -> Pending[Position]: ...

    def close_async(self) -> Pending[None]: ...


class DeadLetters:
    def __init__(
        self,
        settings: DeadLetter,
        subscription: str | None,
        open_producer: Callable[[str], Awaitable[Burying]],
    ) -> None:
        self.after = settings.after
        self._topic = settings.topic
        self._subscription = subscription
        self._open_producer = open_producer
        self._producers: dict[str, Burying] = {}

    def is_due(self, message: Message[Any]) -> bool:
        return self.after is not None and message.redelivery_count > self.after

    async def send(self, message: Message[Any], error: BaseException | None) -> Position:
        topic = self._topic_of(message)
        if topic not in self._producers:
            self._producers[topic] = await self._open_producer(topic)
        letter: NewMessage[bytes] = NewMessage(
            message.payload,
            key=message.key_bytes,
            properties={**message.properties, **self._told(message, error)},
            event_time=message.event_time,
        )
        return await self._producers[topic].submit(letter)

    async def close(self) -> None:
        for producer in self._producers.values():
            await producer.close_async()

    def _topic_of(self, message: Message[Any]) -> str:
        if self._topic is not None:
            return self._topic
        if self._subscription is None:
            raise InvalidArgument("dead_letter", "a reader has no subscription to name the topic after; name one")
        return f"{message.topic}-{self._subscription}-DLQ"

    def _told(self, message: Message[Any], error: BaseException | None) -> dict[str, str]:
        told = {ORIGIN_TOPIC: message.topic, ORIGIN_POSITION: str(message.position)}
        if self._subscription is not None:
            told[ORIGIN_SUBSCRIPTION] = self._subscription
        told[REASON] = f"redelivered {message.redelivery_count} times" if error is None else str(error)
        findings = getattr(error, "findings", ())
        if findings:
            told[FINDINGS] = json.dumps([finding.as_dict() for finding in findings], ensure_ascii=False)
        if message.schema_version is not None:
            told[SCHEMA_VERSION] = str(message.schema_version)
        if message.schema_id is not None:
            told[SCHEMA_ID] = shown_id(message.schema_id)
        return told
