"""AutoProduceBytes(): bytes that follow the schema which their topic has when the producer opens."""

import asyncio

from tallystick.errors import NotFound
from tallystick.model.definition import NO_REFERENCES, SchemaDefinition
from tallystick.model.schema_type import EXTERNAL
from tallystick.rest import RegistryClient
from tallystick.serde.auto_produce import AutoProduceBytes
from tallystick.serde.native import NativeSchema
from tallystick.serde.subjects import Naming


async def bound(
    schema: AutoProduceBytes,
    topic: str,
    kept: SchemaDefinition | None,
    registry: RegistryClient | None,
    naming: Naming,
) -> AutoProduceBytes:
    """By what the cluster keeps; where that is nothing of its own, by the latest version in the registry.

    Raises `InvalidArgument` where subjects are named after records: which one it is, only a schema tells.
    """
    if registry is not None and (kept is None or kept.type == EXTERNAL):
        latest = await asyncio.to_thread(_latest, topic, registry, naming)
        if latest is not None:
            return AutoProduceBytes(latest)
    schema.bind(kept)
    return schema


def _latest(topic: str, registry: RegistryClient, naming: Naming) -> NativeSchema[object] | None:
    subject = naming.subject(topic, None)
    try:
        definition = registry.by_version(str(subject)).definition
    except NotFound:
        return None
    references = registry.referenced(definition, subject.namespace) if definition.references else NO_REFERENCES
    return NativeSchema(definition, references=references)
