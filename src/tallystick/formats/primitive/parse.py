"""A type without a text is its name, and for STRING the character set in its properties."""

from dataclasses import dataclass

from tallystick.errors import InvalidSchema
from tallystick.finding import Place
from tallystick.formats.format import Schema
from tallystick.model import schema_type as types
from tallystick.model.definition import References, SchemaDefinition

CHARSET_PROPERTY = "__charset"
"""Where Pulsar's clients write the character set of a STRING schema; UTF-8 where they write none."""

# Java's standard names. Its UTF-16 without a byte order is left out: it depends on who reads it.
_CODECS = {
    "UTF-8": "utf-8",
    "US-ASCII": "ascii",
    "ISO-8859-1": "latin-1",
    "UTF-16BE": "utf-16-be",
    "UTF-16LE": "utf-16-le",
}


@dataclass(frozen=True, slots=True, eq=False)
class PrimitiveSchema(Schema):
    charset: str = "utf-8"
    """Python's name of the character set; it counts for STRING alone."""


def parse(definition: SchemaDefinition, references: References) -> PrimitiveSchema:
    if definition.text.strip():
        raise InvalidSchema(
            f"a schema of type {definition.type} has no text",
            Place("", 1, 1),
            "leave it empty, or name another type",
        )
    if definition.references:
        raise InvalidSchema(f"a schema of type {definition.type} refers to nothing", fix="remove the references")
    return PrimitiveSchema(definition, _charset(definition))


def _charset(definition: SchemaDefinition) -> str:
    name = definition.properties.get(CHARSET_PROPERTY, "UTF-8").upper()
    if definition.type == types.STRING and name not in _CODECS:
        raise InvalidSchema(
            f"the character set {name!r} is not known", fix=f"set {CHARSET_PROPERTY} to one of {', '.join(_CODECS)}"
        )
    return _CODECS.get(name, "utf-8")
