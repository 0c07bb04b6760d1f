"""Errors carry facts, and carry them through pickling."""

import pickle

import pytest

from tallystick import errors
from tallystick.errors import InvalidSchema, TallystickError, Unavailable, UnknownSchemaType
from tallystick.finding import Finding, Place

FINDING = Finding(rule="A_RULE", message="it does not fit", fix="mend it")

ALL = [
    TallystickError("broken", subject="orders"),
    errors.BadRequest("bad"),
    InvalidSchema("no type", Place("/fields/0", 2, 5), 'add "type"'),
    UnknownSchemaType("XML", ["STRING", "AVRO"]),
    errors.IncompatibleSchema("does not fit", [FINDING]),
    errors.InvalidRecord("does not fit", [FINDING]),
    errors.SchemaSerializationError("cannot encode", [FINDING]),
    errors.InvalidPipeline("shop.yaml", [FINDING]),
    errors.InvalidArgument("version", "0 is no version"),
    errors.SchemaTooLarge(11, 10),
    errors.NotPermitted("read only"),
    errors.ReferenceExists("subject 'a'", ["'b' version 1"]),
    errors.SchemaIdTaken("acme/sales", 7, "another definition has it"),
    errors.NamespaceNotEmpty("acme/sales"),
    errors.AlreadyExists("Tenant acme exists already"),
    errors.Busy("producer", "another producer has that name"),
    errors.Closed("the producer is closed"),
    errors.Unsupported("not on this registry"),
    errors.NotFound("no such thing"),
    errors.NamespaceNotFound("acme/sales"),
    errors.TenantNotFound("acme"),
    errors.TopicNotFound("persistent://acme/sales/orders"),
    errors.SubscriptionNotFound("billing", "persistent://acme/sales/orders"),
    errors.SubjectNotFound("orders"),
    errors.VersionNotFound(3),
    errors.SchemaNotFound(),
    errors.SettingsNotFound("mode", "orders"),
    errors.AlreadyDeleted("orders", 3),
    errors.NotDeletedYet("orders"),
    errors.Unauthenticated("who are you?"),
    errors.Forbidden("not you"),
    Unavailable("no answer"),
    errors.TimedOut("no answer within 1 s"),
    errors.QueueFull("10 messages are on their way"),
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
        "SchemaSerializationError": "schema-serialization",
        "InvalidPipeline": "invalid-pipeline",
        "InvalidArgument": "invalid-argument",
        "SchemaTooLarge": "schema-too-large",
        "NotPermitted": "not-permitted",
        "ReferenceExists": "reference-exists",
        "SchemaIdTaken": "schema-id-taken",
        "NamespaceNotEmpty": "namespace-not-empty",
        "AlreadyExists": "already-exists",
        "Busy": "busy",
        "Closed": "closed",
        "Unsupported": "unsupported",
        "NotFound": "not-found",
        "NamespaceNotFound": "namespace-not-found",
        "TenantNotFound": "tenant-not-found",
        "TopicNotFound": "topic-not-found",
        "SubscriptionNotFound": "subscription-not-found",
        "SubjectNotFound": "subject-not-found",
        "VersionNotFound": "version-not-found",
        "SchemaNotFound": "schema-not-found",
        "SettingsNotFound": "settings-not-found",
        "AlreadyDeleted": "already-deleted",
        "NotDeletedYet": "not-deleted-yet",
        "Unauthenticated": "unauthenticated",
        "Forbidden": "forbidden",
        "Unavailable": "unavailable",
        "TimedOut": "timed-out",
        "QueueFull": "queue-full",
    }


def test_only_what_may_pass_is_transient() -> None:
    assert [type(error) for error in ALL if error.transient] == [Unavailable, errors.TimedOut, errors.QueueFull]


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
    assert errors.InvalidRecord("does not fit", [FINDING]).findings == (FINDING,)
    assert errors.IncompatibleSchema("does not fit", [FINDING]).findings == (FINDING,)


def test_invalid_pipeline_tells_every_finding_with_its_line() -> None:
    at = Finding(rule="A_RULE", message="it does not fit", fix="mend it", new=Place("/routes", 2, 5))
    assert str(errors.InvalidPipeline("shop.yaml", [FINDING, at])) == (
        "shop.yaml: it does not fit; mend it\nshop.yaml:2:5: it does not fit; mend it"
    )
    assert str(errors.InvalidPipeline(None, [at])) == "pipeline:2:5: it does not fit; mend it"
