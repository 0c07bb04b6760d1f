"""Schemas that a pipeline file names: what records are read by, and what they are written with."""

from dataclasses import dataclass

from tallystick.finding import Place
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import SchemaType


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaFile:
    """A file with a schema that has been read and can be parsed."""

    path: str
    definition: SchemaDefinition
    place: Place


Reader = str | int | SchemaFile
"""`"latest"`, a version, or the schema of a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """How records are written: by the schema of a file, by one that is derived, or by the latest of a subject."""

    place: Place
    subject: str | None = None
    """None: the one that the topic has by its cluster's naming."""
    format: SchemaType | None = None
    """None: the type of the subject's latest version."""
    schema: SchemaFile | None = None
    derive: bool = False
