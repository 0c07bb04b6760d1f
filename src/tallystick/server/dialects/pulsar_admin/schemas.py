"""`/admin/v2/schemas`: the schemas of a topic."""

from collections.abc import Iterable
from typing import Any

from tallystick.access import Action, require
from tallystick.errors import (
    IncompatibleSchema,
    InvalidArgument,
    InvalidSchema,
    SchemaNotFound,
    SchemaTooLarge,
    SubjectNotFound,
)
from tallystick.finding import Finding
from tallystick.model.naming import pulsar_subject
from tallystick.model.settings import TOPIC_DEFAULTS
from tallystick.model.subject import Subject, Version
from tallystick.registry import deletion, lookup, policies, registration
from tallystick.registry.lookup import SubjectVersion
from tallystick.registry.ports import Transaction
from tallystick.registry.service import Registry, meant
from tallystick.server.dialects.pulsar_admin import bodies
from tallystick.server.http import Request, Response, as_json

_LARGEST = 2**31 - 2
NO_VERSION = -1
"""What Pulsar answers for a schema that a topic does not have."""


class Schemas:
    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def latest(self, request: Request) -> Response:
        return self._schema(request, None)

    def version(self, request: Request) -> Response:
        return self._schema(request, _version(request))

    def _schema(self, request: Request, number: Version | None) -> Response:
        found = lookup.version(self._registry, request.caller, topic_subject(request), number)
        if not bodies.has_pulsar_type(found.schema.definition):
            raise SchemaNotFound(
                f"Schema of type {found.schema.definition.type} is none that Pulsar has; a Pulsar schema"
            )
        return Response(200, as_json(bodies.schema_body(found.row, found.schema)))

    def all_versions(self, request: Request) -> Response:
        """None for a topic without schemas: Pulsar does not look whether there is such a topic."""
        found = [bodies.schema_body(v.row, v.schema) for v in self._versions(request)]
        return Response(200, as_json({"getSchemaResponses": found}))

    def metadata(self, request: Request) -> Response:
        """Pulsar tells where its ledgers keep the versions; ours are rows of a table, so ledger and entry are 0."""
        entries = [{"ledgerId": 0, "entryId": 0, "version": v.row.version - 1} for v in self._versions(request)]
        if not entries:
            raise SubjectNotFound(str(topic_subject(request)))
        return Response(200, as_json({"info": entries[-1], "index": entries}))

    def _versions(self, request: Request) -> list[SubjectVersion]:
        subject = topic_subject(request)
        require(request.caller, Action.READ, str(subject))

        def find(tx: Transaction) -> list[SubjectVersion]:
            target = meant(tx, subject)
            rows = [row for row in tx.subjects.history(target) if row.state in lookup.LIVE]
            stored = (
                {s.id: s for s in tx.schemas.get(target.namespace, [row.schema_id for row in rows])} if rows else {}
            )
            return [SubjectVersion(row, stored[row.schema_id]) for row in rows]

        return [v for v in self._registry.read(find) if bodies.has_pulsar_type(v.schema.definition)]

    def register(self, request: Request) -> Response:
        subject, definition = topic_subject(request), bodies.definition_of(request.object())
        try:
            found = registration.register(
                self._registry,
                request.caller,
                subject,
                definition,
                normalize=True,
                defaults=TOPIC_DEFAULTS,
                is_lenient=True,
            )
        except IncompatibleSchema as e:
            raise registration.incompatible(subject, from_zero(e.findings)) from e
        return Response(200, as_json({"version": {"version": found.version - 1}}))

    def check(self, request: Request) -> Response:
        """Never an error for what a schema is: one that cannot be parsed is not compatible, and a finding says why."""
        subject = topic_subject(request)
        payload = request.object()
        try:
            definition = bodies.definition_of(payload)
            findings = registration.check(
                self._registry, request.caller, subject, definition, defaults=TOPIC_DEFAULTS, is_lenient=True
            )
        except (InvalidSchema, SchemaTooLarge) as e:
            fix = (e.fix if isinstance(e, InvalidSchema) else None) or "send a schema that parses"
            place = e.place if isinstance(e, InvalidSchema) else None
            findings = [Finding(rule="SCHEMA_INVALID", message=e.message, fix=fix, new=place)]
        strategy = policies.in_force(self._registry, subject, defaults=TOPIC_DEFAULTS).strategy
        body: dict[str, Any] = {"compatibility": not findings, "schemaCompatibilityStrategy": str(strategy)}
        if findings:
            body["findings"] = [finding.as_dict() for finding in from_zero(findings)]
        return Response(202, as_json(body))

    def find_version(self, request: Request) -> Response:
        definition = bodies.definition_of(request.object())
        try:
            found = registration.look_up(
                self._registry, request.caller, topic_subject(request), definition, normalize=True, is_lenient=True
            )
        except (SubjectNotFound, SchemaNotFound):
            return Response(200, as_json({"version": NO_VERSION}))
        return Response(200, as_json({"version": found.version - 1}))

    def delete(self, request: Request) -> Response:
        tombstone = deletion.delete_like_pulsar(
            self._registry, request.caller, topic_subject(request), force=request.flag("force")
        )
        return Response(200, as_json({"version": tombstone - 1 if tombstone is not None else NO_VERSION}))


def from_zero(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that count versions as Pulsar does."""
    return [finding if finding.version is None else finding.against(finding.version - 1) for finding in findings]


def topic_subject(request: Request) -> Subject:
    return pulsar_subject(request.path["tenant"], request.path["namespace"], request.path["topic"])


def _version(request: Request) -> Version:
    text = request.path["version"]
    if not (text.isascii() and text.isdigit() and len(text) < 11 and int(text) <= _LARGEST):
        raise InvalidArgument("version", f"a version is a number from 0, not {text[:40]!r}")
    return Version(int(text) + 1)
