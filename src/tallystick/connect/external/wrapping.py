"""Native schemas, kept by a third-party registry instead of the cluster."""

from typing import Any, TypeVar, cast

from tallystick.connect.external.schema import ExternalSchema
from tallystick.connect.external.shared import GivenRegistry
from tallystick.connect.external.writing import Registering
from tallystick.errors import Unsupported
from tallystick.model.naming import KafkaNaming
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF
from tallystick.rest import RegistryClient
from tallystick.serde.auto_produce import AutoProduceBytes
from tallystick.serde.key_value import KeyValueSchema
from tallystick.serde.native import NativeSchema
from tallystick.serde.ports import SchemaLookup
from tallystick.serde.primitive import PrimitiveSchema
from tallystick.serde.schema import Schema
from tallystick.serde.subjects import Naming

T = TypeVar("T")

KEPT = (AVRO, JSON_SCHEMA, PROTOBUF)
"""The types that registries of schemas have. Primitives need nobody who keeps them."""


def as_external(
    schema: Schema[T],
    lookup: SchemaLookup,
    *,
    naming: KafkaNaming = KafkaNaming.TOPIC_NAME,
    namespace: str | None = None,
    auto_register: bool = True,
    use_latest: bool = False,
    normalize: bool = False,
) -> Schema[T]:
    """The same schema, with its definition in the given registry, which stays the caller's to close.

    Both halves of a pair that have a definition go there, and what `AutoProduceBytes` checks. Primitives, and schemas
    that are third-party's already, stay what they are. Raises `Unsupported` for types that only Pulsar's own registry
    knows.
    """
    how = Registering(Naming(naming, namespace), auto_register, use_latest, normalize)
    url = lookup.url if isinstance(lookup, RegistryClient) else "its own address"
    return cast("Schema[T]", _wrapped(schema, GivenRegistry(lookup, url), how))


def _wrapped(schema: Schema[Any], registry: GivenRegistry, how: Registering) -> Schema[Any]:
    if isinstance(schema, KeyValueSchema):
        key, value = (_wrapped(half, registry, how) for half in (schema.key, schema.value))
        is_same = key is schema.key and value is schema.value
        return schema if is_same else KeyValueSchema(key, value, schema.encoding)
    if isinstance(schema, AutoProduceBytes) and schema.schema is not None:
        return AutoProduceBytes(_wrapped(schema.schema, registry, how))
    if not isinstance(schema, NativeSchema) or isinstance(schema, PrimitiveSchema):
        return schema
    if schema.definition.type not in KEPT:
        raise Unsupported(
            f"schemas of type {schema.definition.type} are known to Pulsar's own registry alone; "
            f"use one of {', '.join(KEPT)}, or a client without registry="
        )
    return ExternalSchema(schema, registry, how)
