"""Clusters and the topics on them, as a pipeline file names them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tallystick.finding import Place
from tallystick.model.naming import KafkaNaming
from tallystick.pipeline.words import Framing

KAFKA = "kafka"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Who we are. The fields are those of `tallystick.rest.Credentials`; files are whole paths."""

    username: str | None = None
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    key_password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A broker, its registry, and who we are to both. The fields are those of `tallystick.spark.Cluster`."""

    name: str
    url: str
    place: Place
    registry: str | None = None
    credentials: Credentials | None = field(default=None, repr=False)
    registry_credentials: Credentials | None = field(default=None, repr=False)
    framing: Framing = Framing.TRANSPORT
    naming: KafkaNaming = KafkaNaming.TOPIC_NAME
    options: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)

    @property
    def kind(self) -> str:
        """`kafka` or `pulsar`."""
        return self.url.partition("://")[0].removesuffix("+ssl")

    @property
    def is_framed(self) -> bool:
        """Whether records carry ids of the registry in frames or headers."""
        return self.kind == KAFKA or self.framing is not Framing.TRANSPORT


@dataclass(frozen=True, slots=True, kw_only=True)
class FromTopics:
    """Topics of one cluster to read: by their names, or all that a pattern fits."""

    cluster: str
    place: Place
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    framing: Framing | None = None
    """None: the cluster's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToTopic:
    """A topic of one cluster to write to."""

    cluster: str
    topic: str
    place: Place
    framing: Framing | None = None
    """None: the cluster's."""
