"""A schema of one format as a schema of another: what it becomes, what is lost, and how values follow."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final

from tallystick.errors import InvalidArgument, InvalidRecord, Unsupported
from tallystick.finding import Finding
from tallystick.formats import Schema, parse
from tallystick.formats.avro.types import AvroSchema
from tallystick.formats.json_schema import JsonSchema
from tallystick.formats.protobuf import ProtobufSchema
from tallystick.model.definition import NO_REFERENCES, References, SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF, PROTOBUF_NATIVE, PULSAR_JSON, SchemaType
from tallystick.translate import (
    defaults,
    from_avro,
    from_json_schema,
    from_protobuf,
    to_avro,
    to_json_schema,
    to_protobuf,
)
from tallystick.translate.convert import converter
from tallystick.translate.fitting import Fitting
from tallystick.translate.for_protobuf import ForProtobuf
from tallystick.translate.losses import Losses
from tallystick.translate.mapping import FieldTranslation, field_translations
from tallystick.translate.names import is_full_name
from tallystick.translate.rule import CATALOGUE, Severity
from tallystick.translate.shape import Record, Shape, type_names

_FAMILIES: Final = {
    AVRO: AVRO,
    PULSAR_JSON: AVRO,
    JSON_SCHEMA: JSON_SCHEMA,
    PROTOBUF: PROTOBUF,
    PROTOBUF_NATIVE: PROTOBUF,
}
"""The types that can be translated, with the type whose values theirs are."""
TARGETS: Final = (AVRO, JSON_SCHEMA, PROTOBUF)


@dataclass(frozen=True, slots=True, eq=False)
class Translation:
    """`definition` is None where there is no translation; the findings say why, and what is lost where there is one.

    `source_shape` and `target_shape` are the same step by step: what stands at a place in the one became what stands
    there in the other. A wrapper (`Record.is_wrapper`) stands for the value in its one field.
    """

    source: Schema
    definition: SchemaDefinition | None
    findings: tuple[Finding, ...]
    source_shape: Shape
    target_shape: Shape

    def refused(self, allowed: Collection[str] = ()) -> list[Finding]:
        """The findings that stand against it: what is impossible, and every loss that is not allowed by its name."""
        known = {rule.name for rule in CATALOGUE.values() if rule.severity is Severity.LOSSY}
        for name in allowed:
            if name not in known:
                raise InvalidArgument("allow", f"{name!r} is no loss; known are {', '.join(sorted(known))}")
        return [
            finding
            for finding in self.findings
            if (rule := CATALOGUE[finding.rule]).severity is Severity.IMPOSSIBLE or rule.name not in allowed
        ]

    def fields(self) -> Iterator[FieldTranslation]:
        """Every place of a value with what it was and becomes; a record in itself is told once."""
        yield from field_translations(self.source_shape, self.target_shape)


def translate(
    schema: Schema | SchemaDefinition,
    to: SchemaType,
    *,
    name: str | None = None,
    references: References = NO_REFERENCES,
) -> Translation:
    """The schema as one of type AVRO, JSON_SCHEMA or PROTOBUF.

    `name` is the full name of the record, message or object where the source's own is not wanted, or where it has
    none. The translation of the same schema is always the same.
    """
    parsed = parse(schema, references) if isinstance(schema, SchemaDefinition) else schema
    source = parsed.definition.type
    if source not in _FAMILIES or to not in TARGETS:
        raise Unsupported(f"a schema of type {source} cannot be translated to {to}")
    if name is not None and not is_full_name(name):
        raise InvalidArgument("name", f"{name!r} is no name; use letters, digits and underscores, joined by dots")
    losses = Losses()
    shape = _read(parsed, losses, name)
    if to in (source, _FAMILIES[source]) and source != PROTOBUF_NATIVE and name is None:
        return _as_it_is(parsed, to, shape)
    _rename(shape, name)
    fitting = _fitting(to, _FAMILIES[source], losses, name)
    target = fitting.root(shape)
    if losses.is_possible:
        defaults.carry(fitting.pairs, _FAMILIES[source], to, losses)
    text = _text(fitting, target) if losses.is_possible else None
    definition = None if text is None else SchemaDefinition(to, text)
    return Translation(parsed, definition, tuple(losses.findings), shape, target)


def convert(translation: Translation) -> Callable[[Any], Any]:
    """A function from values as the codec of the source gives them to values as that of the target takes them.

    It raises `InvalidRecord` with the path of a part that has no counterpart. Raises `InvalidRecord` itself for a
    translation that is impossible.
    """
    if translation.definition is None:
        raise InvalidRecord("there is no translation, so no value can follow it", translation.findings)
    source = translation.source.definition.type
    if translation.source_shape is translation.target_shape:
        return lambda value: value
    return converter(translation.source_shape, translation.target_shape, _FAMILIES[source], translation.definition.type)


def _read(schema: Schema, losses: Losses, name: str | None) -> Shape:
    match schema:
        case AvroSchema():
            return from_avro.shape_of(schema, losses)
        case JsonSchema():
            return from_json_schema.shape_of(schema, losses, name)
        case ProtobufSchema():
            return from_protobuf.shape_of(schema, losses)
    raise AssertionError(f"{schema.definition.type} has a schema of its own")


def _as_it_is(schema: Schema, to: SchemaType, shape: Shape) -> Translation:
    was = schema.definition
    definition = was if was.type == to else SchemaDefinition(to, was.text, was.references)
    return Translation(schema, definition, (), shape, shape)


def _rename(shape: Shape, name: str | None) -> None:
    if name is None or not isinstance(shape, Record):
        return
    if name in type_names(shape) - {shape.name}:
        raise InvalidArgument("name", f"{name!r} is the name of another type of the schema")
    shape.name = name


def _fitting(to: SchemaType, source: SchemaType, losses: Losses, name: str | None) -> Fitting:
    if to == AVRO:
        return to_avro.ForAvro(losses, source)
    return to_json_schema.ForJsonSchema(losses) if to == JSON_SCHEMA else ForProtobuf(losses, source, name)


def _text(fitting: Fitting, target: Shape) -> str:
    if isinstance(fitting, ForProtobuf):
        assert isinstance(target, Record)
        return to_protobuf.text_of(target, fitting.package)
    return to_avro.text_of(target) if isinstance(fitting, to_avro.ForAvro) else to_json_schema.text_of(target)
