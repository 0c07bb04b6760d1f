"""/subjects/{subject}/versions: list, get, register, delete, who refers to them."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from tallystick.errors import InvalidSchema, SubjectNotFound
from tallystick.model.definition import SchemaDefinition
from tallystick.model.subject import Subject
from tallystick.registry import deletion, lookup, registration
from tallystick.registry.lookup import DELETED, LIVE, LIVE_AND_DELETED, SubjectVersion
from tallystick.registry.ports import State
from tallystick.registry.service import Registry
from tallystick.server.dialects.confluent import bodies, entities, names, shown, texts
from tallystick.server.dialects.confluent.answers import answer
from tallystick.server.dialects.confluent.bodies import NAMES
from tallystick.server.dialects.confluent.components import (
    FLAG,
    FORMAT,
    INTEGER,
    INTEGERS,
    PAGE,
    STRING,
    STRINGS,
    TEXT,
    ref,
)
from tallystick.server.dialects.confluent.subjects import states_of
from tallystick.server.http import Request, Response
from tallystick.server.routing import Operation, Route

_ALL = "/subjects/{subject}/versions"
_ONE = "/subjects/{subject}/versions/{version}"


def routes(registry: Registry) -> Iterator[Route]:
    listing = {"deleted": FLAG, "deletedOnly": FLAG, "deletedAsNegative": FLAG, **PAGE}
    flags = {"normalize": FLAG, "format": FORMAT, "force": FLAG}
    one = {"format": FORMAT, "referenceFormat": STRING, "deleted": FLAG, "findTags": STRINGS}
    absent = (400, 404, 422)
    for method, template, handler, operation in (
        ("GET", _ALL, _list, Operation("List versions", listing, None, INTEGERS, absent)),
        (
            "POST",
            _ALL,
            _register,
            Operation(
                "Register a schema",
                flags,
                ref("RegisterRequest"),
                ref("RegisterAnswer"),
                (400, 404, 409, 413, 415, 422),
            ),
        ),
        ("GET", _ONE, _get, Operation("Get a version", one, None, ref("SubjectSchema"), absent)),
        ("DELETE", _ONE, _delete, Operation("Delete a version", {"permanent": FLAG}, None, INTEGER, absent)),
        (
            "GET",
            f"{_ONE}/schema",
            _text,
            Operation("Get a version's text", {"format": FORMAT, "deleted": FLAG}, None, TEXT, absent),
        ),
        (
            "GET",
            f"{_ONE}/referencedby",
            _referenced_by,
            Operation("Ids of the schemas that refer to it", {"deleted": FLAG, **PAGE}, None, INTEGERS, absent),
        ),
    ):
        yield Route(method, template, partial(handler, registry), operation)


def _list(registry: Registry, request: Request) -> Response:
    subject = names.subject(request)
    as_negative = request.flag("deletedAsNegative")
    states = LIVE_AND_DELETED if as_negative else states_of(request)
    # A subject without deleted versions is there all the same.
    looked_at = LIVE_AND_DELETED if states == DELETED else states
    rows = lookup.versions(registry, request.caller, subject, states=looked_at, types=NAMES.keys())
    numbers = [
        -row.version if as_negative and row.state is State.DELETED else row.version
        for row in rows
        if row.state in states
    ]
    return answer(request, names.paged(numbers, names.page(request)))


def _version(registry: Registry, request: Request) -> SubjectVersion:
    states = LIVE_AND_DELETED if request.flag("deleted") else LIVE
    number = names.version(request.path["version"])
    found = lookup.version(registry, request.caller, names.subject(request), number, states=states)
    return shown.require_known_version(found)


def _get(registry: Registry, request: Request) -> Response:
    found = _version(registry, request)
    text = texts.formatted(registry, found.schema, request.text("format"))
    body = shown.version(found, text)
    if request.text("referenceFormat") == "qualified" and "references" in body:
        own = found.schema.definition.references
        body["references"] = shown.references(shown.qualified(own, found.row.subject.namespace))
    tags = request.query("findTags")
    if tags:
        body["schemaTags"] = entities.tagged(texts.parsed(registry, found.schema), tags)
    return answer(request, body)


def _text(registry: Registry, request: Request) -> Response:
    found = _version(registry, request).schema
    text = texts.formatted(registry, found, request.text("format"))
    return replace(answer(request, None), body=(found.definition.text if text is None else text).encode())


def _register(registry: Registry, request: Request) -> Response:
    subject, body = names.subject(request), request.object()
    sent = whole(registry, request, subject, body)
    found = registration.register(
        registry,
        request.caller,
        subject,
        sent,
        normalize=request.flag("normalize"),
        id_=bodies.given_id(body),
        version=bodies.given_version(body),
        force=request.flag("force"),
    )
    text = texts.of_registration(registry, found, sent, request.text("format"))
    return answer(request, shown.registration(found, text))


def whole(registry: Registry, request: Request, subject: Subject, body: Mapping[str, Any]) -> SchemaDefinition:
    """The schema of a body; one without a text is that of the latest version, with another contract."""
    definition = bodies.definition(body)
    if definition.text.strip():
        return definition
    try:
        latest = lookup.version(registry, request.caller, subject, None).schema.definition
    except SubjectNotFound as e:
        raise InvalidSchema("the schema is empty") from e
    return replace(definition, type=latest.type, text=latest.text, references=latest.references)


def _delete(registry: Registry, request: Request) -> Response:
    number = names.version(request.path["version"])
    permanent = request.flag("permanent")
    deleted = deletion.delete_version(registry, request.caller, names.subject(request), number, permanent=permanent)
    return answer(request, deleted)


def _referenced_by(registry: Registry, request: Request) -> Response:
    states = LIVE_AND_DELETED if request.flag("deleted") else LIVE
    number = names.version(request.path["version"])
    rows = lookup.referring_to(registry, request.caller, names.subject(request), number, states=states)
    ids = sorted({row.schema_id for row in rows})
    return answer(request, names.paged(ids, names.page(request)))
