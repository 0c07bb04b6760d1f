"""How the values of a topic are written: which schema of the registry they have, and its id."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tallystick.compat import reading
from tallystick.connect.external.failures import About, asking, told
from tallystick.errors import IncompatibleSchema, Unsupported
from tallystick.finding import Direction
from tallystick.formats import Schema as ParsedSchema
from tallystick.formats import format_of, identity, parse
from tallystick.formats.references import dependencies_first
from tallystick.model.definition import Reference, References, SchemaDefinition
from tallystick.model.schema_type import JSON_SCHEMA
from tallystick.model.subject import Subject, subject_of
from tallystick.serde import records
from tallystick.serde.ports import RegisteredSchema, SchemaLookup
from tallystick.serde.subjects import Naming
from tallystick.wire import external_id
from tallystick.wire.confluent_frame import FIRST_MESSAGE
from tallystick.wire.external_id import ExternalId

_FIX_LOOK_UP = "register the schema first, or let the producer do it with auto_register=True"
_FIX_LATEST = "register a first version of the schema, or let the producer do it with use_latest=False"


@dataclass(frozen=True, slots=True)
class Registering:
    """What of a schema may reach the registry, and under which name."""

    naming: Naming = field(default_factory=Naming)
    auto_register: bool = True
    """Whether a schema that is not there yet becomes the next version; else it must be there."""
    use_latest: bool = False
    """Whether values are written with the latest version that is there, whatever the program's own schema says."""
    normalize: bool = False
    """Whether the registry compares schemas rather than texts."""


@dataclass(frozen=True, slots=True)
class Own:
    """The program's own schema, as it would be registered."""

    definition: SchemaDefinition
    references: References
    is_key: bool = False

    def parsed(self) -> ParsedSchema:
        return parse(self.definition, self.references, is_lenient=True)


@dataclass(frozen=True, slots=True)
class Written:
    """What the messages of one topic have in common."""

    about: About
    schema_id: bytes
    rewrite: Callable[[bytes], bytes] | None = None
    """From the program's own schema to the one of the id, where they differ."""


def written(own: Own, topic: str, lookup: SchemaLookup, url: str, how: Registering) -> Written:
    """Registers or finds the schema of a topic. Raises what `asking` raises."""
    about = About(topic, url)
    with asking(about, _FIX_LOOK_UP):
        record = records.record_name(own.definition, own.references) if how.naming.needs_record else None
        subject = how.naming.subject(topic, record, is_key=own.is_key)
    about = replace(about, subject=str(subject))
    with asking(about, _FIX_LATEST if how.use_latest else _FIX_LOOK_UP):
        found = _found(own, subject, lookup, how)
        if found.id is None:
            raise Unsupported("its schemas have no ids, and a message needs one; use Confluent's or OpenSchema's API")
        about = replace(about, schema_id=found.id)
        target = _latest(own, found, lookup) if how.use_latest else own
        path = records.message_path(target.definition, target.references) or FIRST_MESSAGE
        rewrite = None if target is own else _rewriting(own, target, found.version)
        return Written(about, external_id.write(ExternalId(found.id, path)), rewrite)


def _found(own: Own, subject: Subject, lookup: SchemaLookup, how: Registering) -> RegisteredSchema:
    if how.use_latest:
        return lookup.by_version(str(subject))
    ask = lookup.register if how.auto_register else lookup.look_up
    placed = _referring(own, subject.namespace, lambda name, each: ask(name, each, normalize=how.normalize))
    return ask(str(subject), placed, normalize=how.normalize)


def _referring(own: Own, namespace: str, ask: Callable[[str, SchemaDefinition], RegisteredSchema]) -> SchemaDefinition:
    """The definition with what it refers to in the registry, each under the version that it has there."""
    placed: dict[Reference, Reference] = {}
    for reference, definition in dependencies_first(own.definition, own.references):
        subject = subject_of(reference.subject, namespace)
        found = ask(str(subject), _moved(definition, placed))
        placed[reference] = replace(reference, version=found.version)
    return _moved(own.definition, placed)


def _moved(definition: SchemaDefinition, placed: dict[Reference, Reference]) -> SchemaDefinition:
    return replace(definition, references=tuple(placed[each] for each in definition.references))


def _latest(own: Own, latest: RegisteredSchema, lookup: SchemaLookup) -> Own:
    """The latest version in place of the program's own schema, unless they are one and the same."""
    definition = latest.definition
    if own.definition.type == definition.type and identity(own.definition) == identity(definition):
        return own
    # The registry does not keep which message of a file the records are.
    named = replace(definition, properties=own.definition.properties)
    return replace(own, definition=named, references=lookup.referenced(definition, latest.subject.namespace))


def _rewriting(own: Own, target: Own, version: int) -> Callable[[bytes], bytes]:
    """What the program writes, as a reader of the other schema sees it. Fields that this one lacks are lost."""
    kind = target.definition.type
    source, sink = own.parsed(), target.parsed()
    # JSON Schema's values are held against the other schema one by one: that says more than comparing the two.
    is_json = own.definition.type == kind == JSON_SCHEMA
    findings = [] if is_json else reading.findings(source, sink, Direction.BACKWARD)
    if findings:
        reason = f"its latest version, {version}, cannot take what this schema writes: {told(findings)}"
        raise IncompatibleSchema(reason, findings)
    format_ = format_of(kind)
    return lambda payload: format_.encode(sink, format_.decode(source, payload, sink))
