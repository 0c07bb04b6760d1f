"""PROTOBUF (`.proto` text or a base64 descriptor) and PROTOBUF_NATIVE (Pulsar's descriptor set).

Values are dicts of field names, or Protobuf messages of the same full name. In a dict an enum is its value's name
(or its number), a map is a dict, an extension's name stands in brackets. The well-known types are messages like
all others; a Timestamp may also be given as a datetime with a time zone and a Duration as a timedelta, but they
are decoded as dicts, because both count nanoseconds, which Python's types would lose.
"""

from tallystick.formats.format import Format
from tallystick.formats.json_source import without_white_space
from tallystick.formats.protobuf.codec import decode, encode
from tallystick.formats.protobuf.identity import canonical_text, normal_form
from tallystick.formats.protobuf.parse import parse, parse_native
from tallystick.formats.protobuf.types import ProtobufSchema
from tallystick.formats.protobuf.validate import validate

FORMAT = Format(
    parse=parse,
    canonical_text=canonical_text,
    normal_form=normal_form,
    validate=validate,
    encode=encode,
    decode=decode,
)
NATIVE_FORMAT = Format(
    parse=parse_native,
    canonical_text=without_white_space,
    normal_form=normal_form,
    validate=validate,
    encode=encode,
    decode=decode,
)

__all__ = ["FORMAT", "NATIVE_FORMAT", "ProtobufSchema"]
