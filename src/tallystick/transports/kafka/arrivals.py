"""librdkafka's messages as ours."""

from collections.abc import Mapping, Sequence
from typing import Any

from confluent_kafka import TIMESTAMP_CREATE_TIME

from tallystick.messaging.ports import NO_MARK, Incoming
from tallystick.model.position import KafkaPosition
from tallystick.transports.kafka.claims import Claim, Claims
from tallystick.transports.kafka.clients import log
from tallystick.wire.confluent_frame import KEY_HEADER, VALUE_HEADER

REPLICATED_FROM = "replicated_from"
"""The header that says which cluster a message comes from."""
NO_PROPERTIES: Mapping[str, str] = {}
_NOT_PROPERTIES = frozenset({REPLICATED_FROM, KEY_HEADER, VALUE_HEADER})


def arrived(messages: Sequence[Any], claims: Claims) -> list[Incoming]:
    """Those that are to be delivered; not what belongs to partitions that are gone, nor what is acknowledged already.

    On the way of every message, so it looks up and asks as little as it can.
    """
    incoming: list[Incoming] = []
    topic, partition, claim = "", -1, None
    for message in messages:
        if message.error() is not None:
            log.warning("Kafka, topic %s: %s", message.topic(), message.error())
            continue
        offset = message.offset()
        if message.partition() != partition or message.topic() != topic:
            topic, partition = message.topic(), message.partition()
            claim = claims.get(topic, partition)
        if claim is None:
            continue
        redeliveries: int | None = 0
        if offset == claim.progress.expected and not claim.progress.is_rewound:
            claim.progress.expected = offset + 1
        else:
            redeliveries = _redeliveries(claims, claim, offset)
        if redeliveries is not None:
            incoming.append(_incoming(message, topic, KafkaPosition(partition, offset), redeliveries, claim))
    return incoming


def size_of(messages: Sequence[Any]) -> int:
    return sum(map(len, messages))


def _redeliveries(claims: Claims, claim: Claim, offset: int) -> int | None:
    """None: the message is acknowledged already."""
    with claims.lock:
        return claim.progress.redeliveries(offset) if claim.progress.arrives(offset) else None


def _incoming(message: Any, topic: str, position: KafkaPosition, redeliveries: int, claim: Claim) -> Incoming:
    key, headers = message.key(), message.headers()
    kind, time_ms = message.timestamp()
    # By place: by name it would take twice as long.
    incoming = Incoming(
        topic,
        position,
        message.value(),
        NO_MARK,
        key,
        key is None or key.isascii() or _is_text(key),
        NO_PROPERTIES,
        time_ms if kind == TIMESTAMP_CREATE_TIME else None,
        time_ms,
        None,
        None,
        redeliveries,
        None,
        (),
        claim,
    )
    if headers:
        _add_headers(incoming, headers)
    return incoming


def _add_headers(incoming: Incoming, headers: Sequence[tuple[str, bytes | None]]) -> None:
    """All as they came; those that are text are properties too."""
    incoming.headers = [(name, value or b"") for name, value in headers]
    properties = {}
    for name, value in incoming.headers:
        if name == REPLICATED_FROM:
            incoming.replicated_from = value.decode(errors="replace")
        elif name not in _NOT_PROPERTIES:
            try:
                properties[name] = value.decode()
            except UnicodeDecodeError:
                continue
    incoming.properties = properties


def _is_text(key: bytes) -> bool:
    try:
        key.decode()
    except UnicodeDecodeError:
        return False
    return True
