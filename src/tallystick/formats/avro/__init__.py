"""Avro, the whole of its 1.12 specification, with the codec of `fastavro`."""

from tallystick.formats.avro.codec import decode, decoder_of, encode, encoder_of
from tallystick.formats.avro.identity import canonical_text, normal_form
from tallystick.formats.avro.parse import parse, parse_leniently
from tallystick.formats.avro.validate import validate
from tallystick.formats.format import Format

FORMAT = Format(
    parse=parse,
    canonical_text=canonical_text,
    normal_form=normal_form,
    validate=validate,
    encode=encode,
    decode=decode,
    parse_leniently=parse_leniently,
    encoder_of=encoder_of,
    decoder_of=decoder_of,
)
