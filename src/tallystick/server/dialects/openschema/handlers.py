"""What each OpenSchema route does."""

from collections.abc import Sequence
from typing import Any

from tallystick.errors import AlreadyDeleted, InvalidArgument, SchemaNotFound, SubjectNotFound
from tallystick.model.subject import DEFAULT_NAMESPACE, SchemaId, Subject, Version, namespace_of, subject_of
from tallystick.registry import deletion, description, lookup, policies, registration
from tallystick.registry.ports import Page, SubjectRow
from tallystick.registry.service import Registry
from tallystick.server.dialects.openschema import bodies, listing
from tallystick.server.http import MalformedRequest, Request, Response, as_json

MEDIA_TYPE = "application/vnd.openschema.v1+json"
_LARGEST = 2**31 - 1


def answer(request: Request, body: Any, status: int = 200, *, is_immutable: bool = False) -> Response:
    return Response(status, as_json(body), media_type(request), is_immutable=is_immutable)


def media_type(request: Request) -> str:
    """Plain JSON for clients that ask for it and nothing else."""
    return "application/json" if request.headers.get("accept", "") == "application/json" else MEDIA_TYPE


class Handlers:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def create_subject(self, request: Request) -> Response:
        body = bodies.wrapped(request.object(), "subject")
        subject = _subject(request, body)
        wanted = bodies.text_in(body, "compatibility")
        strategy = bodies.strategy_of(wanted) if wanted else None
        row = description.describe(self._registry, request.caller, subject, bodies.about_of(body), strategy)
        return answer(request, {"subject": self._described([row])[0]})

    def list_subjects(self, request: Request) -> Response:
        limit = _page_number(request, "limit", -1)
        page = Page(max(_page_number(request, "offset", 0), 0), None if limit < 0 else limit)
        rows = lookup.subjects(
            self._registry,
            request.caller,
            _queried_namespace(request),
            page=page,
            described=True,
        )
        return answer(request, {"subjects": self._described(rows)})

    def get_subject(self, request: Request) -> Response:
        row = lookup.subject(self._registry, request.caller, _subject(request), described=True)
        return answer(request, {"subject": self._described([row])[0]})

    def delete_subject(self, request: Request) -> Response:
        subject = _subject(request)
        try:
            versions = list(deletion.delete_subject(self._registry, request.caller, subject))
        except (SubjectNotFound, AlreadyDeleted):
            description.forget(self._registry, request.caller, subject)
            versions = []
        return answer(request, {"versions": versions})

    def register(self, request: Request) -> Response:
        outer = request.object()
        body = bodies.wrapped(outer, "schema")
        subject = _subject(request, {**outer, **body})
        found = registration.register(self._registry, request.caller, subject, bodies.definition_of(body))
        return answer(request, {"id": str(found.id)})

    def by_id(self, request: Request) -> Response:
        namespace, id_ = _id(request)
        stored = lookup.by_id(self._registry, namespace, id_, request.caller)
        used = [r for r in self._registry.read(lambda tx: tx.schemas.versions_of(namespace, id_)) if r.schema_id]
        first = used[0] if used else None
        body = bodies.schema_body(
            stored.id,
            stored.definition,
            dict(stored.definition.properties),
            first.subject.name if first else "",
            first.version if first else None,
        )
        return answer(request, {"schema": body})

    def subjects_of(self, request: Request) -> Response:
        namespace, id_ = _id(request)
        used = lookup.versions_of(self._registry, request.caller, namespace, id_)
        rows = []
        for subject in dict.fromkeys(row.subject for row in used if row.state in lookup.LIVE):
            rows.append(lookup.subject(self._registry, request.caller, subject))
        if not rows:
            raise SchemaNotFound(f"Schema {id_}")
        described = self._described(rows)
        return answer(request, {"subject": described[0], "subjects": described})

    def versions(self, request: Request) -> Response:
        subject = _subject(request)
        try:
            rows = lookup.versions(self._registry, request.caller, subject)
        except SubjectNotFound:
            lookup.subject(self._registry, request.caller, subject, described=True)
            rows = []
        return answer(request, {"versions": [row.version for row in rows]})

    def schema(self, request: Request) -> Response:
        subject = _subject(request)
        found = lookup.version(self._registry, request.caller, subject, _version(request))
        row, stored = found.row, found.schema
        body = bodies.schema_body(stored.id, stored.definition, row.properties, subject.name, row.version)
        return answer(request, {"schema": body})

    def delete_version(self, request: Request) -> Response:
        subject, version = _subject(request), _version(request)
        deleted = deletion.delete_version(self._registry, request.caller, subject, version)
        return answer(request, {"version": deleted})

    def check(self, request: Request) -> Response:
        outer = request.object()
        body = bodies.wrapped(outer, "schema")
        subject = _subject(request, {**outer, **body})
        version = lookup.version(self._registry, request.caller, subject, _version(request)).row.version
        definition = bodies.definition_of(body)
        findings = registration.check(self._registry, request.caller, subject, definition, version=version)
        told: dict[str, Any] = {"is_compatible": not findings}
        if findings:
            told["findings"] = [finding.as_dict() for finding in findings]
        return answer(request, told)

    def set_policy(self, request: Request) -> Response:
        body = request.object()
        wanted = body.get("compatibility")
        if not isinstance(wanted, str):
            raise MalformedRequest('send {"compatibility": "…"}')
        strategy = bodies.strategy_of(wanted)
        policies.change(self._registry, request.caller, {"strategy": strategy}, _subject(request, body))
        return answer(request, {"compatibility": bodies.strategy_name(strategy) if strategy else "UNDEFINED"})

    def policy(self, request: Request) -> Response:
        subject = _subject(request)
        strategy = policies.in_force(self._registry, subject, caller=request.caller).strategy
        assert strategy is not None
        return answer(request, {"compatibility": bodies.strategy_name(strategy)})

    def _described(self, rows: Sequence[SubjectRow]) -> list[dict[str, Any]]:
        return self._registry.read(lambda tx: listing.described(tx, rows))


def _subject(request: Request, body: dict[str, Any] | None = None) -> Subject:
    """The body's tenant and namespace count, then a qualified name, then the default namespace."""
    subject = subject_of(request.path["subject"])
    namespace = bodies.namespace_in(body) if body else None
    return Subject(namespace, subject.name) if namespace is not None else subject


def _queried_namespace(request: Request) -> str | None:
    named = {"tenant": request.text("tenant") or None, "namespace": request.text("namespace") or None}
    return bodies.namespace_in(named)


def _id(request: Request) -> tuple[str, SchemaId]:
    """`7`, or `:.tenant.namespace:7` where the namespace is not the default one; the query can name it, too."""
    text, namespace = request.path["id"], _queried_namespace(request) or DEFAULT_NAMESPACE
    if text.startswith(":."):
        context, _, text = text[1:].partition(":")
        namespace = namespace_of(context)
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise SchemaNotFound(f"Schema {text[:40]}")
    number = int(text)
    if number > _LARGEST:
        raise SchemaNotFound(f"Schema {text}")
    return namespace, SchemaId(number)


def _version(request: Request) -> Version | None:
    text = request.path["version"]
    if text in ("latest", "-1"):
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 11 and 0 < int(text) <= _LARGEST):
        raise InvalidArgument("version", f"a version is a number from 1 or 'latest', not {text[:40]!r}")
    return Version(int(text))


def _page_number(request: Request, name: str, default: int) -> int:
    number = request.number(name, default)
    if not -1 <= number <= _LARGEST:
        raise MalformedRequest(f"{name} is a number from 0 to {_LARGEST}, not {number}")
    return number
