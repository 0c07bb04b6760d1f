"""Types without a text."""

import pytest

from tallystick.errors import InvalidSchema
from tallystick.finding import Place
from tallystick.formats import parse
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import SchemaType


@pytest.mark.parametrize("kind", ["STRING", "INT8", "BYTES", "NONE", "EXTERNAL", "LOCAL_DATE_TIME"])
def test_text_is_refused(kind: str) -> None:
    with pytest.raises(InvalidSchema, match=f"a schema of type {kind} has no text") as refused:
        parse(SchemaDefinition(SchemaType(kind), '"string"'))
    assert refused.value.place == Place("", 1, 1)
    assert refused.value.fix


def test_references_are_refused() -> None:
    with pytest.raises(InvalidSchema, match="refers to nothing"):
        parse(SchemaDefinition(SchemaType("STRING"), "", (Reference("a", "b", 1),)))


def test_character_set_that_python_and_java_do_not_share_is_refused() -> None:
    with pytest.raises(InvalidSchema, match="the character set 'ZIP' is not known"):
        parse(SchemaDefinition(SchemaType("STRING"), properties={"__charset": "zip"}))


def test_character_set_counts_for_texts_alone() -> None:
    assert parse(SchemaDefinition(SchemaType("INT8"), properties={"__charset": "zip"}))
