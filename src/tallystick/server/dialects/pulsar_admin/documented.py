"""Shorthands of the routes' documentation, and the JSON Schemas of what they answer."""

from typing import Any

from tallystick.server.routing import Operation

TEXT = {"type": "string"}
NAMES = {"type": "array", "items": TEXT}
ANY_OBJECT = {"type": "object"}
TEXTS = {"type": "object", "additionalProperties": TEXT}
NUMBER = {"type": "integer"}
BOOLEAN = {"type": "boolean"}
FLAG = {"type": "boolean", "default": False}
REFUSALS = (404, 405, 406, 409, 412, 422, 501)
AUTHORITATIVE = {"authoritative": FLAG}
FORCE = {"force": FLAG, "authoritative": FLAG}

TENANT = {"type": "object", "properties": {"adminRoles": NAMES, "allowedClusters": NAMES}}
RETENTION = {
    "type": "object",
    "required": ["retentionTimeInMinutes", "retentionSizeInMB"],
    "properties": {"retentionTimeInMinutes": NUMBER, "retentionSizeInMB": NUMBER},
}
PARTITIONS = {
    "type": "object",
    "required": ["partitions", "deleted"],
    "properties": {"partitions": NUMBER, "deleted": BOOLEAN, "properties": TEXTS},
}
NEW_PARTITIONS = {
    "oneOf": [
        {"type": "integer", "minimum": 1, "maximum": 5},
        {
            "type": "object",
            "required": ["partitions"],
            "properties": {"partitions": {"type": "integer", "minimum": 1, "maximum": 5}, "properties": TEXTS},
        },
    ]
}
MESSAGE_ID = {
    "type": "object",
    "required": ["ledgerId", "entryId"],
    "properties": {"ledgerId": NUMBER, "entryId": NUMBER, "partitionIndex": NUMBER, "batchIndex": NUMBER},
}


def reads(summary: str, answer: Any, **query: Any) -> Operation:
    return Operation(summary, query, None, answer, REFUSALS)


def writes(summary: str, body: Any = None, **query: Any) -> Operation:
    return Operation(summary, query, body, None, REFUSALS, 204)
