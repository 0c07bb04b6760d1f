"""/subjects/{subject}/versions/{version}/tags: a new version with other tags, metadata or rules."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from tallystick.errors import InvalidArgument
from tallystick.model.definition import SchemaDefinition
from tallystick.registry import lookup, registration
from tallystick.registry.contract import canonical_json, merged_rules
from tallystick.registry.service import Registry
from tallystick.server.dialects.confluent import bodies, entities, names, shown, texts
from tallystick.server.dialects.confluent.answers import answer
from tallystick.server.dialects.confluent.components import ref
from tallystick.server.http import MalformedRequest, Request, Response
from tallystick.server.routing import Operation, Route

_VERSION = "confluent:version"
"""The property that tells apart two versions with the same text and contract."""


def routes(registry: Registry) -> Iterator[Route]:
    yield Route(
        "POST",
        "/subjects/{subject}/versions/{version}/tags",
        partial(_tag, registry),
        Operation(
            "Change the tags, the metadata or the rules of a version, as a new version",
            {},
            ref("TagsRequest"),
            ref("RegisterAnswer"),
            (400, 404, 409, 413, 415, 422),
        ),
    )


def _tag(registry: Registry, request: Request) -> Response:
    subject, body = names.subject(request), request.object()
    found = lookup.version(registry, request.caller, subject, names.version(request.path["version"]))
    definition = shown.require_known_version(found).schema.definition
    last = lookup.version(registry, request.caller, subject, None).row.version
    number = bodies.given_version(body, "newVersion") or last + 1
    changed = replace(
        definition,
        text=_text(definition, body),
        metadata=_metadata(definition, body, number),
        rule_set=canonical_json(_rules(definition, body)),
    )
    done = registration.register(registry, request.caller, subject, changed)
    return answer(request, shown.registration(done, texts.of_registration(registry, done, None, "")))


def _text(definition: SchemaDefinition, body: Mapping[str, Any]) -> str:
    add, remove = _tags(body, "tagsToAdd"), _tags(body, "tagsToRemove")
    if not add and not remove:
        return definition.text
    return entities.with_tags(definition, add, remove)


def _tags(body: Mapping[str, Any], name: str) -> dict[str, list[str]]:
    listed = body.get(name) or []
    if not isinstance(listed, list):
        raise MalformedRequest(f"{name} is a list")
    found: dict[str, list[str]] = {}
    for entry in listed:
        if not isinstance(entry, dict) or not isinstance(entry.get("schemaEntity"), dict):
            raise MalformedRequest(f"an entry of {name} has a schemaEntity and tags")
        path = bodies.string(entry["schemaEntity"], "entityPath")
        if not path:
            raise MalformedRequest(f"a schemaEntity of {name} has an entityPath")
        found.setdefault(path, []).extend(bodies.strings(entry.get("tags"), f"{name}.tags"))
    return found


def _metadata(definition: SchemaDefinition, body: Mapping[str, Any], number: int) -> str | None:
    own = json.loads(definition.metadata) if definition.metadata else {}
    given = bodies.metadata(body.get("metadata"), "metadata")
    metadata = own if given is None else given
    return canonical_json({**metadata, "properties": {**metadata.get("properties", {}), _VERSION: str(number)}})


def _rules(definition: SchemaDefinition, body: Mapping[str, Any]) -> dict[str, Any]:
    given = bodies.rule_set(body.get("ruleSet"), "ruleSet")
    merge = bodies.rule_set(body.get("rulesToMerge"), "rulesToMerge")
    remove = bodies.strings(body.get("rulesToRemove"), "rulesToRemove")
    if given is not None:
        if merge is not None or remove:
            raise InvalidArgument("rule set", "give either ruleSet, or rulesToMerge and rulesToRemove")
        return given
    return {
        kind: [rule for rule in rules if rule["name"] not in remove] if isinstance(rules, list) else rules
        for kind, rules in merged_rules(shown.rule_set(definition), merge).items()
    }
