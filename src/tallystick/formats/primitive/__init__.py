"""Types without a text: Pulsar's primitives, BYTES and NONE, and EXTERNAL.

BYTES and NONE are two names of one thing, bytes that nobody looks into. The value of an EXTERNAL schema is the bytes
that the client of the outside registry made of it: they pass unchanged, because only that registry knows more.
"""

from tallystick.formats.format import Format
from tallystick.formats.primitive.codec import decode, encode
from tallystick.formats.primitive.identity import canonical_text, normal_form
from tallystick.formats.primitive.parse import PrimitiveSchema, parse
from tallystick.formats.primitive.validate import validate

FORMAT = Format(parse, canonical_text, normal_form, validate, encode, decode)

__all__ = ["FORMAT", "PrimitiveSchema"]
