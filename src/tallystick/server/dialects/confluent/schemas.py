"""/schemas: by id, by GUID, and lists of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from tallystick.errors import SchemaNotFound
from tallystick.model.subject import Subject, context_of
from tallystick.registry import lookup, policies
from tallystick.registry.lookup import LIVE, LIVE_AND_DELETED, SubjectVersion
from tallystick.registry.ports import ALL, StoredSchema, VersionRow
from tallystick.registry.service import Registry
from tallystick.server.dialects.confluent import entities, names, shown, texts
from tallystick.server.dialects.confluent.answers import answer
from tallystick.server.dialects.confluent.bodies import NAMES, TYPES
from tallystick.server.dialects.confluent.components import FLAG, FORMAT, PAGE, STRING, STRINGS, TEXT, ref
from tallystick.server.http import Request, Response
from tallystick.server.routing import Operation, Route


def routes(registry: Registry) -> Iterator[Route]:
    by_id = {"subject": STRING, "format": FORMAT}
    used = {"subject": STRING, "deleted": FLAG, **PAGE}
    listed = {"subjectPrefix": STRING, "aliases": FLAG, "deleted": FLAG, "latestOnly": FLAG, "ruleType": STRING}
    associated = {"resourceType": STRING, "associationType": STRINGS, "lifecycle": STRINGS}
    more = {"referenceFormat": STRING, "findTags": STRINGS, "fetchMaxId": FLAG}
    subject_schemas = {"type": "array", "items": ref("SubjectSchema")}
    versions = {"type": "array", "items": ref("SubjectVersion")}
    ids = {"type": "array", "items": ref("ContextId")}
    for template, handler, operation in (
        ("", _list, Operation("List schemas", {**listed, **associated, **PAGE}, None, subject_schemas, (400, 422))),
        ("/types", _types, Operation("List schema types", {}, None, STRINGS)),
        ("/ids/{id}", _by_id, Operation("Get a schema", {**by_id, **more}, None, ref("Schema"), (400, 404, 422))),
        ("/ids/{id}/schema", _text, Operation("Get a schema's text", by_id, None, TEXT, (400, 404, 422))),
        ("/ids/{id}/subjects", _subjects, Operation("Who uses a schema", used, None, STRINGS, (400, 404, 422))),
        ("/ids/{id}/versions", _versions, Operation("As which versions", used, None, versions, (400, 404, 422))),
        ("/guids/{guid}", _by_guid, Operation("Get by GUID", {"format": FORMAT}, None, ref("Schema"), (400, 404, 422))),
        ("/guids/{guid}/ids", _ids, Operation("The ids that a GUID has", {}, None, ids, (404,))),
    ):
        yield Route("GET", f"/schemas{template}", partial(handler, registry), operation)


def _types(_: Registry, request: Request) -> Response:
    return answer(request, sorted(TYPES))


def _by_id(registry: Registry, request: Request) -> Response:
    stored, row, is_settled = _asked(registry, request)
    definition = stored.definition
    if request.text("referenceFormat") == "qualified":
        definition = replace(definition, references=shown.qualified(definition.references, stored.namespace))
    body = shown.definition(definition, stored.guid, texts.formatted(registry, stored, request.text("format")))
    if row is not None:
        body = {"subject": str(row.subject), "version": row.version, **body}
    tags = request.query("findTags")
    if tags:
        body["schemaTags"] = entities.tagged(texts.parsed(registry, stored), tags)
    if request.flag("fetchMaxId"):
        body["maxId"] = lookup.last_id(registry, stored.namespace)
    return answer(request, body, is_immutable=is_settled and not request.flag("fetchMaxId"))


def _text(registry: Registry, request: Request) -> Response:
    stored, _, is_settled = _asked(registry, request)
    text = texts.formatted(registry, stored, request.text("format"))
    found = answer(request, None, is_immutable=is_settled)
    return replace(found, body=(stored.definition.text if text is None else text).encode())


def _asked(registry: Registry, request: Request) -> tuple[StoredSchema, VersionRow | None, bool]:
    """The schema, the version that the subject of the query has it as, and whether that never changes.

    It is the first version with this schema, deleted or not: later ones do not change the answer.
    """
    namespace, name = names.in_query(request)
    id_ = names.schema_id(request)
    stored = shown.require_known_type(lookup.by_id(registry, namespace, id_, request.caller))
    if not name:
        return stored, None, True
    subject = Subject(namespace, name)
    target = lookup.meant_by(registry, subject)
    rows = lookup.versions_of(registry, request.caller, namespace, id_)
    own = [row for row in rows if row.subject in (subject, target)]
    return stored, next(iter(own or rows), None), bool(own) and own[0].subject == subject


def _used(registry: Registry, request: Request) -> Sequence[VersionRow]:
    namespace, _ = names.in_query(request)
    id_ = names.schema_id(request)
    shown.require_known_type(lookup.by_id(registry, namespace, id_, request.caller))
    states = LIVE_AND_DELETED if request.flag("deleted") else LIVE
    return [row for row in lookup.versions_of(registry, request.caller, namespace, id_) if row.state in states]


def _subjects(registry: Registry, request: Request) -> Response:
    found = list(dict.fromkeys(str(row.subject) for row in _used(registry, request)))
    return answer(request, names.paged(found, names.page(request)))


def _versions(registry: Registry, request: Request) -> Response:
    found = [{"subject": str(row.subject), "version": row.version} for row in _used(registry, request)]
    return answer(request, names.paged(found, names.page(request)))


def _by_guid(registry: Registry, request: Request) -> Response:
    stored = _of_guid(registry, request)[0]
    text = texts.formatted(registry, stored, request.text("format"))
    return answer(request, shown.definition(stored.definition, stored.guid, text), is_immutable=True)


def _ids(registry: Registry, request: Request) -> Response:
    found = sorted((context_of(stored.namespace), stored.id) for stored in _of_guid(registry, request))
    return answer(request, [{"context": context, "id": id_} for context, id_ in found])


def _of_guid(registry: Registry, request: Request) -> Sequence[StoredSchema]:
    text = request.path["guid"]
    try:
        guid = UUID(text)
    except ValueError as e:
        raise SchemaNotFound(f"Schema {text[:100]}") from e
    found = [stored for stored in lookup.by_guid(registry, guid, request.caller) if stored.definition.type in NAMES]
    if not found:
        raise SchemaNotFound(f"Schema {guid}")
    return found


def _list(registry: Registry, request: Request) -> Response:
    if _asks_for_associations(request):
        return answer(request, [])
    rule_type, page = request.text("ruleType"), names.page(request)
    aliases: dict[Subject, list[Subject]] = {}
    if request.flag("aliases"):
        aliases = policies.aliases(registry, request.caller, *names.prefix(request, ""))
    is_filtered = bool(rule_type or aliases)
    found = _listed(registry, request, is_filtered)
    if aliases:
        found = _with_targets(registry, request, found, aliases)
    if rule_type:
        found = [version for version in found if _has_rule(version, rule_type)]
    chosen = names.paged(found, page) if is_filtered else found
    return answer(request, [_shown(registry, version, aliases) for version in chosen])


def _asks_for_associations(request: Request) -> bool:
    """There are none here, so that whoever asks for schemas with some gets nothing."""
    lifecycles = {word.upper() for word in request.query("lifecycle")}
    asked = lifecycles or request.query("resourceType") or request.query("associationType")
    return bool(asked) and "NONE" not in lifecycles


def _listed(registry: Registry, request: Request, is_filtered: bool) -> Sequence[SubjectVersion]:
    namespace, prefix = names.prefix(request, "")
    return lookup.schemas(
        registry,
        request.caller,
        namespace,
        prefix=prefix,
        states=LIVE_AND_DELETED if request.flag("deleted") else LIVE,
        page=ALL if is_filtered else names.page(request),
        types=NAMES.keys(),
        latest_only=request.flag("latestOnly"),
    )


def _with_targets(
    registry: Registry, request: Request, found: Sequence[SubjectVersion], aliases: dict[Subject, list[Subject]]
) -> Sequence[SubjectVersion]:
    listed = {version.row.subject for version in found}
    states = LIVE_AND_DELETED if request.flag("deleted") else LIVE
    more = [
        version
        for target in aliases.keys() - listed
        for version in lookup.schemas(
            registry,
            request.caller,
            target.namespace,
            prefix=target.name,
            states=states,
            types=NAMES.keys(),
            latest_only=request.flag("latestOnly"),
        )
        if version.row.subject == target
    ]
    return sorted([*found, *more], key=lambda version: (version.row.subject, version.row.version))


def _has_rule(version: SubjectVersion, rule_type: str) -> bool:
    rules = shown.rule_set(version.schema.definition)
    return any(rule["type"] == rule_type for listed in rules.values() if isinstance(listed, list) for rule in listed)


def _shown(registry: Registry, version: SubjectVersion, aliases: dict[Subject, list[Subject]]) -> dict[str, Any]:
    body = shown.version(version, texts.formatted(registry, version.schema, ""))
    own = aliases.get(version.row.subject)
    return {**body, "aliases": list(map(str, own))} if own else body
