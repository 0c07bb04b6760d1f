"""The identity of a definition, against its own recipe written out."""

import hashlib
from dataclasses import replace
from uuid import RFC_4122

from tallystick.formats import guid, identity, is_same, parse
from tallystick.model import schema_type as types
from tallystick.model.definition import Reference, SchemaDefinition

DEFINITION = SchemaDefinition(types.AVRO, '{"type": "string"}')


def test_identity_is_the_hash_of_type_text_references_metadata_and_rule_set() -> None:
    recipe = '["AVRO", "{\\"type\\":\\"string\\"}", [], null, null]'
    assert identity(DEFINITION) == hashlib.sha256(recipe.encode()).digest()


def test_identity_with_everything() -> None:
    full = replace(DEFINITION, references=(Reference("a", "sé", 3),), metadata="{}", rule_set="[]")
    recipe = '["AVRO", "{\\"type\\":\\"string\\"}", [["a", "sé", 3]], "{}", "[]"]'
    assert identity(full) == hashlib.sha256(recipe.encode()).digest()


def test_guid_holds_the_first_bits_of_the_identity() -> None:
    value = guid(DEFINITION)
    assert value.version == 8
    assert value.variant == RFC_4122
    first = identity(DEFINITION)
    assert value.bytes[:6] == first[:6]
    assert value.bytes[9:] == first[9:16]


def test_equal_texts_of_two_types_are_two_definitions() -> None:
    assert identity(DEFINITION) != identity(replace(DEFINITION, type=types.PULSAR_JSON))


def test_bytes_and_none_are_two_definitions_but_one_schema() -> None:
    a, b = SchemaDefinition(types.BYTES), SchemaDefinition(types.NONE)
    assert identity(a) != identity(b)
    assert is_same(parse(a), parse(b))


def test_same_text_of_two_types_is_not_the_same_schema() -> None:
    assert not is_same(parse(DEFINITION), parse(replace(DEFINITION, type=types.PULSAR_JSON)))


def test_same_text_with_another_version_of_a_reference_is_not_the_same_schema() -> None:
    old, new = Reference("shop.Money", "money", 1), Reference("shop.Money", "money", 2)
    money = SchemaDefinition(types.AVRO, '{"type": "record", "name": "shop.Money", "fields": []}')
    texts = [replace(DEFINITION, text='["null", "shop.Money"]', references=(r,)) for r in (old, new)]
    a, b = (parse(text, {old: money, new: money}) for text in texts)
    assert not is_same(a, b)
    assert is_same(a, parse(texts[0], {old: money}))
