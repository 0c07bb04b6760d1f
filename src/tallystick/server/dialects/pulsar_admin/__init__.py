"""Pulsar's admin REST: routes, their documentation, and how an error is told.

A topic's subject is its name in its namespace, so the other dialects see the same versions, one number higher. Through
this door a subject for which no strategy is set is judged as FULL: producers and consumers of a topic come and go in
any order. The other doors keep BACKWARD; whoever uses several sets a strategy, which then counts everywhere.
"""

from typing import Any

from tallystick.registry.service import Registry
from tallystick.server.dialect import Dialect
from tallystick.server.dialects.pulsar_admin import (
    bodies,
    lookup,
    message_policies,
    messages,
    namespaces,
    other_policies,
    subscriptions,
    tenants,
    topics,
)
from tallystick.server.dialects.pulsar_admin.asked import Ask
from tallystick.server.dialects.pulsar_admin.policies import Policies, of_namespace, of_topic
from tallystick.server.dialects.pulsar_admin.schemas import Schemas
from tallystick.server.dialects.pulsar_admin.told import Refusal, problem
from tallystick.server.openapi import FINDING
from tallystick.server.ports import BrokerPorts
from tallystick.server.routing import Operation, Route

_TEXT = {"type": "string"}
_VERSION = {"type": "integer", "minimum": -1}
_FINDINGS = {"type": "array", "items": {"$ref": "#/components/schemas/Finding"}}
_TEXTS = {"type": "object", "additionalProperties": _TEXT}
_BOOLEAN = {"type": "boolean"}
_FLAG = {"type": "boolean", "default": False}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}


_ENTRY = _object({"ledgerId": {"type": "integer"}, "entryId": {"type": "integer"}, "version": _VERSION})

COMPONENTS: dict[str, Any] = {
    "PostSchemaPayload": _object(
        {"type": {"type": "string", "enum": bodies.TYPE_NAMES}, "schema": _TEXT}, {"properties": _TEXTS}
    ),
    "GetSchemaResponse": _object(
        {
            "version": _VERSION,
            "type": {"type": "string", "enum": bodies.TYPE_NAMES},
            "timestamp": {"type": "integer"},
            "data": _TEXT,
            "properties": _TEXTS,
        }
    ),
    "SchemaMetadata": _object({"info": _ENTRY, "index": {"type": "array", "items": _ENTRY}}),
    "Strategy": {"type": "string", "enum": bodies.STRATEGY_NAMES},
    "AutoUpdateStrategy": {"type": "string", "enum": bodies.AUTO_UPDATE_NAMES},
    "Finding": FINDING,
    "Error": _object({"reason": _TEXT}, {"findings": _FINDINGS}),
}

_PAYLOAD = _ref("PostSchemaPayload")
_SCHEMA = _ref("GetSchemaResponse")
_SCHEMAS = _object({"getSchemaResponses": {"type": "array", "items": _SCHEMA}})
_REGISTERED = _object({"version": _object({"version": _VERSION})})
_NUMBERED = _object({"version": _VERSION})
_CHECKED = _object(
    {"compatibility": {"type": "boolean"}, "schemaCompatibilityStrategy": _TEXT}, {"findings": _FINDINGS}
)


def dialect(registry: Registry, broker: BrokerPorts | None = None) -> Dialect:
    """Without a broker the routes of topics, subscriptions, namespaces and tenants say that there is none."""
    ask = asking(broker)
    return Dialect(
        name="pulsar",
        title="Pulsar admin",
        routes=(
            *_schema_routes(Schemas(registry)),
            *_namespace_routes(registry),
            *_topic_routes(registry),
            *tenants.routes(ask),
            *namespaces.routes(ask, registry),
            *message_policies.routes(ask),
            *topics.routes(ask),
            *subscriptions.routes(ask),
            *messages.routes(ask),
            *other_policies.routes(ask),
        ),
        problem=problem,
        components=COMPONENTS,
    )


def lookup_dialect(broker: BrokerPorts | None = None) -> Dialect:
    """What belongs at `/lookup/v2`."""
    return lookup.dialect(asking(broker))


def asking(broker: BrokerPorts | None) -> Ask:
    def ask() -> BrokerPorts:
        if broker is None:
            raise Refusal(501, _NO_BROKER)
        return broker

    return ask


