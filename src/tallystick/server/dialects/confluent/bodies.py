"""Bodies of requests: schemas, metadata and rule sets as values that can be trusted."""

import re
from collections.abc import Mapping
from typing import Any

from tallystick.errors import InvalidArgument, InvalidSchema, UnknownSchemaType
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import AVRO, JSON_SCHEMA, PROTOBUF, SchemaType
from tallystick.model.subject import SchemaId, Version
from tallystick.registry.contract import canonical_json
from tallystick.server.dialects.confluent.names import LARGEST
from tallystick.server.http import MalformedRequest

TYPES: Mapping[str, SchemaType] = {"AVRO": AVRO, "JSON": JSON_SCHEMA, "PROTOBUF": PROTOBUF}
NAMES = {schema_type: name for name, schema_type in TYPES.items()}

_RULE_NAME = re.compile(r"[^\W\d][\w-]{0,63}")
_KINDS = {"TRANSFORM", "CONDITION"}
_MODES = {
    "migrationRules": {"UPGRADE", "DOWNGRADE", "UPDOWN"},
    "domainRules": {"WRITE", "READ", "WRITEREAD"},
    "encodingRules": {"WRITE", "READ", "WRITEREAD"},
}
_TWO_ACTIONS = {"WRITEREAD", "UPDOWN"}
_RULE_FIELDS = ("name", "doc", "kind", "mode", "type", "tags", "params", "expr", "onSuccess", "onFailure", "disabled")
_STRINGS = ("name", "doc", "kind", "mode", "type", "expr", "onSuccess", "onFailure")


def definition(body: Mapping[str, Any]) -> SchemaDefinition:
    return SchemaDefinition(
        schema_type(body),
        string(body, "schema") or "",
        references(body),
        metadata=canonical_json(metadata(body.get("metadata"), "metadata")),
        rule_set=canonical_json(rule_set(body.get("ruleSet"), "ruleSet")),
    )


def schema_type(body: Mapping[str, Any]) -> SchemaType:
    name = string(body, "schemaType") or "AVRO"
    if name not in TYPES:
        raise UnknownSchemaType(name[:100], list(TYPES))
    return TYPES[name]


def references(body: Mapping[str, Any]) -> tuple[Reference, ...]:
    listed = body.get("references")
    if listed is None:
        return ()
    if not isinstance(listed, list):
        raise MalformedRequest("references is a list")
    return tuple(_reference(entry) for entry in listed)


def _reference(entry: Any) -> Reference:
    if not isinstance(entry, dict):
        raise MalformedRequest("a reference is an object with name, subject and version")
    name, subject, version = string(entry, "name"), string(entry, "subject"), number(entry, "version")
    if not name or not subject or version is None or version < 1:
        raise InvalidSchema("a reference has a name, a subject and a version from 1")
    return Reference(name, subject, version)


def given_id(body: Mapping[str, Any]) -> SchemaId | None:
    """The id that an import brings; clients write -1 for none."""
    id_ = number(body, "id")
    return None if id_ is None or id_ < 0 else SchemaId(id_)


def given_version(body: Mapping[str, Any], name: str = "version") -> Version | None:
    """The version that is asked for; 0 and -1 stand for the next one."""
    version = number(body, name)
    return None if version is None or version < 1 else Version(version)


def string(body: Mapping[str, Any], name: str) -> str | None:
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise MalformedRequest(f"{name} is a text")
    return value


def number(body: Mapping[str, Any], name: str) -> int | None:
    value = body.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or not -1 <= value <= LARGEST):
        raise MalformedRequest(f"{name} is a whole number up to {LARGEST}")
    return value


def metadata(value: Any, name: str) -> dict[str, Any] | None:
    """Metadata without what says nothing; None stays None, so that an empty object can mean "none at all"."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise MalformedRequest(f"{name} is an object with tags, properties and sensitive")
    found = {
        "tags": {key: strings(tags, f"{name}.tags") for key, tags in _entries(value.get("tags"), f"{name}.tags")},
        "properties": dict(_texts_by_name(value.get("properties"), f"{name}.properties")),
        "sensitive": sorted(set(strings(value.get("sensitive"), f"{name}.sensitive"))),
    }
    return {key: entry for key, entry in found.items() if entry}


def _entries(value: Any, name: str) -> list[tuple[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, dict):
        raise MalformedRequest(f"{name} is an object")
    return list(value.items())


def strings(value: Any, name: str) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise MalformedRequest(f"{name} is a list of texts")
    return value


def _texts_by_name(value: Any, name: str) -> list[tuple[str, str]]:
    entries = _entries(value, name)
    if not all(isinstance(text, str) for _, text in entries):
        raise MalformedRequest(f"the values of {name} are texts")
    return entries


def rule_set(value: Any, name: str) -> dict[str, Any] | None:
    """A rule set whose rules are whole. Raises `InvalidArgument` for the argument "rule set"."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise MalformedRequest(f"{name} is an object with migrationRules, domainRules and encodingRules")
    found: dict[str, Any] = {kind: _rules(value.get(kind), kind) for kind in _MODES}
    found["enableAt"] = string(value, "enableAt")
    return {key: entry for key, entry in found.items() if entry}


def _rules(value: Any, kind: str) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise MalformedRequest(f"{kind} is a list of rules")
    rules = [_rule(entry, kind) for entry in value]
    names = [rule["name"] for rule in rules]
    for rule_name in names:
        if names.count(rule_name) > 1:
            raise InvalidArgument("rule set", f"two rules of {kind} have the name {rule_name!r}")
    return rules


def _rule(value: Any, kind: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MalformedRequest(f"a rule of {kind} is an object")
    rule: dict[str, Any] = {name: string(value, name) for name in _STRINGS}
    rule["tags"] = sorted(set(strings(value.get("tags"), "tags")))
    rule["params"] = dict(_texts_by_name(value.get("params"), "params"))
    rule["disabled"] = flag(value, "disabled")
    _require_whole(rule, kind)
    return {name: rule[name] for name in _RULE_FIELDS if rule[name]}


def _require_whole(rule: Mapping[str, Any], kind: str) -> None:
    name = rule["name"]
    if name is None or _RULE_NAME.fullmatch(name) is None:
        raise InvalidArgument(
            "rule set", f"a rule's name is 1 to 64 letters, digits, _ and -, the first a letter or _: {name!r} is none"
        )
    if not rule["type"]:
        raise InvalidArgument("rule set", f"rule {name!r} has no type")
    if rule["kind"] is not None and rule["kind"] not in _KINDS:
        raise InvalidArgument("rule set", f"rule {name!r}: kind is TRANSFORM or CONDITION")
    if rule["mode"] not in _MODES[kind]:
        raise InvalidArgument("rule set", f"rule {name!r}: the mode of {kind} is {', '.join(sorted(_MODES[kind]))}")
    if rule["mode"] not in _TWO_ACTIONS and any("," in (rule[on] or "") for on in ("onSuccess", "onFailure")):
        raise InvalidArgument("rule set", f"rule {name!r}: two actions go with {' and '.join(sorted(_TWO_ACTIONS))}")


def flag(body: Mapping[str, Any], name: str) -> bool | None:
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise MalformedRequest(f"{name} is true or false")
    return value
