"""Confluent's API, as Confluent, Karapace, Apicurio and our own servers speak it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from tallystick.errors import NotFound, SettingsNotFound, Unsupported
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF, SchemaType
from tallystick.model.settings import Mode, Settings
from tallystick.model.strategy import Strategy
from tallystick.model.subject import DEFAULT_NAMESPACE, SchemaId, Subject, Version, context_of, subject_of
from tallystick.rest import bodies
from tallystick.rest.connection import Connection, escaped
from tallystick.rest.dialect import Compatibility, Config, asked
from tallystick.rest.problems import findings_of
from tallystick.serde.ports import RegisteredSchema

TYPES: Mapping[str, SchemaType] = {"AVRO": AVRO, "JSON": JSON_SCHEMA, "PROTOBUF": PROTOBUF}
_NAMES = {schema_type: name for name, schema_type in TYPES.items()}
_LEVELS = ("compatibilityLevel", "compatibility")
_POLICY = {
    "strategy": "compatibility",
    "enforce": "enforce",
    "payload_validation": "payloadValidation",
    "auto_update": "autoUpdate",
    "validation_enforced": "validationEnforced",
}


class ConfluentRegistry:
    name = "confluent"

    def __init__(self, connection: Connection) -> None:
        self._http = connection

    def register(
        self,
        subject: Subject,
        definition: SchemaDefinition,
        *,
        normalize: bool = False,
        id_: int | None = None,
        version: int | None = None,
    ) -> RegisteredSchema:
        """An id is given in IMPORT mode only."""
        given = {name: value for name, value in (("id", id_), ("version", version)) if value is not None}
        body = {**body_of(definition), **given}
        query = {"normalize": True} if normalize else None
        path = f"{_path(subject)}/versions"
        answer = bodies.an_object(self._http.post(path, body, query, subject=str(subject), **given))
        if "version" not in answer:
            return self.look_up(subject, definition, normalize=normalize)
        id_ = bodies.number(answer, "id")
        number = Version(bodies.number(answer, "version"))
        return RegisteredSchema(subject, number, SchemaId(id_), definition, bodies.guid(answer))

    def look_up(
        self, subject: Subject, definition: SchemaDefinition, *, normalize: bool = False, deleted: bool = False
    ) -> RegisteredSchema:
        query = {name: True for name, flag in (("normalize", normalize), ("deleted", deleted)) if flag}
        return _registered(self._http.post(_path(subject), body_of(definition), query, subject=str(subject)), subject)

    def by_id(self, schema_id: SchemaId, namespace: str = DEFAULT_NAMESPACE) -> SchemaDefinition:
        query = None if namespace == DEFAULT_NAMESPACE else {"subject": f":{context_of(namespace)}:"}
        return definition_of(self._http.get(f"/schemas/ids/{schema_id}", query, schema_id=schema_id))

    def by_guid(self, guid: UUID) -> SchemaDefinition:
        return definition_of(self._http.get(f"/schemas/guids/{guid}", schema_id=guid))

    def by_version(self, subject: Subject, version: Version | None, *, deleted: bool = False) -> RegisteredSchema:
        path = f"{_path(subject)}/versions/{_version(version)}"
        query = {"deleted": True} if deleted else None
        return _registered(self._http.get(path, query, subject=str(subject), version=_version(version)), subject)

    def versions(self, subject: Subject, *, deleted: bool = False) -> list[Version]:
        query = {"deleted": True} if deleted else None
        found = self._http.get(f"{_path(subject)}/versions", query, subject=str(subject))
        return [Version(number) for number in bodies.numbers(found, "versions")]

    def subjects(self, prefix: str = "", *, deleted: bool = False, page_size: int = 1000) -> Iterator[Subject]:
        for name in self._names(prefix, deleted, page_size):
            yield subject_of(name)

    def _names(self, prefix: str, deleted: bool, page_size: int) -> Iterator[str]:
        """Registries that know no pages answer everything at once, however often they are asked."""
        seen: set[str] = set()
        query = {"subjectPrefix": prefix or None, "deleted": True if deleted else None, "limit": page_size}
        while True:
            page = bodies.a_list(self._http.get("/subjects", {**query, "offset": len(seen)}))
            new = [name for name in page if isinstance(name, str) and name not in seen]
            seen.update(new)
            yield from new
            if not new or len(page) != page_size:
                return

    def check(self, subject: Subject, definition: SchemaDefinition, version: Version | None) -> Compatibility:
        """With a version, or as the subject's own policy says."""
        base = f"/compatibility{_path(subject)}/versions"
        path = base if version is None else f"{base}/{version}"
        asked = {"subject": str(subject), "version": version}
        answer = bodies.an_object(self._http.post(path, body_of(definition), {"verbose": True}, **asked))
        messages = tuple(message for message in answer.get("messages") or [] if isinstance(message, str))
        return Compatibility(bool(answer.get("is_compatible")), tuple(findings_of(answer)), messages)

    def config(self, subject: Subject | None) -> Config:
        found = self.config_at("" if subject is None else str(subject), applied=True)
        more = {name: value for name, value in found.items() if name not in _LEVELS and value is not None}
        return Config(bodies.strategy(level_in(found)), more)

    def set_strategy(self, subject: Subject | None, strategy: Strategy | None) -> None:
        place = "" if subject is None else str(subject)
        self.put_config(place, None if strategy is None else {"compatibility": bodies.strategy_name(strategy)})

    def configure(self, subject: Subject | None, wanted: Settings) -> None:
        place = "" if subject is None else str(subject)
        config = {_POLICY[name]: value for name, value in asked(wanted).items()}
        if wanted.strategy is not None:
            config["compatibility"] = bodies.strategy_name(wanted.strategy)
        self.put_config(place, config)
        # A registry that does not know a word may well let it pass.
        missing = [word for word in config if word not in _LEVELS and word not in self.config_at(place)]
        if missing:
            raise Unsupported(f"this registry has no {', '.join(missing)}: it kept nothing of it")

    def mode(self, subject: Subject | None) -> Mode:
        word = self.mode_at("" if subject is None else str(subject), applied=True)
        if word not in tuple(Mode):
            raise bodies.strange("mode that is known")
        return Mode(word)

    def set_mode(self, subject: Subject | None, mode: Mode | None, *, force: bool = False) -> None:
        self.put_mode("" if subject is None else str(subject), None if mode is None else str(mode), force=force)

    def delete_subject(self, subject: Subject, *, permanent: bool = False) -> list[Version]:
        query = {"permanent": True} if permanent else None
        found = self._http.delete(_path(subject), query, subject=str(subject))
        return [Version(number) for number in bodies.numbers(found, "versions")]

    def delete_version(self, subject: Subject, version: Version | None, *, permanent: bool = False) -> Version:
        query = {"permanent": True} if permanent else None
        path = f"{_path(subject)}/versions/{_version(version)}"
        found = self._http.delete(path, query, subject=str(subject), version=_version(version))
        return Version(bodies.number({"version": found}, "version"))

    def config_at(self, place: str, *, applied: bool = False) -> dict[str, Any]:
        """What is set at a place: "" is the registry, `:.context:` a context, else a subject; {} for nothing."""
        query = {"defaultToGlobal": True} if applied and place else None
        try:
            return bodies.an_object(self._http.get(_setting("config", place), query, subject=place))
        except SettingsNotFound:
            return {}

    def put_config(self, place: str, config: Mapping[str, Any] | None) -> None:
        if config is None:
            self._take_back("config", place)
        else:
            self._http.put(_setting("config", place), dict(config), subject=place)

    def mode_at(self, place: str, *, applied: bool = False) -> str | None:
        query = {"defaultToGlobal": True} if applied and place else None
        try:
            answer = bodies.an_object(self._http.get(_setting("mode", place), query, subject=place))
        except SettingsNotFound:
            return None
        word = answer.get("mode")
        return word if isinstance(word, str) else None

    def put_mode(self, place: str, mode: str | None, *, force: bool = False) -> None:
        if mode is None:
            self._take_back("mode", place)
        else:
            self._http.put(_setting("mode", place), {"mode": mode}, {"force": True} if force else None, subject=place)

    def _take_back(self, kind: str, place: str) -> None:
        try:
            self._http.call("DELETE", _setting(kind, place), asked={"subject": place})
        except NotFound:
            return  # there was nothing to take back

    def contexts(self) -> list[str]:
        """The contexts as they are written; the default one alone where the registry knows none."""
        try:
            found = bodies.a_list(self._http.get("/contexts"))
        except (NotFound, Unsupported):
            return ["."]
        return [context for context in found if isinstance(context, str)]

    def listed_versions(self, *, deleted: bool, page_size: int = 500) -> Iterator[RegisteredSchema]:
        """The versions of all contexts, in few requests. Raises `InvalidArgument` where the list lacks something."""
        seen: set[tuple[Subject, Version]] = set()
        query = {"subjectPrefix": ":*:", "deleted": True if deleted else None, "limit": page_size}
        while True:
            page = bodies.a_list(self._http.get("/schemas", {**query, "offset": len(seen)}))
            found = [_registered(entry, subject_of(bodies.text(bodies.an_object(entry), "subject"))) for entry in page]
            new = [each for each in found if (each.subject, each.version) not in seen]
            seen.update((each.subject, each.version) for each in new)
            yield from new
            if not new or len(page) != page_size:
                return

    def aliases(self) -> list[str]:
        """Subjects that stand for others; registries without aliases have none."""
        query = {"aliases": True, "latestOnly": True, "subjectPrefix": ":*:"}
        try:
            found = bodies.a_list(self._http.get("/schemas", query))
        except (NotFound, Unsupported):
            return []
        listed = [entry.get("aliases") or [] for entry in found if isinstance(entry, dict)]
        return sorted({alias for aliases in listed for alias in aliases if isinstance(alias, str)})


