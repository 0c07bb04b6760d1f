"""Which subject a topic has: how Pulsar and how Kafka's clients name it."""

import re
from enum import StrEnum

from tallystick.errors import InvalidArgument
from tallystick.model.subject import Subject, subject_of

_PARTITION = re.compile(r"-partition-\d+$")
_NAME = re.compile(r"[-=:.\w]{1,200}", re.ASCII)


def namespace_named(tenant: str, namespace: str) -> str:
    """`tenant/namespace`, of names that Pulsar allows."""
    for name in (tenant, namespace):
        if _NAME.fullmatch(name) is None:
            raise InvalidArgument(
                "namespace", f"{name[:60]!r} is no name of a tenant or namespace: use letters, digits and - = : . _"
            )
    return f"{tenant}/{namespace}"


def pulsar_subject(tenant: str, namespace: str, topic: str) -> Subject:
    """The topic's own name in its namespace; all partitions of a topic share one subject."""
    namespace = namespace_named(tenant, namespace)
    return Subject(namespace, subject_of(_PARTITION.sub("", topic) or topic).name)


class KafkaNaming(StrEnum):
    """Kafka has one subject for the key and one for the value of a record."""

    TOPIC_NAME = "TopicNameStrategy"
    RECORD_NAME = "RecordNameStrategy"
    TOPIC_RECORD_NAME = "TopicRecordNameStrategy"


def kafka_subject(
    topic: str, record: str | None = None, *, is_key: bool = False, naming: KafkaNaming = KafkaNaming.TOPIC_NAME
) -> str:
    """`record` is the full name of the schema's record; the two strategies that use it need one."""
    if naming is KafkaNaming.TOPIC_NAME:
        return f"{topic}-{'key' if is_key else 'value'}"
    if record is None:
        raise InvalidArgument("subject", f"{naming} takes it from the name of a record, and the schema has none")
    return record if naming is KafkaNaming.RECORD_NAME else f"{topic}-{record}"
