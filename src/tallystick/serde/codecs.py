"""The codec of one schema, bound to it once, so that nothing is looked up for each message."""

from collections.abc import Callable
from functools import partial
from typing import Any

from tallystick.formats import Schema, format_of

Encode = Callable[[Any], bytes]
Decode = Callable[[bytes], Any]


def encoder_of(schema: Schema) -> Encode:
    return partial(format_of(schema.definition.type).encode, schema)


def decoder_of(schema: Schema, reader: Schema | None = None) -> Decode:
    """Payloads of the schema, as the reader's schema has them."""
    decode = format_of(schema.definition.type).decode
    return partial(decode, schema) if reader is None else lambda payload: decode(schema, payload, reader)
