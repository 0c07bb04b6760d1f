"""PULSAR_JSON: payloads are plain JSON, described by Avro text.

The values are those of Avro, so a record may leave as JSON and arrive as Avro. Text, identity and the question whether
a value fits are Avro's; only the bytes differ.
"""

from tallystick.formats.avro.identity import canonical_text, normal_form
from tallystick.formats.avro.parse import parse_leniently
from tallystick.formats.avro.validate import validate
from tallystick.formats.format import Format
from tallystick.formats.pulsar_json.codec import decode, encode

FORMAT = Format(parse_leniently, canonical_text, normal_form, validate, encode, decode)
