"""/subjects: list, look up, delete."""

import json
from collections.abc import Iterator
from functools import partial

from tallystick.errors import SchemaNotFound
from tallystick.registry import deletion, lookup, registration
from tallystick.registry.lookup import DELETED, LIVE, LIVE_AND_DELETED, SubjectVersion
from tallystick.registry.ports import State
from tallystick.registry.service import Registry
from tallystick.server.dialects.confluent import bodies, names, shown, texts
from tallystick.server.dialects.confluent.answers import answer
from tallystick.server.dialects.confluent.bodies import NAMES
from tallystick.server.dialects.confluent.components import FLAG, FORMAT, INTEGERS, PAGE, STRING, STRINGS, ref
from tallystick.server.http import Request, Response
from tallystick.server.routing import Operation, Route


def routes(registry: Registry) -> Iterator[Route]:
    listing = {"subjectPrefix": STRING, "deleted": FLAG, "deletedOnly": FLAG, **PAGE}
    yield Route(
        "GET", "/subjects", partial(_list, registry), Operation("List subjects", listing, None, STRINGS, (400, 422))
    )
    yield Route(
        "POST",
        "/subjects/{subject}",
        partial(_look_up, registry),
        Operation(
            "Which version a schema is",
            {"normalize": FLAG, "format": FORMAT, "deleted": FLAG},
            ref("RegisterRequest"),
            ref("SubjectSchema"),
            (400, 404, 415, 422),
        ),
    )
    yield Route(
        "DELETE",
        "/subjects/{subject}",
        partial(_delete, registry),
        Operation("Delete a subject", {"permanent": FLAG}, None, INTEGERS, (400, 404, 422)),
    )
    yield Route(
        "GET",
        "/subjects/{subject}/metadata",
        partial(_with_metadata, registry),
        Operation(
            "The latest version with these properties in its metadata",
            {"key": STRINGS, "value": STRINGS, "format": FORMAT, "deleted": FLAG},
            None,
            ref("SubjectSchema"),
            (400, 404, 422),
        ),
    )


def states_of(request: Request) -> frozenset[State]:
    if request.flag("deletedOnly"):
        return DELETED
    return LIVE_AND_DELETED if request.flag("deleted") else LIVE


def _list(registry: Registry, request: Request) -> Response:
    namespace, prefix = names.prefix(request, names.ALL_CONTEXTS)
    states = states_of(request)
    rows = lookup.subjects(
        registry,
        request.caller,
        namespace,
        prefix=prefix,
        states=states,
        page=names.page(request),
        types=NAMES.keys(),
    )
    return answer(request, [str(row.subject) for row in rows])


def _look_up(registry: Registry, request: Request) -> Response:
    subject, sent = names.subject(request), bodies.definition(request.object())
    found = registration.look_up(
        registry,
        request.caller,
        subject,
        sent,
        normalize=request.flag("normalize"),
        with_deleted=request.flag("deleted"),
    )
    text = texts.of_registration(registry, found, sent, request.text("format"))
    return answer(request, {"subject": str(found.subject), **shown.registration(found, text)})


def _delete(registry: Registry, request: Request) -> Response:
    subject = names.subject(request)
    permanent = request.flag("permanent")
    return answer(request, deletion.delete_subject(registry, request.caller, subject, permanent=permanent))


def _with_metadata(registry: Registry, request: Request) -> Response:
    subject = names.subject(request)
    wanted = dict(zip(request.query("key"), request.query("value"), strict=False))
    states = LIVE_AND_DELETED if request.flag("deleted") else LIVE
    for row in reversed(lookup.versions(registry, request.caller, subject, states=states, types=NAMES.keys())):
        found = SubjectVersion(row, lookup.by_id(registry, row.subject.namespace, row.schema_id))
        if wanted.items() <= _properties(found).items():
            text = texts.formatted(registry, found.schema, request.text("format"))
            return answer(request, shown.version(found, text))
    raise SchemaNotFound


def _properties(found: SubjectVersion) -> dict[str, str]:
    metadata = found.schema.definition.metadata
    properties: dict[str, str] = json.loads(metadata).get("properties", {}) if metadata else {}
    return properties
