"""What bodies and answers look like, for the OpenAPI document."""

from typing import Any

from tallystick.model.settings import Enforce, PayloadValidation
from tallystick.server.openapi import FINDING

STRING = {"type": "string"}
INTEGER = {"type": "integer"}
BOOLEAN = {"type": "boolean"}
STRINGS = {"type": "array", "items": STRING}
INTEGERS = {"type": "array", "items": INTEGER}
EMPTY = {"type": "object", "maxProperties": 0}
TEXT: dict[str, object] = {}
"""A schema's own text: JSON, or whatever its type is written in."""

_ID = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
_NUMBER = {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}
_TYPE = {"type": "string", "enum": ["AVRO", "JSON", "PROTOBUF"]}
_LEVEL = {
    "type": "string",
    "enum": [
        "NONE",
        "BACKWARD",
        "BACKWARD_TRANSITIVE",
        "FORWARD",
        "FORWARD_TRANSITIVE",
        "FULL",
        "FULL_TRANSITIVE",
        "ALWAYS_INCOMPATIBLE",
    ],
}
_MODE = {"type": "string", "enum": ["READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD"]}

# Flags of the query are words in any case, which JSON Schema says best with a pattern.
FLAG = {"type": "string", "pattern": "^([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])$"}
OFFSET = {"type": "integer", "minimum": 0, "default": 0}
LIMIT = {"type": "integer", "default": -1, "description": "less than 0: all"}
FORMAT = {"type": "string", "enum": ["", "default", "resolved", "serialized"]}
PAGE = {"offset": OFFSET, "limit": LIMIT}


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(properties: dict[str, Any], required: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


_FINDINGS = {"type": "array", "items": ref("Finding")}
_CONTRACT = {"metadata": _or_null(ref("Metadata")), "ruleSet": _or_null(ref("RuleSet"))}
_DEFINITION = {
    "guid": {"type": "string", "format": "uuid"},
    "schemaType": _TYPE,
    "schema": STRING,
    "descriptor": {"type": "string", "description": "of a Protobuf schema that was registered as one, in base64"},
    "references": {"type": "array", "items": ref("Reference")},
    "metadata": ref("Metadata"),
    "ruleSet": ref("RuleSet"),
}
_VERSION = {
    "subject": STRING,
    "version": _NUMBER,
    "id": _ID,
    **_DEFINITION,
    "schemaTags": {"type": "array", "items": ref("SchemaTags")},
    "ts": {"type": "integer", "description": "when it was registered, in milliseconds since 1970"},
    "deleted": BOOLEAN,
    "aliases": STRINGS,
}
_SETTINGS = {
    "alias": _or_null(STRING),
    "aliasForDeks": _or_null(STRING),
    "normalize": _or_null(BOOLEAN),
    "validateFields": _or_null({"type": "boolean", "description": "keep `confluent:reserved` names free"}),
    "validateNewSchemas": _or_null({"type": "boolean", "description": "kept and returned, not acted upon"}),
    "validateRules": _or_null({"type": "boolean", "description": "kept and returned, not acted upon"}),
    "compatibilityGroup": _or_null(STRING),
    "compatibilityPolicy": _or_null({"type": "string", "enum": ["STRICT", "LENIENT"]}),
    "enforce": _or_null({"type": "string", "enum": [*map(str, Enforce)]}),
    "payloadValidation": _or_null({"type": "string", "enum": [*map(str, PayloadValidation)]}),
    "autoUpdate": _or_null({"type": "boolean", "description": "may clients of a broker bring new schemas?"}),
    "validationEnforced": _or_null({"type": "boolean", "description": "do producers need a schema?"}),
    "defaultMetadata": _or_null(ref("Metadata")),
    "overrideMetadata": _or_null(ref("Metadata")),
    "defaultRuleSet": _or_null(ref("RuleSet")),
    "overrideRuleSet": _or_null(ref("RuleSet")),
}

COMPONENTS: dict[str, Any] = {
    "Error": _object(
        {
            "error_code": INTEGER,
            "message": STRING,
            "messages": STRINGS,
            "findings": _FINDINGS,
        },
        ("error_code", "message"),
    ),
    "Finding": FINDING,
    "Reference": _object({"name": STRING, "subject": STRING, "version": _NUMBER}, ("name", "subject", "version")),
    "Metadata": _object(
        {
            "tags": _or_null({"type": "object", "additionalProperties": STRINGS}),
            "properties": _or_null({"type": "object", "additionalProperties": STRING}),
            "sensitive": _or_null(STRINGS),
        }
    ),
    "Rule": _object(
        {
            "name": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,63}$"},
            "doc": _or_null(STRING),
            "kind": _or_null({"type": "string", "enum": ["TRANSFORM", "CONDITION"]}),
            "mode": {"type": "string", "enum": ["UPGRADE", "DOWNGRADE", "UPDOWN", "WRITE", "READ", "WRITEREAD"]},
            "type": {"type": "string", "minLength": 1},
            "tags": _or_null(STRINGS),
            "params": _or_null({"type": "object", "additionalProperties": STRING}),
            "expr": _or_null(STRING),
            "onSuccess": _or_null(STRING),
            "onFailure": _or_null(STRING),
            "disabled": _or_null(BOOLEAN),
        },
        ("name", "mode", "type"),
    ),
    "RuleSet": _object(
        {
            "migrationRules": _or_null({"type": "array", "items": ref("Rule")}),
            "domainRules": _or_null({"type": "array", "items": ref("Rule")}),
            "encodingRules": _or_null({"type": "array", "items": ref("Rule")}),
            "enableAt": _or_null(STRING),
        }
    ),
    "RegisterRequest": _object(
        {
            "schema": _or_null({"type": "string", "description": "empty: that of the latest version"}),
            "schemaType": _or_null(_TYPE),
            "references": _or_null({"type": "array", "items": ref("Reference")}),
            **_CONTRACT,
            "id": _or_null({"type": "integer", "minimum": -1, "maximum": 2**31 - 1}),
            "version": _or_null({"type": "integer", "minimum": -1, "maximum": 2**31 - 1}),
        }
    ),
    "RegisterAnswer": _object(
        {"id": _ID, "version": _NUMBER, **_DEFINITION, "messages": STRINGS, "findings": _FINDINGS},
        ("id", "version", "guid", "schema"),
    ),
    "Schema": _object(
        {
            **_DEFINITION,
            "subject": STRING,
            "version": _NUMBER,
            "maxId": INTEGER,
            "schemaTags": {"type": "array", "items": ref("SchemaTags")},
        },
        ("schema", "guid"),
    ),
    "SubjectSchema": _object(_VERSION, ("subject", "version", "id", "schema", "guid")),
    "SubjectVersion": _object({"subject": STRING, "version": _NUMBER}, ("subject", "version")),
    "ContextId": _object({"context": STRING, "id": _ID}, ("context", "id")),
    "SchemaTags": _object(
        {
            "schemaEntity": _object(
                {"entityPath": STRING, "entityType": {"type": "string", "enum": ["sr_record", "sr_field"]}},
                ("entityPath", "entityType"),
            ),
            "tags": STRINGS,
        },
        ("schemaEntity", "tags"),
    ),
    "TagsRequest": _object(
        {
            "newVersion": _or_null({"type": "integer", "minimum": -1, "maximum": 2**31 - 1}),
            "tagsToAdd": _or_null({"type": "array", "items": ref("SchemaTags")}),
            "tagsToRemove": _or_null({"type": "array", "items": ref("SchemaTags")}),
            **_CONTRACT,
            "rulesToMerge": _or_null(ref("RuleSet")),
            "rulesToRemove": _or_null(STRINGS),
        }
    ),
    "Compatibility": _object(
        {"is_compatible": BOOLEAN, "messages": STRINGS, "findings": _FINDINGS},
        ("is_compatible",),
    ),
    "Config": _object({"compatibilityLevel": _LEVEL, **_SETTINGS}),
    "ConfigRequest": _object({"compatibility": _or_null(_LEVEL), **_SETTINGS}),
    "Mode": _object({"mode": _or_null(_MODE)}),
    "Version": _object({"version": STRING}, ("version",)),
    "ClusterId": _object({"id": STRING, "scope": {"type": "object"}}, ("id", "scope")),
    "Deployment": _object({"attributes": STRINGS}, ("attributes",)),
}
