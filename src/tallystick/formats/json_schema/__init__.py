"""JSON Schema, drafts 4 to 2020-12.

A definition without `$schema` is read as draft 7, as Confluent's registry and its clients read it. `format` is an
annotation and never refuses a value. Nothing is ever fetched: what `$ref` names stands in the text or in a
reference of the definition.
"""

from tallystick.formats.format import Format
from tallystick.formats.json_schema.codec import decode, encode
from tallystick.formats.json_schema.identity import canonical_text, normal_form
from tallystick.formats.json_schema.parse import JsonSchema, parse
from tallystick.formats.json_schema.validate import validate

__all__ = ["FORMAT", "JsonSchema"]

FORMAT = Format(
    parse=parse,
    canonical_text=canonical_text,
    normal_form=normal_form,
    validate=validate,
    encode=encode,
    decode=decode,
)
