"""A producer on a topic with partitions."""

import asyncio
from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any

from tallystick.errors import InvalidArgument, TallystickError
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Outgoing
from tallystick.model.definition import SchemaDefinition
from tallystick.model.position import Position
from tallystick.model.subject import Version
from tallystick.transports.pulsar.partition_outlet import PartitionOutlet
from tallystick.transports.pulsar.topics import TopicName
from tallystick.wire.pulsar.hashing import java_string_hash


class PartitionedOutlet:
    """Implements `Outlet`. A key decides the partition as in Java's client; without one they take turns by batches."""

    def __init__(self, topic: TopicName, outlets: Sequence[PartitionOutlet]) -> None:
        self.topic = topic
        self.on_closed: Callable[[Any], object] = lambda _: None
        self._outlets = outlets
        self._turn = 0
        self._lock = Lock()

    @property
    def name(self) -> str:
        return self._outlets[0].name

    @property
    def version(self) -> Version | None:
        return self._outlets[0].version

    @property
    def pending(self) -> int:
        return sum(outlet.pending for outlet in self._outlets)

    async def attach(self, definition: SchemaDefinition) -> Version:
        return await self._outlets[0].attach(definition)

    def put(self, message: Outgoing, sent: Pending[Position]) -> None:
        try:
            outlet = self._outlet_of(message)
        except TallystickError as e:
            sent.fail(e)
        else:
            outlet.put(message, sent)

    def _outlet_of(self, message: Outgoing) -> PartitionOutlet:
        outlets = self._outlets
        if message.partition is not None:
            if not 0 <= message.partition < len(outlets):
                raise InvalidArgument(
                    "partition", f"topic {self.topic} has {len(outlets)}, from 0; there is no {message.partition}"
                )
            return outlets[message.partition]
        if message.key is not None:
            return outlets[key_hash(message.key, message.is_key_text) % len(outlets)]
        with self._lock:
            # Who stays until a batch is complete fills batches; who changed every time would fill none.
            if outlets[self._turn].is_idle:
                self._turn = (self._turn + 1) % len(outlets)
            return outlets[self._turn]

    def flush(self) -> None:
        for outlet in self._outlets:
            outlet.flush()

    async def close(self) -> None:
        await asyncio.gather(*(outlet.close() for outlet in self._outlets))
        self.on_closed(self)

    def abort(self, error: TallystickError) -> None:
        for outlet in self._outlets:
            outlet.abort(error)


@lru_cache(maxsize=10_000)
def key_hash(key: bytes, is_text: bool) -> int:
    """As Java's client: of the key as it travels."""
    try:
        return java_string_hash(key.decode() if is_text else b64encode(key).decode())
    except UnicodeDecodeError as e:
        raise InvalidArgument("key", f"{key[:60]!r} is not UTF-8; mark it as no text") from e
