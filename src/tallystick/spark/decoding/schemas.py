"""The schemas of a topic's records, as the driver learns them."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from tallystick.connect.client import Client
from tallystick.errors import InvalidArgument, InvalidRecord, InvalidSchema, NotFound, TallystickError
from tallystick.finding import Finding, Place
from tallystick.formats import Schema, parse
from tallystick.model import schema_type as types
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.subject import DEFAULT_NAMESPACE
from tallystick.rest import RegistryClient
from tallystick.serde.native import NativeSchema
from tallystick.serde.ports import RegisteredSchema
from tallystick.serde.records import record_name, with_message
from tallystick.serde.schema import Schema as ClientSchema
from tallystick.serde.subjects import Naming
from tallystick.spark.cluster import Cluster
from tallystick.wire import external_id, schema_frame

UNKNOWN = "RECORD_SCHEMA_UNKNOWN"
UNTOLD = "RECORD_SCHEMA_UNTOLD"
LATEST = "latest"

Reader = str | int | SchemaDefinition | ClientSchema[Any]
"""Which schema values are read by: "latest", a version of the topic's subject, or a schema."""
_GUID_BYTES = 16
_MOST_KEPT = 16


@dataclass(frozen=True, slots=True)
class Told:
    """What a record tells of its schema: the columns of the same names."""

    topic: str
    schema_id: int | None
    schema_version: int | None
    schema_mark: bytes | None


@dataclass(frozen=True, slots=True)
class Known:
    """A schema with all that it refers to."""

    definition: SchemaDefinition
    references: References = field(hash=False, compare=False)
    parsed: Schema = field(hash=False, compare=False)

    @property
    def name(self) -> str | None:
        return record_name(self.definition, self.references)


@dataclass(frozen=True, slots=True)
class Writer:
    """What is known of the schema that some records were written with, or why nothing is."""

    told: Told
    schema: Known | None = None
    version: int | None = None
    """In the topic's subject."""
    is_framed: bool = False
    """Whether Protobuf's payloads begin with the path to their message."""
    finding: Finding | None = None


