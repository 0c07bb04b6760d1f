"""Names of topics, as Pulsar writes them."""

import re
from dataclasses import dataclass

from tallystick.errors import InvalidArgument, Unsupported
from tallystick.model.naming import namespace_named, pulsar_subject
from tallystick.model.subject import DEFAULT_NAMESPACE, Subject

_PARTITION = re.compile(r"(.+)-partition-(\d{1,9})")
LONGEST_NAME = 1000
"""Of topics, subscriptions, producers."""


@dataclass(frozen=True, slots=True, order=True)
class TopicName:
    """`persistent://tenant/namespace/local`; one partition of a topic is a topic of its own, `…-partition-N`."""

    namespace: str
    local: str

    def __str__(self) -> str:
        return f"persistent://{self.namespace}/{self.local}"

    @property
    def partition(self) -> int | None:
        found = _PARTITION.fullmatch(self.local)
        return int(found[2]) if found else None

    @property
    def whole(self) -> "TopicName":
        """The partitioned topic that this is a partition of, or the topic itself."""
        found = _PARTITION.fullmatch(self.local)
        return TopicName(self.namespace, found[1]) if found else self

    @property
    def subject(self) -> Subject:
        tenant, _, namespace = self.namespace.partition("/")
        return pulsar_subject(tenant, namespace, self.local)

    def of_partition(self, number: int) -> "TopicName":
        return TopicName(self.namespace, f"{self.local}-partition-{number}")


def topic_name(text: str) -> TopicName:
    """`my-topic`, `tenant/namespace/topic` or the whole name. Raises `InvalidArgument`."""
    domain, separator, rest = text.partition("://")
    if not separator:
        rest, domain = text, "persistent"
        if "/" not in text:
            rest = f"{DEFAULT_NAMESPACE}/{text}"
    if domain == "non-persistent":
        raise Unsupported(f"topic {text[:200]!r}: every topic of this broker is durable; name it persistent://…")
    parts = rest.split("/", 2)
    if domain != "persistent" or len(parts) != 3 or not parts[2] or len(text) > LONGEST_NAME:
        raise InvalidArgument("topic", f"{text[:200]!r} is none; write persistent://tenant/namespace/topic")
    if not parts[2].isprintable() or "/" in parts[2]:
        raise InvalidArgument("topic", f"{text[:200]!r} has characters that a name cannot have")
    return TopicName(namespace_named(parts[0], parts[1]), parts[2])
