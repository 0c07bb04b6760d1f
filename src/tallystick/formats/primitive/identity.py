"""A schema without a text is its type, and the type belongs to every identity already."""

from tallystick.formats.primitive.parse import PrimitiveSchema


def canonical_text(text: str) -> str:
    return "".join(text.split())


def normal_form(schema: PrimitiveSchema) -> str:
    return ""