class Schemas:
    """Asks the cluster and its registry, each question once. Not for several threads at a time."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._naming = Naming(cluster.naming)
        self._registry: RegistryClient | None = None
        self._client: Client | None = None
        self._writers: dict[Told, Writer] = {}
        self._kept: dict[Hashable, object] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._registry is not None:
            self._registry.close()
        if self._client is not None:
            self._client.close()
        self._registry = self._client = None

    def writer(self, told: Told) -> Writer:
        """Raises `Unavailable`; what is not there is a writer with a finding, and is asked for again next time."""
        known = self._writers.get(told)
        if known is None:
            known = self._asked(told)
            if known.finding is None:
                self._writers[told] = known
        return known

    def kept(self, key: Hashable, make: Callable[[], object]) -> object:
        """What was made of the schemas, for as long as they are the same; only the last few."""
        if key not in self._kept:
            while len(self._kept) >= _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = make()
        return self._kept[key]

    def reader(self, topics: Sequence[str], wanted: Reader) -> Known:
        """The schema to read all these topics by; bytes where there are none, and so no records.

        Raises `InvalidArgument` where they have different ones.
        """
        if isinstance(wanted, NativeSchema):
            return _known(wanted.definition, wanted.references)
        if isinstance(wanted, SchemaDefinition):
            return self._with_references(wanted, DEFAULT_NAMESPACE)
        if not isinstance(wanted, str | int) or (isinstance(wanted, str) and wanted != LATEST):
            raise InvalidArgument("reader", f"{wanted!r} is none; give {LATEST!r}, a version, or a schema with a text")
        version = wanted if isinstance(wanted, int) else None
        if not topics:
            return _known(SchemaDefinition(types.BYTES), NO_REFERENCES)
        found = {topic: self.of_topic(topic, version) for topic in topics}
        if len({known.definition for known in found.values()}) > 1:
            raise InvalidArgument(
                "reader",
                f"the topics {', '.join(sorted(found))} have different schemas; read them one by one, with "
                "decode_each, or give the schema to read all of them by",
            )
        return next(iter(found.values()))

    def of_topic(self, topic: str, version: int | None = None) -> Known:
        """A version of a topic's schema, the latest where none is named. Raises `NotFound`."""
        return self._of_topic(topic, version, None)

    def of_record(self, topic: str, record: str) -> Known:
        """The latest schema of the subject that a topic's records of this name have. Raises `NotFound`."""
        return self._of_topic(topic, None, record)

    def _of_topic(self, topic: str, version: int | None, record: str | None) -> Known:
        if not self.cluster.is_framed:
            definition = self._of_cluster(topic, version)
            if definition is None:
                return _known(SchemaDefinition(types.BYTES), NO_REFERENCES)
            if definition.type != types.EXTERNAL:
                return _known(definition, NO_REFERENCES)
        subject = self._naming.subject(topic, record if self._naming.needs_record else None)
        registered = self._lookup().by_version(str(subject), version)
        return self._with_references(registered.definition, subject.namespace)

    def registered(self, subject: str, definition: SchemaDefinition) -> RegisteredSchema:
        return self._lookup().register(subject, definition)

    def attached(self, topic: str, known: Known) -> int | None:
        """Get or create: the version of a schema in a topic's own subject. Raises `IncompatibleSchema`."""
        schema: NativeSchema[object] = NativeSchema(known.definition, references=known.references)
        producer = self._connected().producer(topic, schema)
        try:
            return producer.schema_version
        finally:
            producer.close()

    def _asked(self, told: Told) -> Writer:
        try:
            return self._by_frame(told) if self.cluster.is_framed else self._by_metadata(told)
        except NotFound as e:
            return Writer(told, finding=_unknown(told, e))
        except (InvalidSchema, InvalidArgument) as e:
            return Writer(told, finding=_unusable(told, e))
        except InvalidRecord as e:
            return Writer(told, finding=e.findings[0])

    def _by_frame(self, told: Told) -> Writer:
        namespace = self._naming.namespace_of(told.topic)
        if told.schema_id is not None:
            definition = self._lookup().by_id(told.schema_id, namespace)
        elif told.schema_mark is not None and len(told.schema_mark) == _GUID_BYTES:
            definition = self._lookup().by_guid(UUID(bytes=told.schema_mark))
        else:
            raise schema_frame.unreadable("the value does not begin with the id of a schema")
        known = self._with_references(definition, namespace)
        return Writer(told, known, self._version(told.topic, known), is_framed=True)

    def _by_metadata(self, told: Told) -> Writer:
        definition = None if told.schema_version is None else self._of_cluster(told.topic, told.schema_version)
        if told.schema_mark:
            return self._external(told, told.schema_mark)
        if definition is None:
            return Writer(told, finding=None if told.schema_version is not None else _untold(told))
        if definition.type == types.EXTERNAL:
            return Writer(told, finding=_untold(told))
        return Writer(told, _known(definition, NO_REFERENCES), told.schema_version)

    def _external(self, told: Told, mark: bytes) -> Writer:
        id_ = external_id.read(mark)
        namespace = self._naming.namespace_of(told.topic)
        known = self._with_references(self._lookup().by_id(id_.schema, namespace), namespace)
        chosen = with_message(known.definition, known.references, id_.message)
        return Writer(told, _known(chosen, known.references), told.schema_version)

    def _version(self, topic: str, known: Known) -> int | None:
        """In the subject that the topic's records have; None where they have another one."""
        try:
            subject = self._naming.subject(topic, known.name if self._naming.needs_record else None)
            return self._lookup().look_up(str(subject), known.definition).version
        except (NotFound, InvalidArgument):
            return None

    def _with_references(self, definition: SchemaDefinition, namespace: str) -> Known:
        references = self._lookup().referenced(definition, namespace) if definition.references else NO_REFERENCES
        return _known(definition, references)

    def _of_cluster(self, topic: str, version: int | None) -> SchemaDefinition | None:
        return self._connected().schema(topic, version)

    def _connected(self) -> Client:
        if self._client is None:
            self._client = Client(self.cluster.url, credentials=self.cluster.credentials)
        return self._client

    def _lookup(self) -> RegistryClient:
        if self._registry is None:
            if self.cluster.registry is None:
                raise InvalidArgument(
                    "registry", f"the records of {self.cluster.url} tell ids, and the cluster has no registry to ask"
                )
            self._registry = RegistryClient(self.cluster.registry, credentials=self.cluster.registry_credentials)
        return self._registry


def _known(definition: SchemaDefinition, references: References) -> Known:
    return Known(definition, references, parse(definition, references, is_lenient=True))


def shown(told: Told) -> str:
    if told.schema_id is not None:
        return f"schema id {told.schema_id}"
    if told.schema_mark:
        return f"schema {told.schema_mark.hex()}"
    return f"version {told.schema_version}"


def _unknown(told: Told, cause: TallystickError) -> Finding:
    message = f"topic {told.topic}: the record tells {shown(told)}, which the registry does not have: {cause.message}"
    fix = "register the schema that it was written with, or read with the registry that its producer used"
    return Finding(rule=UNKNOWN, message=message, fix=fix, old=Place(""), new=Place(""))


def _unusable(told: Told, cause: TallystickError) -> Finding:
    message = f"topic {told.topic}: the record tells {shown(told)}, which cannot be read by: {cause.message}"
    return Finding(rule=UNKNOWN, message=message, fix="correct the schema and send the record again", new=Place(""))


def _untold(told: Told) -> Finding:
    message = f"topic {told.topic}: the record does not tell its schema"
    fix = "send it by a producer with a schema, or read the topic as bytes"
    return Finding(rule=UNTOLD, message=message, fix=fix, old=Place(""), new=Place(""))
