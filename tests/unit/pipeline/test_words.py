"""The words of the file are those of the engine, which stands above this package."""

from dataclasses import fields
from enum import StrEnum

import pytest

from tallystick import rest, spark
from tallystick.cli import sources
from tallystick.formats.catalogue import schema_types
from tallystick.messaging import settings
from tallystick.pipeline import Cluster, Credentials, Table, schema_files, texts, words
from tallystick.pipeline.description import SCHEMA_TYPES, TRANSFORM
from tallystick.spark.kafka.writing import Delivery


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (words.MultiSchema, settings.MultiSchema),
        (words.Framing, settings.Framing),
        (words.Delivery, Delivery),
        (words.TableFormat, spark.TableFormat),
        (words.Evolve, spark.Evolve),
    ],
)
def test_words_are_the_same(ours: type[StrEnum], theirs: type[StrEnum]) -> None:
    assert list(ours) == list(theirs)


@pytest.mark.parametrize(
    ("ours", "theirs"), [(Credentials, rest.Credentials), (Cluster, spark.Cluster), (Table, spark.Table)]
)
def test_fields_are_the_same(ours: type, theirs: type) -> None:
    about_the_file = {"name", "place"} if ours is Cluster else set()
    assert {field.name for field in fields(ours)} - about_the_file == {field.name for field in fields(theirs)}


def test_places_to_start_and_endings_of_files_are_the_same() -> None:
    assert (texts.EARLIEST, texts.LATEST) == (settings.EARLIEST, settings.LATEST)
    assert schema_files.ENDINGS == sources.ENDINGS


def test_losses_are_allowed_by_the_names_that_translations_give_them() -> None:
    allow = TRANSFORM.key("allow")
    assert allow is not None
    assert "`decimal-to-string`" in allow.shape.expected
    assert "`no-message`" not in allow.shape.expected


def test_schema_types_are_known() -> None:
    assert set(SCHEMA_TYPES) <= set(schema_types())
