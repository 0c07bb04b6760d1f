"""Settings of a Kafka cluster, and what librdkafka is told of them."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tallystick.errors import InvalidArgument
from tallystick.messaging.settings import Compression, ConsumerSettings, ProducerSettings

Option = str | int | bool

_OURS = frozenset(
    {
        "bootstrap.servers",
        "metadata.broker.list",
        "client.id",
        "group.id",
        "enable.auto.commit",
        "enable.auto.offset.store",
    }
)
"""What this transport decides itself; with another value it would not keep its promises."""
_CODECS = {Compression.ZLIB: "gzip"}


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSettings:
    servers: str
    """`host:port`, with commas between several."""
    options: Mapping[str, Option] = field(default_factory=dict, repr=False)
    """librdkafka's, by its names: SASL, TLS and whatever else. They win over what producers and consumers ask for."""
    operation_timeout_s: float = 30.0
    """How long opening, seeking and the like may take."""
    fetched_bytes: int = 64 * 1024 * 1024
    """The most that waits, delivered and not taken, for one consumer."""

    def __post_init__(self) -> None:
        for name, value in self.options.items():
            if name in _OURS:
                raise InvalidArgument(name, "this option of Kafka is set by Tallystick; leave it out")
            if not isinstance(value, str | int):
                raise InvalidArgument(name, f"an option of Kafka is a text, a number or a truth value, not {value!r}")


def producer_config(settings: KafkaSettings, producer: ProducerSettings) -> dict[str, Option]:
    return {
        "bootstrap.servers": settings.servers,
        "client.id": producer.name or _name("producer"),
        "enable.idempotence": True,
        # As Java's clients do, so that a key goes to the same partition whoever sends it.
        "partitioner": "murmur2_random",
        "linger.ms": _ms(producer.batch_delay_s),
        "batch.size": producer.batch_bytes,
        "batch.num.messages": producer.batch_messages,
        "compression.type": _CODECS.get(producer.compression, producer.compression.value),
        "delivery.timeout.ms": _ms(producer.send_timeout_s),
        "queue.buffering.max.messages": producer.max_pending,
        **settings.options,
    }


def consumer_config(settings: KafkaSettings, consumer: ConsumerSettings) -> dict[str, Any]:
    return {
        "bootstrap.servers": settings.servers,
        "client.id": consumer.name or _name("consumer"),
        # librdkafka wants a group even of a reader, which never joins it.
        "group.id": consumer.subscription or _name("reader"),
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "allow.auto.create.topics": True,
        # Only for places that the broker has deleted meanwhile: where a new group begins is looked up by ourselves.
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
        # It is thrown away when a slow program makes us pause, so not the 64 MiB of the default.
        "queued.max.messages.kbytes": 16 * 1024,
        **settings.options,
    }


def admin_config(settings: KafkaSettings) -> dict[str, Option]:
    return {"bootstrap.servers": settings.servers, "client.id": _name("admin"), **settings.options}


def is_incremental(config: Mapping[str, Any]) -> bool:
    """Whether a rebalance names only the partitions that come or go."""
    strategy, protocol = config.get("partition.assignment.strategy", ""), config.get("group.protocol", "classic")
    return "cooperative" in str(strategy) or protocol == "consumer"


def _name(role: str) -> str:
    return f"tallystick-{role}-{secrets.token_hex(4)}"


def _ms(seconds: float) -> int:
    return max(0, round(seconds * 1000))