def body_of(definition: SchemaDefinition) -> dict[str, Any]:
    if definition.type not in _NAMES:
        raise Unsupported(f"Confluent's API has no schema type {definition.type}: it has {', '.join(TYPES)}")
    fields = {
        "schemaType": _NAMES[definition.type],
        "schema": definition.text,
        "references": [{"name": r.name, "subject": r.subject, "version": r.version} for r in definition.references],
        "metadata": definition.metadata and json.loads(definition.metadata),
        "ruleSet": definition.rule_set and json.loads(definition.rule_set),
    }
    return {name: value for name, value in fields.items() if value or name == "schema"}


def definition_of(body: Any) -> SchemaDefinition:
    answer = bodies.an_object(body)
    name = answer.get("schemaType") or "AVRO"
    return SchemaDefinition(
        TYPES.get(name, SchemaType(str(name))),
        # What our own server shows as text but keeps as a descriptor; a copy of it is to be the same schema.
        bodies.text(answer, "descriptor" if "descriptor" in answer else "schema"),
        bodies.references(answer),
        metadata=_contract(answer.get("metadata")),
        rule_set=_contract(answer.get("ruleSet")),
    )


def level_in(config: Mapping[str, Any]) -> Any:
    """It is called one thing where it is read and another where it is written."""
    return next((config[name] for name in _LEVELS if config.get(name)), None)


def _contract(value: Any) -> str | None:
    """As text that is equal for equal values, without what says nothing."""
    if not isinstance(value, dict):
        return None
    said = {key: entry for key, entry in value.items() if entry}
    return json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(",", ":")) if said else None


def _registered(body: Any, subject: Subject) -> RegisteredSchema:
    answer = bodies.an_object(body)
    version, id_ = Version(bodies.number(answer, "version")), SchemaId(bodies.number(answer, "id"))
    return RegisteredSchema(subject, version, id_, definition_of(answer), bodies.guid(answer))


def _path(subject: Subject) -> str:
    return f"/subjects/{escaped(str(subject))}"


def _setting(kind: str, place: str) -> str:
    return f"/{kind}/{escaped(place)}" if place else f"/{kind}"


def _version(version: Version | None) -> str:
    return "latest" if version is None else str(version)