_NO_BROKER = (
    "this server runs without a broker, so it has schemas and no topics; start `tally serve` without --no-broker"
)


def _schema_routes(do: Schemas) -> tuple[Route, ...]:
    topic = "/schemas/{tenant}/{namespace}/{topic}"
    force = {"force": _FLAG, "authoritative": _FLAG}
    register = Operation("Register a schema.", {}, _PAYLOAD, _REGISTERED, (404, 409, 422))
    check = Operation("Does a schema fit the topic?", {}, _PAYLOAD, _CHECKED, (404, 422), 202)
    find = Operation("The version of a schema; -1 where there is none.", {}, _PAYLOAD, _NUMBERED, (404, 422))
    latest = Operation("The latest schema of a topic.", {}, None, _SCHEMA, (404, 422))
    version = Operation("A schema by its version, from 0.", {}, None, _SCHEMA, (404, 422))
    delete = Operation("Delete the schemas of a topic; `force` for ever.", force, None, _NUMBERED, (404, 422))
    return (
        Route("GET", f"{topic}/schema", do.latest, latest),
        Route("GET", f"{topic}/schema/{{version}}", do.version, version),
        Route("GET", f"{topic}/schemas", do.all_versions, Operation("All.", {}, None, _SCHEMAS, (404, 422))),
        Route(
            "GET",
            f"{topic}/metadata",
            do.metadata,
            Operation("The versions, without their text.", {}, None, _ref("SchemaMetadata"), (404, 422)),
        ),
        Route("POST", f"{topic}/schema", do.register, register),
        Route("POST", f"{topic}/compatibility", do.check, check),
        Route("POST", f"{topic}/version", do.find_version, find),
        Route("DELETE", f"{topic}/schema", do.delete, delete),
    )


def _namespace_routes(registry: Registry) -> tuple[Route, ...]:
    do = Policies(registry, of_namespace)
    at = "/namespaces/{tenant}/{namespace}"
    strategy, auto = f"{at}/schemaCompatibilityStrategy", f"{at}/schemaAutoUpdateCompatibilityStrategy"
    return (
        Route("GET", strategy, do.strategy, _reads("The strategy of a namespace.", _ref("Strategy"))),
        Route("PUT", strategy, do.set_strategy, _writes("Set the strategy.", _ref("Strategy"))),
        Route("GET", auto, do.auto_update_strategy, _reads("The older form.", _ref("AutoUpdateStrategy"))),
        Route("PUT", auto, do.set_auto_update_strategy, _writes("The older form.", _ref("AutoUpdateStrategy"))),
        *_flag_routes(do, f"{at}/isAllowAutoUpdateSchema", "auto_update", "May clients bring new schemas?"),
        *_flag_routes(do, f"{at}/schemaValidationEnforced", "validation_enforced", "Do producers need a schema?"),
    )


def _topic_routes(registry: Registry) -> tuple[Route, ...]:
    do = Policies(registry, of_topic)
    at = "/persistent/{tenant}/{namespace}/{topic}"
    strategy, enforced = f"{at}/schemaCompatibilityStrategy", f"{at}/schemaValidationEnforced"
    return (
        Route("GET", strategy, do.strategy, _reads("The strategy of a topic, or nothing.", None)),
        Route("PUT", strategy, do.set_strategy, _writes("Set the strategy.", _ref("Strategy"))),
        Route("DELETE", strategy, do.remove_strategy, _writes("Take the strategy back.")),
        *_flag_routes(do, enforced, "validation_enforced", "Do producers need a schema?"),
        Route("DELETE", enforced, do.remove_flag("validation_enforced"), _writes("Take it back.")),
    )


def _flag_routes(do: Policies, template: str, name: str, summary: str) -> tuple[Route, Route]:
    return (
        Route("GET", template, do.flag(name), _reads(summary, _BOOLEAN)),
        Route("POST", template, do.set_flag(name), _writes(summary, _BOOLEAN)),
    )


def _reads(summary: str, answer: Any) -> Operation:
    return Operation(summary, {"applied": _FLAG}, None, answer, (422,))


def _writes(summary: str, body: Any = None) -> Operation:
    return Operation(summary, {}, body, None, (422,), 204)
