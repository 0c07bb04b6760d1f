"""`GET /audit`: every change with who made it and from where, the newest first."""

from datetime import UTC, datetime
from functools import partial
from typing import Any

from tallystick.errors import TallystickError
from tallystick.model.subject import subject_of
from tallystick.registry import audit
from tallystick.registry.ports import Entry, JournalFilter
from tallystick.registry.service import Registry
from tallystick.server.dialect import Dialect
from tallystick.server.http import MalformedRequest, Request, Response, as_json
from tallystick.server.problems import problem_of
from tallystick.server.routing import Operation, Route

_MOST = 1000
_USUAL = 100

_TEXT = {"type": "string"}
_ID = {"type": "integer", "minimum": 1}
_TIME = {"type": "string", "format": "date-time"}
_QUERY = {
    "subject": _TEXT,
    "principal": _TEXT,
    "kind": _TEXT,
    "since": {"type": "string", "format": "date-time", "description": "a time, or a day; without a zone it is UTC"},
    "before": {"type": "integer", "minimum": 1, "description": "`next` of the page before"},
    "limit": {"type": "integer", "minimum": 1, "maximum": _MOST, "default": _USUAL},
}
COMPONENTS: dict[str, Any] = {
    "Error": {"type": "object", "properties": {"error": _TEXT, "message": _TEXT}, "required": ["error", "message"]},
    "Entry": {
        "type": "object",
        "properties": {
            "id": _ID,
            "at": _TIME,
            "kind": _TEXT,
            "subject": _TEXT,
            "principal": _TEXT,
            "address": _TEXT,
            "data": {"type": "object"},
        },
        "required": ["id", "at", "kind", "principal", "data"],
    },
}
_ANSWER = {
    "type": "object",
    "properties": {"entries": {"type": "array", "items": {"$ref": "#/components/schemas/Entry"}}, "next": _ID},
    "required": ["entries"],
}


def dialect(registry: Registry) -> Dialect:
    operation = Operation("What was changed, by whom and from where; the newest first.", _QUERY, None, _ANSWER, (422,))
    route = Route("GET", "", partial(_answer, registry), operation)
    return Dialect("audit", "audit log", (route,), _problem, components=COMPONENTS)


def _problem(error: TallystickError, request: Request) -> Response:
    return Response(problem_of(error).status, as_json({"error": error.code, "message": error.message}))


def _answer(registry: Registry, request: Request) -> Response:
    limit = request.number("limit", _USUAL)
    if not 1 <= limit <= _MOST:
        raise MalformedRequest(f"limit is a number from 1 to {_MOST}")
    found, has_more = audit.entries(registry, request.caller, _wanted(request), limit)
    body: dict[str, Any] = {"entries": [_shown(entry) for entry in found]}
    if has_more:
        body["next"] = found[-1].id
    return Response(200, as_json(body), headers=(("cache-control", "no-store"),))


def _wanted(request: Request) -> JournalFilter:
    subject, before = request.text("subject"), request.number("before", 0)
    if before < 0:
        raise MalformedRequest("before is the id of an entry, from 1")
    return JournalFilter(
        subject=subject_of(subject) if subject else None,
        principal=request.text("principal") or None,
        kind=request.text("kind") or None,
        since=_time(request.text("since")),
        before=before or None,
    )


def _time(text: str) -> datetime | None:
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError) as e:
        raise MalformedRequest(f"since is a time such as 2026-01-31T08:00:00Z, not {text[:40]!r}") from e


def _shown(entry: Entry) -> dict[str, Any]:
    fields = {
        "id": entry.id,
        "at": entry.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "kind": entry.kind,
        "subject": None if entry.subject is None else str(entry.subject),
        "principal": entry.principal,
        "address": entry.address,
        "data": {name: value for name, value in entry.data.items() if value is not None},
    }
    return {name: value for name, value in fields.items() if value is not None}
