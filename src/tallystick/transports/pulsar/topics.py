"""Topics: their names, as people write them and as the protocol wants them, and what they are told of schemas."""

import re
from dataclasses import dataclass

from tallystick.errors import InvalidArgument
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.naming import namespace_named
from tallystick.model.subject import DEFAULT_NAMESPACE
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.schemas import wire_schema

_WITHOUT_SCHEMA = {types.BYTES, types.NONE}
_PARTITION = re.compile(r"(.+)-partition-(\d{1,9})")
_DOMAINS = {"persistent", "non-persistent"}


@dataclass(frozen=True, slots=True)
class TopicName:
    """`domain://tenant/namespace/local`. `given` is how the caller writes it, without a partition."""

    domain: str
    namespace: str
    local: str
    given: str
    partition: int = -1

    def __str__(self) -> str:
        number = "" if self.partition < 0 else f"-partition-{self.partition}"
        return f"{self.domain}://{self.namespace}/{self.local}{number}"

    def of_partition(self, number: int) -> "TopicName":
        return TopicName(self.domain, self.namespace, self.local, self.given, number)


def topic_name(text: str) -> TopicName:
    """`orders`, `tenant/namespace/orders` or the whole name, maybe of one partition. Raises `InvalidArgument`."""
    domain, separator, rest = text.partition("://")
    if not separator:
        domain, rest = "persistent", text if "/" in text else f"{DEFAULT_NAMESPACE}/{text}"
    parts = rest.split("/", 2)
    if domain not in _DOMAINS or len(parts) != 3 or not parts[2] or "/" in parts[2] or not parts[2].isprintable():
        raise InvalidArgument(
            "topic",
            f"{text[:200]!r} is none; write a name, tenant/namespace/name or persistent://tenant/namespace/name",
        )
    namespace = namespace_named(parts[0], parts[1])
    found = _PARTITION.fullmatch(parts[2])
    if found is None:
        return TopicName(domain, namespace, parts[2], text)
    given = text[: -len(f"-partition-{found[2]}")]
    return TopicName(domain, namespace, found[1], given, int(found[2]))


def schema_to_tell(definition: SchemaDefinition | None, topic: TopicName) -> pb.Schema | None:
    """Bytes have no schema, and neither has who takes what the topic has."""
    if definition is None or definition.type in _WITHOUT_SCHEMA:
        return None
    return wire_schema(definition, topic.local)
