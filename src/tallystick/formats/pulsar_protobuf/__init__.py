"""PULSAR_PROTOBUF: payloads are Protobuf, described by Avro text.

Avro text knows no field numbers. Pulsar's Java client adds them as a property, from which flat messages can be written
and read; nested messages and enums have no numbers there, and are refused with that reason.
"""

from tallystick.formats.avro.identity import canonical_text, normal_form
from tallystick.formats.avro.parse import parse_leniently
from tallystick.formats.avro.validate import validate
from tallystick.formats.format import Format
from tallystick.formats.pulsar_protobuf.codec import decode, encode

FORMAT = Format(parse_leniently, canonical_text, normal_form, validate, encode, decode)
