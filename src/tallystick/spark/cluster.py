"""Cluster: where the topics are, who keeps their schemas, and who we are to both."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tallystick.errors import InvalidArgument, Unsupported
from tallystick.messaging.settings import Framing
from tallystick.model.naming import KafkaNaming
from tallystick.rest import Credentials

KAFKA, PULSAR = "kafka", "pulsar"


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster by its URL: `pulsar://…`, `pulsar+ssl://…` or `kafka://…`, and the registry beside it.

    The settings are those of `tallystick.Client`; `options` goes to Spark's Kafka connector, with `kafka.` before the
    names.
    """

    url: str
    registry: str | None = None
    credentials: Credentials | None = field(default=None, repr=False)
    registry_credentials: Credentials | None = field(default=None, repr=False)
    framing: Framing = Framing.TRANSPORT
    naming: KafkaNaming = KafkaNaming.TOPIC_NAME
    options: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "framing", Framing(self.framing))
        object.__setattr__(self, "naming", KafkaNaming(self.naming))
        if self.kind not in (KAFKA, PULSAR):
            raise InvalidArgument(
                "url",
                f"{self.url[:60]!r} names no cluster; write pulsar://HOST:PORT, pulsar+ssl://HOST:PORT or kafka://HOST:PORT",
            )
        if self.framing is Framing.HEADER and self.kind == PULSAR:
            raise Unsupported("only Kafka's messages have headers for schema ids; use framing='payload'")

    @property
    def kind(self) -> str:
        return self.url.partition("://")[0].removesuffix("+ssl")

    @property
    def is_framed(self) -> bool:
        """Whether records carry ids of the registry in frames or headers."""
        return self.kind == KAFKA or self.framing is not Framing.TRANSPORT
