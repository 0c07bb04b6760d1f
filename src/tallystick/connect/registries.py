"""Schemas that third-party registries keep: `ConfluentSchemas(url).avro(…)`, `OpenSchemas(url).json(…)` (PIP-420)."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from tallystick.connect.external.failures import About, asking
from tallystick.connect.external.imports import imports_of
from tallystick.connect.external.schema import ExternalSchema
from tallystick.connect.external.shared import GivenRegistry, OwnRegistry
from tallystick.connect.external.writing import Registering
from tallystick.model.definition import NO_REFERENCES, Reference, References, SchemaDefinition
from tallystick.model.naming import KafkaNaming, namespace_named
from tallystick.model.schema_type import AVRO
from tallystick.model.subject import DEFAULT_NAMESPACE, namespace_of
from tallystick.rest import Credentials, RegistryClient
from tallystick.rest.connection import Retries
from tallystick.serde.avro import AvroSchema
from tallystick.serde.json_schema import JsonSchema
from tallystick.serde.native import NativeSchema
from tallystick.serde.ports import SchemaLookup
from tallystick.serde.protobuf import ProtobufSchema
from tallystick.serde.sources import JsonText
from tallystick.serde.subjects import Naming

T = TypeVar("T")

Referred = References | Sequence[Reference]
"""What a schema refers to: with the definitions, or without them, and then they are fetched from the registry."""

_ATTEMPTS = 3


class RegistrySchemas:
    """Makes schemas of one registry, which share a connection to it.

    The connection is open while a producer or consumer uses one of the schemas. A factory that is closed, by hand or
    at the end of its `with`, closes it for all of them and for good.
    """

    def __init__(self, registry: OwnRegistry | GivenRegistry, how: Registering) -> None:
        self.url = registry.url
        self._registry = registry
        self._how = how

    @overload
    def avro(self, source: type[T], *, namespace: str | None = None) -> ExternalSchema[T]: ...

    @overload
    def avro(self, source: JsonText, *, references: Referred = ()) -> ExternalSchema[dict[str, Any]]: ...

    def avro(self, source: Any, *, namespace: str | None = None, references: Referred = ()) -> ExternalSchema[Any]:
        """From what `AvroSchema` takes."""
        given: dict[str, Any] = {"namespace": namespace, "references": self._contents(references)}
        native: NativeSchema[Any] = AvroSchema(source, **given)
        return self._external(native)

    @overload
    def json(self, source: type[T]) -> ExternalSchema[T]: ...

    @overload
    def json(self, source: JsonText, *, references: Referred = ()) -> ExternalSchema[dict[str, Any]]: ...

    def json(self, source: Any, *, references: Referred = ()) -> ExternalSchema[Any]:
        """From what `JsonSchema` takes."""
        native: NativeSchema[Any] = JsonSchema(source, references=self._contents(references))
        return self._external(native)

    @overload
    def protobuf(self, source: type[T], *, references: Referred | None = None) -> ExternalSchema[T]: ...

    @overload
    def protobuf(
        self, source: str, *, message: str | None = None, references: Referred | None = None
    ) -> ExternalSchema[dict[str, Any]]: ...

    def protobuf(
        self,
        source: Any,
        *,
        message: str | None = None,
        references: Referred | None = None,
    ) -> ExternalSchema[Any]:
        """From what `ProtobufSchema` takes. What a generated class imports is registered under the imports' names."""
        known = imports_of(source) if references is None else self._contents(references)
        native: NativeSchema[Any] = ProtobufSchema(source, message=message, references=known)
        return self._external(native)

    def _external(self, native: NativeSchema[Any]) -> ExternalSchema[Any]:
        return ExternalSchema(native, self._registry, self._how)

    def _contents(self, references: Referred) -> References:
        if isinstance(references, Mapping):
            return references
        if not references:
            return NO_REFERENCES
        namespace = self._how.naming.namespace or DEFAULT_NAMESPACE
        asked = SchemaDefinition(AVRO, references=tuple(references))
        self._registry.take()
        try:
            with asking(About(None, self.url), "register what the schema refers to first"):
                return self._registry.lookup().referenced(asked, namespace)
        finally:
            self._registry.give_back()

    def close(self) -> None:
        """Closes the connection that the factory made."""
        if isinstance(self._registry, OwnRegistry):
            self._registry.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class ConfluentSchemas(RegistrySchemas):
    """Schemas of a registry with Confluent's API: Confluent's own, Karapace, Apicurio, ours.

    `url` may hold user and password. A schema is registered when the first value for a topic is written, under the
    subject that `naming` gives (`serde.subjects`); with `auto_register=False` it must be there already. `use_latest`
    writes values with the latest version that is there when the first one is written, and registers nothing; what
    that version lacks of a value is left out. `normalize` lets the registry compare schemas rather than texts.
    `namespace` (`tenant/namespace`, or a Confluent context: `.name`) holds the subjects of all topics; without it,
    each topic's own. A question to the registry takes at most about `timeout_s`, with all its attempts. A `lookup`
    that is given is used in place of an own connection, and not closed.
    """

    def __init__(
        self,
        url: str,
        *,
        credentials: Credentials | None = None,
        naming: KafkaNaming | str = KafkaNaming.TOPIC_NAME,
        auto_register: bool = True,
        use_latest: bool = False,
        normalize: bool = False,
        namespace: str | None = None,
        timeout_s: float = 10.0,
        lookup: SchemaLookup | None = None,
    ) -> None:
        how = Registering(_naming(naming, namespace), auto_register, use_latest, normalize)
        super().__init__(_registry(url, "confluent", credentials, timeout_s, lookup), how)


class OpenSchemas(RegistrySchemas):
    """Schemas of a registry with OpenSchema's API. The settings are those of `ConfluentSchemas`."""

    def __init__(
        self,
        url: str,
        *,
        credentials: Credentials | None = None,
        naming: KafkaNaming | str = KafkaNaming.TOPIC_NAME,
        auto_register: bool = True,
        use_latest: bool = False,
        namespace: str | None = None,
        timeout_s: float = 10.0,
        lookup: SchemaLookup | None = None,
    ) -> None:
        how = Registering(_naming(naming, namespace), auto_register, use_latest)
        super().__init__(_registry(url, "openschema", credentials, timeout_s, lookup), how)


def _registry(
    url: str, dialect: str, credentials: Credentials | None, timeout_s: float, lookup: SchemaLookup | None
) -> OwnRegistry | GivenRegistry:
    if lookup is not None:
        return GivenRegistry(lookup, url)
    per_attempt_s, retries = timeout_s / _ATTEMPTS, Retries(_ATTEMPTS)
    return OwnRegistry(
        lambda: RegistryClient(url, dialect, credentials=credentials, timeout_s=per_attempt_s, retries=retries)
    )


def _naming(naming: KafkaNaming | str, namespace: str | None) -> Naming:
    if namespace is None:
        return Naming(KafkaNaming(naming))
    if namespace.startswith("."):
        return Naming(KafkaNaming(naming), namespace_of(namespace))
    tenant, _, name = namespace.partition("/")
    return Naming(KafkaNaming(naming), namespace_named(tenant, name))
