"""OpenSchema's API."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from tallystick.errors import SchemaNotFound, Unsupported
from tallystick.formats import identity
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.model.settings import Mode, Settings
from tallystick.model.strategy import Strategy
from tallystick.model.subject import DEFAULT_NAMESPACE, SchemaId, Subject, Version, context_of
from tallystick.rest import bodies
from tallystick.rest.connection import Connection, escaped
from tallystick.rest.dialect import Compatibility, Config, asked
from tallystick.rest.problems import findings_of
from tallystick.serde.ports import RegisteredSchema

_TYPE_OF = {
    "JSON": types.JSON_SCHEMA,
    "PB": types.PROTOBUF,
    "INT": types.INT32,
    "LONG": types.INT64,
}
_NAME_OF = {types.JSON_SCHEMA: "JSON", types.PROTOBUF: "PB", types.INT32: "Int", types.INT64: "Long"}


class OpenSchemaRegistry:
    name = "openschema"

    def __init__(self, connection: Connection) -> None:
        self._http = connection

    def register(self, subject: Subject, definition: SchemaDefinition, *, normalize: bool = False) -> RegisteredSchema:
        path, body = f"{_path(subject)}/versions", {"schema": _body(definition)}
        answer = bodies.an_object(self._http.post(path, body, subject=str(subject)))
        id_ = SchemaId(bodies.number(answer, "id"))
        return next(found for found in self._newest_first(subject) if found.id == id_)

    def _newest_first(self, subject: Subject) -> Iterator[RegisteredSchema]:
        """What was just registered is nearly always the first one."""
        latest = self.by_version(subject, None)
        yield latest
        for version in reversed(self.versions(subject)):
            if version != latest.version:
                yield self.by_version(subject, version)

    def look_up(
        self, subject: Subject, definition: SchemaDefinition, *, normalize: bool = False, deleted: bool = False
    ) -> RegisteredSchema:
        """OpenSchema has no such question, so the versions are read and compared here."""
        wanted = identity(definition)
        for found in self._newest_first(subject):
            if found.definition.type == definition.type and identity(found.definition) == wanted:
                return found
        raise SchemaNotFound

    def by_id(self, schema_id: SchemaId, namespace: str = DEFAULT_NAMESPACE) -> SchemaDefinition:
        named = str(schema_id) if namespace == DEFAULT_NAMESPACE else f":{context_of(namespace)}:{schema_id}"
        return _definition(self._schema(f"/schemas/ids/{escaped(named)}", schema_id=schema_id))

    def by_guid(self, guid: UUID) -> SchemaDefinition:
        raise Unsupported("OpenSchema has no GUIDs; ask the same registry in Confluent's dialect")

    def by_version(self, subject: Subject, version: Version | None, *, deleted: bool = False) -> RegisteredSchema:
        asked = "latest" if version is None else str(version)
        body = self._schema(f"{_path(subject)}/versions/{asked}/schema", subject=str(subject), version=asked)
        number, id_ = Version(bodies.number(body, "version")), SchemaId(bodies.number(body, "id"))
        return RegisteredSchema(subject, number, id_, _definition(body))

    def _schema(self, path: str, **asked: Any) -> dict[str, Any]:
        return bodies.an_object(bodies.an_object(self._http.get(path, **asked)).get("schema"))

    def versions(self, subject: Subject, *, deleted: bool = False) -> list[Version]:
        answer = bodies.an_object(self._http.get(f"{_path(subject)}/versions", subject=str(subject)))
        return [Version(number) for number in bodies.numbers(answer.get("versions"), "versions")]

    def subjects(self, prefix: str = "", *, deleted: bool = False, page_size: int = 1000) -> Iterator[Subject]:
        seen: set[Subject] = set()
        while True:
            answer = bodies.an_object(self._http.get("/subjects", {"offset": len(seen), "limit": page_size}))
            page = [_subject(bodies.an_object(entry)) for entry in bodies.a_list(answer.get("subjects"), "subjects")]
            new = [subject for subject in page if subject not in seen]
            seen.update(new)
            yield from (subject for subject in new if str(subject).startswith(prefix))
            if not new or len(page) != page_size:
                return

    def check(self, subject: Subject, definition: SchemaDefinition, version: Version | None) -> Compatibility:
        """With a version, or with the latest: OpenSchema compares with one."""
        asked = "latest" if version is None else str(version)
        path = f"/compatibility{_path(subject)}/versions/{asked}"
        body = {"schema": _body(definition)}
        answer = bodies.an_object(self._http.post(path, body, subject=str(subject), version=asked))
        fits = answer.get("is_compatible", answer.get("isCompatible"))
        return Compatibility(bool(fits), tuple(findings_of(answer)))

    def config(self, subject: Subject | None) -> Config:
        answer = bodies.an_object(self._http.get(self._config(subject)))
        return Config(bodies.strategy(answer.get("compatibility")))

    def set_strategy(self, subject: Subject | None, strategy: Strategy | None) -> None:
        word = "UNDEFINED" if strategy is None else bodies.strategy_name(strategy)
        self._http.put(self._config(subject), {"compatibility": word}, subject=str(subject))

    def configure(self, subject: Subject | None, wanted: Settings) -> None:
        more = asked(wanted).keys() - {"strategy"}
        if more:
            raise Unsupported(f"OpenSchema's API has no {', '.join(sorted(more))}; use Confluent's")
        if wanted.strategy is not None:
            self.set_strategy(subject, wanted.strategy)

    def _config(self, subject: Subject | None) -> str:
        if subject is None:
            raise Unsupported("OpenSchema's API has no settings of the whole registry; name a subject")
        return f"/config/{escaped(str(subject))}"

    def mode(self, subject: Subject | None) -> Mode:
        raise Unsupported("OpenSchema's API has no modes")

    def set_mode(self, subject: Subject | None, mode: Mode | None, *, force: bool = False) -> None:
        raise Unsupported("OpenSchema's API has no modes")

    def delete_subject(self, subject: Subject, *, permanent: bool = False) -> list[Version]:
        _require_soft(permanent)
        answer = bodies.an_object(self._http.delete(_path(subject), subject=str(subject)))
        found = answer.get("versions", answer.get("version"))
        return [Version(number) for number in bodies.numbers(found, "versions")]

    def delete_version(self, subject: Subject, version: Version | None, *, permanent: bool = False) -> Version:
        _require_soft(permanent)
        asked = "latest" if version is None else str(version)
        path = f"{_path(subject)}/versions/{asked}"
        answer = bodies.an_object(self._http.delete(path, subject=str(subject), version=asked))
        return Version(bodies.number(answer, "version"))


def _require_soft(permanent: bool) -> None:
    if permanent:
        raise Unsupported("OpenSchema's API has no permanent delete; use Confluent's")


def _body(definition: SchemaDefinition) -> dict[str, Any]:
    if definition.metadata or definition.rule_set:
        raise Unsupported("OpenSchema's API has no metadata and no rule sets; use Confluent's")
    body: dict[str, Any] = {
        "serialization": _NAME_OF.get(definition.type, str(definition.type)),
        "schemaDefinition": definition.text,
    }
    if definition.references:
        body["references"] = [
            {"name": r.name, "subject": r.subject, "version": r.version} for r in definition.references
        ]
    return body


def _definition(body: dict[str, Any]) -> SchemaDefinition:
    word = str(body.get("serialization") or body.get("schemaType") or "AVRO").upper()
    text = body.get("schemaDefinition") or ""
    written = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    return SchemaDefinition(_TYPE_OF.get(word, SchemaType(word)), written, bodies.references(body))


def _subject(body: dict[str, Any]) -> Subject:
    tenant, namespace = body.get("tenant") or "public", body.get("namespace") or "default"
    return Subject(f"{tenant}/{namespace}", bodies.text(body, "subject"))


def _path(subject: Subject) -> str:
    return f"/subjects/{escaped(str(subject))}"
