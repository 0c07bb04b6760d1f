"""Which schema the lines of `tally topic produce` have: one that is given, or the topic's latest."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tallystick.cli.faults import unusable
from tallystick.cli.topic_cluster import ClusterOptions, Connected
from tallystick.errors import InvalidSchema, NotFound, UnknownSchemaType
from tallystick.formats import Schema as ParsedSchema
from tallystick.formats import format_of, parse
from tallystick.formats.key_value import KeyValueSchema as ParsedPair
from tallystick.formats.protobuf.types import ProtobufSchema as ParsedProtobuf
from tallystick.model import schema_type as types
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.serde import records
from tallystick.serde.key_value import KeyValueSchema
from tallystick.serde.native import NativeSchema
from tallystick.serde.protobuf import ProtobufNativeSchema
from tallystick.serde.schema import Schema
from tallystick.serde.subjects import Naming

if TYPE_CHECKING:
    from tallystick.rest import RegistryClient

_WITHOUT_JSON = (types.STRING, types.BYTES, types.NONE)
_WITH_TEXT = (types.AVRO, types.JSON_SCHEMA, types.PROTOBUF, types.PROTOBUF_NATIVE, types.PULSAR_JSON)
_SHORT = {"JSON": types.JSON_SCHEMA}


@dataclass(frozen=True, slots=True)
class ChosenSchema:
    definition: SchemaDefinition
    references: References
    parsed: ParsedSchema

    @property
    def takes_lines(self) -> bool:
        """Whether each line is a value as it is, and not JSON."""
        return self.definition.type in _WITHOUT_JSON

    def schema(self) -> Schema[Any]:
        """What a producer sends with."""
        return _schema_of(self.parsed, self.references)

    @property
    def record(self) -> str | None:
        return records.record_name(self.definition, self.references) if self.definition.text else None


def type_named(text: str) -> SchemaType:
    """`avro`, `json`, `pulsar-json`, `int32` …; raises `BadInput`."""
    name = text.upper().replace("-", "_")
    wanted = _SHORT.get(name, SchemaType(name))
    try:
        format_of(wanted)
    except (UnknownSchemaType, InvalidSchema) as e:
        raise unusable(f"--type {text}: {e.message}") from e
    return wanted


def chosen(
    cluster: ClusterOptions, connected: Connected, topic: str, file: str | None, schema_type: SchemaType | None
) -> ChosenSchema:
    """Raises `BadInput` where nothing says which schema is meant."""
    if file is not None:
        given = _of_file(file, schema_type)
        return given if cluster.is_framed or connected.registry is not None else _as_pulsar_keeps_it(given, file)
    if schema_type is not None:
        return _without_text(schema_type)
    found = _latest(cluster, connected, topic)
    if found is None:
        raise unusable(
            f"{topic} has no schema yet, and none is given",
            fix="give --schema FILE, or send each line as it is with --type string or --type bytes",
        )
    return found


def _of_file(file: str, schema_type: SchemaType | None) -> ChosenSchema:
    from tallystick.cli import evaluation

    [loaded] = evaluation.load([file], schema_type)
    return ChosenSchema(loaded.definition, loaded.references, evaluation.parsed(loaded))


def _as_pulsar_keeps_it(found: ChosenSchema, file: str) -> ChosenSchema:
    if found.definition.type == types.JSON_SCHEMA:
        raise unusable(
            "Pulsar keeps no JSON Schema; its own JSON type is described by an Avro schema",
            file=file,
            fix="give --registry URL, which keeps it, or an Avro schema with --type pulsar-json",
        )
    if not isinstance(found.parsed, ParsedProtobuf) or found.parsed.root is None or found.parsed.is_native:
        return found
    definition = ProtobufNativeSchema(found.parsed.types.record_class(found.parsed.root)).definition
    return ChosenSchema(definition, NO_REFERENCES, parse(definition))


def _without_text(schema_type: SchemaType) -> ChosenSchema:
    if schema_type in (*_WITH_TEXT, types.PULSAR_PROTOBUF, types.KEY_VALUE, types.EXTERNAL):
        raise unusable(f"a schema of type {schema_type} has a text", fix="give it with --schema FILE")
    definition = SchemaDefinition(schema_type)
    return ChosenSchema(definition, NO_REFERENCES, parse(definition))


def _latest(cluster: ClusterOptions, connected: Connected, topic: str) -> ChosenSchema | None:
    registry = connected.registry
    if registry is not None:
        return _latest_in(registry, topic)
    definition = None if cluster.is_framed else connected.client.schema(topic)
    if definition is None:
        return None
    if definition.type == types.EXTERNAL:
        raise unusable(
            f"a registry of its own keeps the schemas of {topic}; the cluster does not know them",
            fix="give --registry URL",
        )
    return ChosenSchema(definition, NO_REFERENCES, parse(definition, is_lenient=True))


def _latest_in(registry: "RegistryClient", topic: str) -> ChosenSchema | None:
    subject = Naming().subject(topic, None)
    try:
        definition = registry.by_version(str(subject)).definition
    except NotFound:
        return None
    references = registry.referenced(definition, subject.namespace) if definition.references else NO_REFERENCES
    return ChosenSchema(definition, references, parse(definition, references, is_lenient=True))


def _schema_of(parsed: ParsedSchema, references: References) -> Schema[Any]:
    if isinstance(parsed, ParsedPair):
        return KeyValueSchema(_schema_of(parsed.key, references), _schema_of(parsed.value, references), parsed.encoding)
    schema = NativeSchema[Any](parsed.definition, references=references)
    # Parsed already, and leniently where the cluster has let it in before.
    schema.parsed = parsed
    return schema
