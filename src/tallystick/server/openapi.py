"""OpenAPI documents, made from the routes: what is documented is what is served."""

import re
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

from tallystick.server.dialect import Dialect
from tallystick.server.routing import Operation, Route

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_TEXT = {"type": "string"}

FINDING: dict[str, Any] = {
    "type": "object",
    "description": "One reason why something does not fit, with what is needed to mend it.",
    "required": ["rule", "message", "fix"],
    "properties": {
        "rule": _TEXT,
        "message": _TEXT,
        "fix": _TEXT,
        "direction": {"type": "string", "enum": ["BACKWARD", "FORWARD"]},
        "version": {"type": "integer"},
        "old": {"type": "object"},
        "new": {"type": "object"},
        "was": _TEXT,
        "now": _TEXT,
    },
}

# What any route may answer, whatever it does: who asks, how they ask, and whether the store is there.
_ALWAYS = (400, 401, 403, 503)
_WITH_BODY = (408, 413, 415)
_STATUS_WITHOUT_CONTENT = {204, 304}


def document(dialect: Dialect, prefix: str) -> dict[str, Any]:
    """The document of a dialect that is mounted at a prefix."""
    paths: dict[str, dict[str, Any]] = {}
    for route in dialect.routes:
        paths.setdefault(route.template or "/", {})[route.method.lower()] = _operation(dialect, route)
    return {
        "openapi": "3.1.0",
        "info": {"title": f"Tallystick: {dialect.title}", "version": version("tallystick")},
        "servers": [{"url": prefix or "/"}],
        "security": [{}, {"basic": []}, {"token": []}],
        "paths": paths,
        "components": {
            "schemas": dialect.components or {},
            "securitySchemes": {
                "basic": {"type": "http", "scheme": "basic"},
                "token": {"type": "http", "scheme": "bearer"},
            },
        },
    }


def _operation(dialect: Dialect, route: Route) -> dict[str, Any]:
    operation = route.operation
    described: dict[str, Any] = {
        "operationId": _operation_id(route),
        "summary": operation.summary,
        "parameters": [
            *(_parameter("path", name, _TEXT | {"minLength": 1}) for name in _PLACEHOLDER.findall(route.template)),
            *(_parameter("query", name, schema) for name, schema in operation.query.items()),
        ],
        "responses": _responses(dialect, operation),
    }
    if operation.body is not None:
        described["requestBody"] = {"required": True, "content": _content(dialect, operation.body)}
    return described


def _operation_id(route: Route) -> str:
    words = re.sub(r"\W+", "_", route.template).strip("_")
    return f"{route.method.lower()}_{words}"


def _parameter(place: str, name: str, schema: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": schema}


def _responses(dialect: Dialect, operation: Operation) -> dict[str, Any]:
    statuses = {*operation.errors, *_ALWAYS, *(_WITH_BODY if operation.body is not None else ())}
    return {
        str(operation.status): _response(dialect, operation.status, operation.answer),
        **{str(status): _response(dialect, status, _error(dialect)) for status in sorted(statuses)},
    }


def _response(dialect: Dialect, status: int, schema: Any) -> dict[str, Any]:
    described: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    if schema is not None and status not in _STATUS_WITHOUT_CONTENT:
        described["content"] = _content(dialect, schema)
    return described


def _content(dialect: Dialect, schema: Any) -> dict[str, Any]:
    return {media_type: {"schema": schema} for media_type in dialect.media_types}


def _error(dialect: Dialect) -> dict[str, Any]:
    return {"$ref": "#/components/schemas/Error"} if "Error" in (dialect.components or {}) else {}
