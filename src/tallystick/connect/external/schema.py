"""ExternalSchema: a schema whose definition a third-party registry keeps (PIP-420)."""

from dataclasses import replace
from threading import Lock
from typing import Generic, NoReturn, TypeVar

from tallystick.connect.external.failures import About, asking
from tallystick.connect.external.once import Once
from tallystick.connect.external.shared import RegistryShare
from tallystick.connect.external.writing import Own, Registering, Written, written
from tallystick.errors import InvalidArgument, InvalidRecord
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.schema_type import EXTERNAL, SchemaType
from tallystick.serde import records
from tallystick.serde.native import NativeSchema
from tallystick.serde.ports import SchemaLookup
from tallystick.serde.schema import EncodeData, Read, RegistrySettings, Schema, SchemaIdBytes
from tallystick.wire import external_id

T = TypeVar("T")

_WITHOUT_ID = (
    "the message has no schema id, so it was not written with a schema of a third-party registry; "
    "read it with the schema that it was written with"
)


class ExternalSchema(Schema[T], Generic[T]):
    """A native schema, with its definition in a registry.

    The first value for a topic registers it (or finds it there); after that, `encode` asks nobody. A payload is read
    by the definition that its id names, which is fetched once, into the program's own. Threads may share a schema, and
    so may producers and consumers: each calls `configure` when it begins and `close` when it ends. What was fetched
    before stays known after that, without a connection.
    """

    definition = SchemaDefinition(EXTERNAL)

    def __init__(
        self, native: NativeSchema[T], registry: RegistryShare, how: Registering | None = None, *, is_key: bool = False
    ) -> None:
        self.native = native
        self.is_key = is_key
        self._registry = registry
        self._how = how or Registering()
        self._written: Once[str, Written] = Once()
        self._readers: Once[tuple[str, bytes], Read[T]] = Once()
        self._lock = Lock()
        self._users = 0
        self._is_used_by_hand = False

    @property
    def kept_type(self) -> SchemaType:
        return self.native.definition.type

    def __repr__(self) -> str:
        return f"<ExternalSchema {self.native!r} at {self._registry.url}>"

    def configure(self, settings: RegistrySettings) -> None:
        """One more user. The registry stays the schema's own, whichever the client has."""
        with self._lock:
            if self._users == 0:
                self._registry.take()
            # Who has begun to use the schema and configures it only now is one and the same.
            self._users += 0 if self._is_used_by_hand else 1
            self._is_used_by_hand = False

    def close(self) -> None:
        """One user less; the last one gives the registry back. Who uses the schema after that takes it again."""
        with self._lock:
            if self._users == 1:
                self._registry.give_back()
            self._users = max(self._users - 1, 0)
            self._is_used_by_hand = False

    def encode(self, topic: str, value: T) -> EncodeData:
        known = self._at(topic)
        try:
            payload = self.native.to_payload(value)
            if known.rewrite is not None:
                payload = known.rewrite(payload)
        except InvalidRecord as e:
            raise known.about.unfit(e, "the value does not fit its schema") from e
        return EncodeData(payload, known.schema_id)

    def decode(self, topic: str, data: bytes, schema_id: SchemaIdBytes | None) -> T:
        return self.reader_of(topic, None, schema_id)(data, None)

    def prepare(self, topic: str, schema_id: SchemaIdBytes) -> None:
        self.reader_of(topic, None, schema_id)

    def as_key(self) -> "ExternalSchema[T]":
        return self if self.is_key else ExternalSchema(self.native, self._registry, self._how, is_key=True)

    def schema_id_for(self, topic: str) -> bytes:
        """The id that the topic's messages get: registers the schema where `encode` would."""
        return self._at(topic).schema_id

    def reader_of(
        self,
        topic: str,
        writer: SchemaDefinition | None,
        schema_id: SchemaIdBytes | None,
        references: References = NO_REFERENCES,
    ) -> Read[T]:
        """By the id, where a message has one; else by the writer's definition, which frames of Kafka lead to."""
        if isinstance(schema_id, bytes):
            place = topic, schema_id
            return self._readers.get(place, lambda: self._by_id(topic, schema_id))
        about = About(topic, self._registry.url)
        if schema_id is not None:
            return _refusing(about, "the message has two schema ids, of a key and a value; read it as a KeyValueSchema")
        if writer is None or writer.type == EXTERNAL:
            return _refusing(about, _WITHOUT_ID)
        return _telling(about, self.native.reader_of(topic, writer, None, references))

    def _at(self, topic: str) -> Written:
        return self._written.get(topic, lambda: self._register(topic))

    def _register(self, topic: str) -> Written:
        own = Own(self.native.definition, self.native.references, self.is_key)
        return written(own, topic, self._lookup(), self._registry.url, self._how)

    def _by_id(self, topic: str, schema_id: bytes) -> Read[T]:
        about = About(topic, self._registry.url)
        try:
            id_ = external_id.read(schema_id)
        except InvalidArgument as e:
            raise about.error(f"{e.message}; its registry is another one than this schema's") from e
        about = replace(about, schema_id=id_.schema)
        with asking(about, "read with the registry that the producer used"):
            lookup, namespace = self._lookup(), self._how.naming.namespace_of(topic)
            definition = lookup.by_id(id_.schema, namespace)
            references = lookup.referenced(definition, namespace) if definition.references else NO_REFERENCES
            definition = records.with_message(definition, references, id_.message)
            return _telling(about, self.native.reader_of(topic, definition, None, references))

    def _lookup(self) -> SchemaLookup:
        """Who uses the schema by hand, without a producer or consumer, only closes it."""
        with self._lock:
            if self._users == 0:
                self._registry.take()
                self._users, self._is_used_by_hand = 1, True
        return self._registry.lookup()


def _telling(about: About, read: Read[T]) -> Read[T]:
    def telling(payload: bytes, key: bytes | None) -> T:
        try:
            return read(payload, key)
        except InvalidRecord as e:
            raise about.unfit(e, "the payload cannot be read") from e

    return telling


def _refusing(about: About, reason: str) -> Read[T]:
    """A message that cannot be read raises when it is read: the half of a pair may have no id, and no payload."""

    def refusing(payload: bytes, key: bytes | None) -> NoReturn:
        raise about.error(reason)

    return refusing
