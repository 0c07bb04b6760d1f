"""KEY_VALUE text to a pair of schemas."""

from collections.abc import Iterator
from dataclasses import dataclass

from tallystick.errors import BadRequest, InvalidSchema, UnknownSchemaType
from tallystick.finding import Place
from tallystick.formats import catalogue, json_source
from tallystick.formats.format import Schema
from tallystick.formats.key_value import source
from tallystick.formats.key_value.source import HALVES, Half, HalfText
from tallystick.model import schema_type as types
from tallystick.model.definition import Reference, References, SchemaDefinition
from tallystick.model.key_value import KeyValueEncoding
from tallystick.model.schema_type import SchemaType

_STRUCTS = frozenset(
    {
        types.AVRO,
        types.JSON_SCHEMA,
        types.PROTOBUF,
        types.PROTOBUF_NATIVE,
        types.PULSAR_JSON,
        types.PULSAR_PROTOBUF,
    }
)
_TEXT_OF = {types.PULSAR_JSON: types.AVRO, types.PULSAR_PROTOBUF: types.AVRO}
_REFERRING = _STRUCTS - {types.PROTOBUF_NATIVE} | {types.KEY_VALUE}


@dataclass(frozen=True, slots=True, eq=False)
class KeyValueSchema(Schema):
    encoding: KeyValueEncoding
    key: Schema
    value: Schema

    def half(self, half: Half) -> Schema:
        return self.key if half == "key" else self.value

    def place(self, half: Half, inner: Place | None) -> Place:
        """A place within a half: its path goes on from the half's, its line is where the half's schema stands."""
        return _place(self.definition.text, half, "schema", inner)


def parse(definition: SchemaDefinition, references: References) -> KeyValueSchema:
    return _parse(definition, references, 1)


def _parse(definition: SchemaDefinition, references: References, level: int) -> KeyValueSchema:
    text = source.load(definition.text, level)
    key, value = (_half(definition, references, half, getattr(text, half), level) for half in HALVES)
    schema = KeyValueSchema(definition, text.encoding, key, value)
    _refuse_mix(schema)
    return schema


def _half(definition: SchemaDefinition, references: References, half: Half, text: HalfText, level: int) -> Schema:
    kept = tuple(r for r in definition.references if _is_for(text.type, r, references))
    inner = SchemaDefinition(text.type, text.schema, kept, text.properties)
    try:
        if text.type == types.KEY_VALUE:
            return _parse(inner, references, level + 1)
        # The type is Pulsar's own, so its halves are read as Pulsar reads them.
        return catalogue.parse(inner, references, is_lenient=True)
    except (InvalidSchema, UnknownSchemaType) as e:
        raise _within(definition.text, half, e) from e


def _is_for(kind: SchemaType, reference: Reference, references: References) -> bool:
    """A half gets the references that its own language can use; one that is missing is for the half to report."""
    if kind not in _REFERRING:
        return False
    if kind == types.KEY_VALUE or reference not in references:
        return True
    return _language(references[reference].type) == _language(kind)


def _language(kind: SchemaType) -> SchemaType:
    return _TEXT_OF.get(kind, kind)


def _within(text: str, half: Half, error: BadRequest) -> InvalidSchema:
    inner = error.place if isinstance(error, InvalidSchema) else None
    reason = error.reason if isinstance(error, InvalidSchema) else error.message
    fix = error.fix if isinstance(error, InvalidSchema) else None
    where = f" (line {inner.line}, column {inner.column} of its text)" if inner and inner.line else ""
    step = "schema" if isinstance(error, InvalidSchema) else "type"
    return InvalidSchema(f"in the {half}{where}: {reason}", _place(text, half, step, inner), fix)


def _place(text: str, half: Half, step: str, inner: Place | None) -> Place:
    at = json_source.place(text, (half, step))
    if at.line is None:
        at = json_source.place(text, (half,))
    return Place(f"/{half}{inner.path if inner else ''}", at.line, at.column)


def _refuse_mix(schema: KeyValueSchema) -> None:
    kinds = set(leaf_types(schema))
    structs = sorted(kinds & _STRUCTS)
    if types.EXTERNAL in kinds and structs:
        raise InvalidSchema(
            f"EXTERNAL and {structs[0]} cannot stand in one KEY_VALUE schema: one registry keeps both halves",
            Place(""),
            "make both halves EXTERNAL, or neither; a primitive goes with either",
        )


def leaf_types(schema: Schema) -> Iterator[SchemaType]:
    """The types that a schema holds in the end: its own, or those of its halves."""
    if isinstance(schema, KeyValueSchema):
        yield from leaf_types(schema.key)
        yield from leaf_types(schema.value)
    else:
        yield schema.definition.type
