"""Errors carry facts, and carry them through pickling."""

import pickle

import pytest

from tallystick import errors
from tallystick.errors import (
    BadRequest,
    IncompatibleSchema,
    InvalidRecord,
    InvalidSchema,
    NotFound,
    TallystickError,
    Unavailable,
    UnknownSchemaType,
)
from tallystick.finding import Finding, Place

FINDING = Finding(rule="A_RULE", message="it does not fit", fix="mend it")

ALL = [
    TallystickError("broken", subject="orders"),
    BadRequest("bad"),
    InvalidSchema("no type", Place("/fields/0", 2, 5), 'add "type"'),
    UnknownSchemaType("XML", ["STRING", "AVRO"]),
    IncompatibleSchema("does not fit", [FINDING]),
    InvalidRecord("does not fit", [FINDING]),
    NotFound("no such subject"),
    Unavailable("no answer"),
]


@pytest.mark.parametrize("error", ALL, ids=lambda error: type(error).__name__)
def test_errors_survive_pickling_whole(error: TallystickError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert copy.__dict__ == error.__dict__


def test_every_class_is_tried() -> None:
    classes = {c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, TallystickError)}
    assert {type(error) for error in ALL} == classes


def test_codes_are_stable_and_differ() -> None:
    assert {type(error).__name__: error.code for error in ALL} == {
        "TallystickError": "internal",
        "BadRequest": "bad-request",
        "InvalidSchema": "invalid-schema",
        "UnknownSchemaType": "unknown-schema-type",
        "IncompatibleSchema": "incompatible-schema",
        "InvalidRecord": "invalid-record",
        "NotFound": "not-found",
        "Unavailable": "unavailable",
    }


def test_only_what_may_pass_is_transient() -> None:
    assert [type(error) for error in ALL if error.transient] == [Unavailable]


def test_facts_are_attributes() -> None:
    error = TallystickError("broken", subject="orders")
    assert vars(error)["subject"] == "orders"
    assert error.message == "broken"


def test_invalid_schema_says_where_and_what_to_do() -> None:
    error = InvalidSchema("no type", Place("/fields/0", 2, 5), 'add "type"')
    assert str(error) == 'invalid schema at /fields/0 (line 2, column 5): no type; add "type"'
    assert str(InvalidSchema("no type")) == "invalid schema: no type"


def test_unknown_schema_type_lists_what_is_known() -> None:
    error = UnknownSchemaType("XML", ["STRING", "AVRO"])
    assert str(error) == "schema type 'XML' is not known; known are AVRO, STRING"
    assert error.schema_type == "XML"


def test_findings_are_kept_as_they_came() -> None:
    assert InvalidRecord("does not fit", [FINDING]).findings == (FINDING,)
    assert IncompatibleSchema("does not fit", [FINDING]).findings == (FINDING,)
