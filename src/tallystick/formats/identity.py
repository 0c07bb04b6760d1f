"""The identity of a definition: equal definitions have one schema id in a namespace and one GUID everywhere.

Identity is the type, the text without white space outside strings, the references, the metadata and the rule
set. It is never Avro's Parsing Canonical Form, which forgets defaults, aliases and logical types: two schemas
that behave differently would share an id.
"""

import hashlib
import json
from uuid import UUID
from weakref import WeakKeyDictionary

from tallystick.formats.catalogue import format_of
from tallystick.formats.format import Schema
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import BYTES, NONE


def identity(definition: SchemaDefinition) -> bytes:
    """32 bytes that are equal for equal definitions. The text must be one that parses."""
    parts = [
        definition.type,
        format_of(definition.type).canonical_text(definition.text),
        [[reference.name, reference.subject, reference.version] for reference in definition.references],
        definition.metadata,
        definition.rule_set,
    ]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).digest()


def guid(definition: SchemaDefinition) -> UUID:
    return guid_of(identity(definition))


def guid_of(identity: bytes) -> UUID:
    """The GUID of the definition that has this identity."""
    # Version 8 is RFC 9562's form for "made by the application from a hash of its own choice".
    value = int.from_bytes(identity[:16]) & ~(0xF << 76) | (8 << 76)
    return UUID(int=value & ~(0b11 << 62) | (0b10 << 62))


def is_same(a: Schema, b: Schema) -> bool:
    """Whether two schemas are one and the same once parsed, as Pulsar's look-ups ask; properties do not count."""
    return parsed_identity(a) == parsed_identity(b)


ParsedIdentity = tuple[str, str, tuple[Reference, ...]]

_parsed_identities: WeakKeyDictionary[Schema, ParsedIdentity] = WeakKeyDictionary()
"""A schema that is kept is compared with every one that comes."""


def parsed_identity(schema: Schema) -> ParsedIdentity:
    """What equal parsed schemas share. BYTES and NONE are two names of one type."""
    found = _parsed_identities.get(schema)
    if found is None:
        kind = schema.definition.type
        normal = format_of(kind).normal_form(schema)
        found = (BYTES if kind == NONE else kind), normal, schema.definition.references
        _parsed_identities[schema] = found
    return found
