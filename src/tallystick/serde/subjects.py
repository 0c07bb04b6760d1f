"""Which subject of a third-party registry has the schema of a topic.

The names are Kafka's, so that a topic of Pulsar and one of Kafka share their schemas: `orders-value`. Pulsar's
namespaces are the registry's contexts: the topic `acme/shop/orders` has `:.acme.shop:orders-value`, and a topic of
`public/default` has no context. Registries without contexts take that as one long name, so that topics of the same
name in two namespaces never share a subject by accident. Who wants them to gives one namespace for all.
"""

import re
from dataclasses import dataclass

from tallystick.errors import InvalidArgument
from tallystick.model.naming import KafkaNaming, kafka_subject, namespace_named
from tallystick.model.subject import DEFAULT_NAMESPACE, Subject, subject_of

_DOMAINS = ("persistent", "non-persistent")
_PARTITION = re.compile(r"-partition-\d+$")


@dataclass(frozen=True, slots=True)
class Naming:
    strategy: KafkaNaming = KafkaNaming.TOPIC_NAME
    namespace: str | None = None
    """One for all topics; None: each topic's own."""

    @property
    def needs_record(self) -> bool:
        """Whether subjects are named after the schema's record."""
        return self.strategy is not KafkaNaming.TOPIC_NAME

    def namespace_of(self, topic: str) -> str:
        """Where the ids of a topic's messages count."""
        return self.namespace or _split(topic)[0]

    def subject(self, topic: str, record: str | None, *, is_key: bool = False) -> Subject:
        """`record` is the full name of the schema's record, which some strategies need."""
        own, local = _split(topic)
        name = kafka_subject(local, record, is_key=is_key, naming=self.strategy)
        return Subject(self.namespace or own, subject_of(name).name)


def _split(topic: str) -> tuple[str, str]:
    """Namespace and name of a topic; Kafka's have no namespace."""
    domain, separator, rest = topic.partition("://")
    if separator and domain not in _DOMAINS:
        raise _no_topic(topic)
    if "/" not in topic:
        return DEFAULT_NAMESPACE, topic
    parts = (rest if separator else topic).split("/", 2)
    if len(parts) != 3 or not parts[2]:
        raise _no_topic(topic)
    return namespace_named(parts[0], parts[1]), _PARTITION.sub("", parts[2]) or parts[2]


def _no_topic(topic: str) -> InvalidArgument:
    return InvalidArgument("topic", f"{topic[:200]!r} is none; write a name, or persistent://tenant/namespace/name")
