"""Schema formats: what a definition means, which values fit it, and their bytes.

A format is four functions' worth of knowledge in four files of the same names: `parse` (text to schema),
`identity` (which texts are the same), `validate` (does a value fit) and `codec` (value to bytes and back).
"""

from tallystick.formats.catalogue import decoder_of, encoder_of, format_of, parse, schema_types
from tallystick.formats.format import Format, Schema
from tallystick.formats.identity import guid, guid_of, identity, is_same

__all__ = [
    "Format",
    "Schema",
    "decoder_of",
    "encoder_of",
    "format_of",
    "guid",
    "guid_of",
    "identity",
    "is_same",
    "parse",
    "schema_types",
]
