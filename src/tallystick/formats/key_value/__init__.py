"""KEY_VALUE: two schemas in one, for the key and the value of a record.

The text is JSON:

    {"encoding": "SEPARATED",
     "key": {"type": "STRING"},
     "value": {"type": "AVRO", "schema": "{\\"type\\": \\"record\\", …}", "properties": {}}}

`encoding` is INLINE where it is not given; `schema` and `properties` may be left out where they are empty. A half may
be a KEY_VALUE itself. The references of the definition are those of both halves.
"""

from tallystick.formats.format import Format
from tallystick.formats.key_value.codec import decode, decode_parts, encode, encode_parts
from tallystick.formats.key_value.identity import canonical_text, normal_form
from tallystick.formats.key_value.parse import KeyValueSchema, parse
from tallystick.formats.key_value.validate import validate

FORMAT = Format(parse, canonical_text, normal_form, validate, encode, decode)

__all__ = ["FORMAT", "KeyValueSchema", "decode_parts", "encode_parts"]
