"""Pulsar's admin API: a subject is a topic, versions have no ids."""

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from tallystick.errors import (
    IncompatibleSchema,
    InvalidSchema,
    NotFound,
    SchemaNotFound,
    SubjectNotFound,
    Unsupported,
    VersionNotFound,
)
from tallystick.finding import Finding
from tallystick.model.definition import SchemaDefinition
from tallystick.model.settings import Mode, Settings
from tallystick.model.strategy import Strategy
from tallystick.model.subject import DEFAULT_NAMESPACE, SchemaId, Subject, Version, subject_of
from tallystick.rest import bodies, pulsar_schemas
from tallystick.rest.connection import Connection, escaped
from tallystick.rest.dialect import Compatibility, Config, asked
from tallystick.rest.problems import findings_of
from tallystick.serde.ports import RegisteredSchema

_OF_A_TOPIC = {404: SubjectNotFound, 422: InvalidSchema}
_OF_A_VERSION = {404: VersionNotFound}


class PulsarRegistry:
    name = "pulsar"

    def __init__(self, connection: Connection) -> None:
        self._http = connection

    def register(self, subject: Subject, definition: SchemaDefinition, *, normalize: bool = False) -> RegisteredSchema:
        try:
            answer = bodies.an_object(self._post(subject, "schema", definition))
        except IncompatibleSchema as e:
            raise IncompatibleSchema(e.message, _counted_from_one(e.findings)) from e
        number = answer["version"] if isinstance(answer.get("version"), dict) else answer
        return RegisteredSchema(subject, _ours(bodies.number(number, "version")), None, definition)

    def look_up(
        self, subject: Subject, definition: SchemaDefinition, *, normalize: bool = False, deleted: bool = False
    ) -> RegisteredSchema:
        number = bodies.number(bodies.an_object(self._post(subject, "version", definition)), "version")
        if number < 0:
            self.versions(subject)  # says so where it is the topic that is not there
            raise SchemaNotFound
        return RegisteredSchema(subject, _ours(number), None, definition)

    def by_id(self, schema_id: SchemaId, namespace: str = DEFAULT_NAMESPACE) -> SchemaDefinition:
        raise Unsupported("Pulsar's API has no schema ids, only versions of topics")

    def by_guid(self, guid: UUID) -> SchemaDefinition:
        raise Unsupported("Pulsar's API has no GUIDs, only versions of topics")

    def by_version(self, subject: Subject, version: Version | None, *, deleted: bool = False) -> RegisteredSchema:
        path = f"{_schemas(subject)}/schema" + ("" if version is None else f"/{version - 1}")
        by_status = _OF_A_TOPIC if version is None else _OF_A_VERSION
        body = bodies.an_object(self._http.get(path, subject=str(subject), version=version, by_status=by_status))
        return RegisteredSchema(
            subject, _ours(bodies.number(body, "version")), None, pulsar_schemas.definition_of(body)
        )

    def versions(self, subject: Subject, *, deleted: bool = False) -> list[Version]:
        answer = bodies.an_object(self._get(subject, "schemas"))
        listed = bodies.a_list(answer.get("getSchemaResponses"), "getSchemaResponses")
        if not listed:
            raise SubjectNotFound(str(subject))
        return [_ours(bodies.number(bodies.an_object(entry), "version")) for entry in listed]

    def subjects(self, prefix: str = "", *, deleted: bool = False, page_size: int = 1000) -> Iterator[Subject]:
        """The topics of one namespace: that of the prefix."""
        namespace = _namespace_in(prefix)
        try:
            listed = self._http.get(f"/persistent/{_of(namespace)}")
        except NotFound as e:
            raise Unsupported("this registry lists no topics over Pulsar's API; use another dialect of it") from e
        for topic in bodies.a_list(listed):
            subject = Subject(namespace, str(topic).rsplit("/", 1)[-1])
            if str(subject).startswith(prefix):
                yield subject

    def check(self, subject: Subject, definition: SchemaDefinition, version: Version | None) -> Compatibility:
        if version is not None:
            raise Unsupported("Pulsar's API checks as the topic's policy says, not against a version of choice")
        answer = bodies.an_object(self._post(subject, "compatibility", definition))
        fits = answer.get("compatibility", answer.get("isCompatibility"))
        return Compatibility(bool(fits), tuple(_counted_from_one(findings_of(answer))))

    def config(self, subject: Subject | None) -> Config:
        topic = _required(subject)
        applied = {"applied": True}
        found = self._http.get(f"/persistent/{_topic(topic)}/schemaCompatibilityStrategy", applied)
        if found is None or found == "UNDEFINED":
            found = self._http.get(f"/namespaces/{_of(topic.namespace)}/schemaCompatibilityStrategy")
        return Config(bodies.strategy(found))

    def set_strategy(self, subject: Subject | None, strategy: Strategy | None) -> None:
        path = f"/persistent/{_topic(_required(subject))}/schemaCompatibilityStrategy"
        if strategy is None:
            self._http.call("DELETE", path)
        else:
            self._http.put(path, str(strategy))

    def configure(self, subject: Subject | None, wanted: Settings) -> None:
        more = asked(wanted).keys() - {"strategy", "validation_enforced"}
        if more:
            raise Unsupported(f"Pulsar's API has no {', '.join(sorted(more))} of a topic")
        if wanted.strategy is not None:
            self.set_strategy(subject, wanted.strategy)
        if wanted.validation_enforced is not None:
            path = f"/persistent/{_topic(_required(subject))}/schemaValidationEnforced"
            self._http.post(path, wanted.validation_enforced)

    def mode(self, subject: Subject | None) -> Mode:
        raise Unsupported("Pulsar's API has no modes")

    def set_mode(self, subject: Subject | None, mode: Mode | None, *, force: bool = False) -> None:
        raise Unsupported("Pulsar's API has no modes")

    def delete_subject(self, subject: Subject, *, permanent: bool = False) -> list[Version]:
        versions = self.versions(subject)
        query = {"force": True} if permanent else None
        self._http.delete(f"{_schemas(subject)}/schema", query, subject=str(subject), by_status=_OF_A_TOPIC)
        return versions

    def delete_version(self, subject: Subject, version: Version | None, *, permanent: bool = False) -> Version:
        raise Unsupported("Pulsar's API deletes all versions of a topic, not a single one")

    def _get(self, subject: Subject, what: str) -> Any:
        return self._http.get(f"{_schemas(subject)}/{what}", subject=str(subject), by_status=_OF_A_TOPIC)

    def _post(self, subject: Subject, what: str, definition: SchemaDefinition) -> Any:
        body = pulsar_schemas.body_of(definition)
        return self._http.post(f"{_schemas(subject)}/{what}", body, subject=str(subject), by_status=_OF_A_TOPIC)


def _ours(number: int) -> Version:
    """Pulsar counts from 0."""
    return Version(number + 1)


def _counted_from_one(findings: Iterable[Finding]) -> list[Finding]:
    return [finding if finding.version is None else finding.against(_ours(finding.version)) for finding in findings]


def _required(subject: Subject | None) -> Subject:
    if subject is None:
        raise Unsupported("Pulsar's API has no settings of the whole registry; name a topic")
    return subject


def _of(namespace: str) -> str:
    return "/".join(escaped(part) for part in namespace.split("/"))


def _topic(subject: Subject) -> str:
    return f"{_of(subject.namespace)}/{escaped(subject.name)}"


def _schemas(subject: Subject) -> str:
    return f"/schemas/{_topic(subject)}"


def _namespace_in(prefix: str) -> str:
    return (
        subject_of(f"{prefix}x").namespace if prefix.startswith(":.") and prefix.count(":") > 1 else DEFAULT_NAMESPACE
    )
