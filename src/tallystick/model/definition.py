"""Schema definitions: what users write, before it is parsed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tallystick.model.schema_type import SchemaType


@dataclass(frozen=True, slots=True)
class Reference:
    """A schema of another subject that a definition uses.

    `name` is what the text calls it: a full name in Avro, a URI in JSON Schema, an import path in Protobuf.
    """

    name: str
    subject: str
    version: int


@dataclass(frozen=True, slots=True)
class SchemaDefinition:
    """The text of one schema with all that belongs to its identity, and its properties, which do not.

    `metadata` and `rule_set` are JSON texts (data contracts); they are kept and returned, not interpreted.
    """

    type: SchemaType
    text: str = ""
    references: tuple[Reference, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)
    metadata: str | None = None
    rule_set: str | None = None


References = Mapping[Reference, SchemaDefinition]
"""Every definition that a definition refers to, directly or through others."""

NO_REFERENCES: References = MappingProxyType({})
