"""`/pipelines`: drivers of pipelines say how far they are, and whoever may read it sees it."""

from functools import partial
from typing import Any

from tallystick.errors import InvalidArgument, TallystickError
from tallystick.model.pipeline import MOST_SCHEMAS, PipelineState, status_of
from tallystick.registry import pipelines
from tallystick.registry.ports import PipelineRow
from tallystick.registry.service import Registry
from tallystick.server.dialect import Dialect
from tallystick.server.http import Request, Response, as_json
from tallystick.server.problems import problem_of
from tallystick.server.routing import Operation, Route

MOST_BYTES = 256_000

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}
_TIME = {"type": "string", "format": "date-time"}
_OUTCOMES = {"good": _COUNT, "quarantined": _COUNT, "tombstones": _COUNT}
_STATUS: dict[str, Any] = {
    "type": "object",
    "description": "Numbers count from the pipeline's last start.",
    "properties": {
        "state": {"type": "string", "enum": [str(state) for state in PipelineState]},
        "records": {"type": "object", "properties": {"seen": _COUNT, **_OUTCOMES}},
        "schemas": {
            "type": "object",
            "description": "The same by schema; those that are too many are summed as `*`.",
            "additionalProperties": {"type": "object", "properties": _OUTCOMES},
            "maxProperties": MOST_SCHEMAS,
        },
        "batch": _COUNT | {"description": "the last one that is done"},
        "lag": _COUNT | {"description": "records that are there and have not been read"},
        "rate": {"type": "number", "minimum": 0, "description": "records in a second, of the last batch"},
        "started_at": _TEXT,
        "message": _TEXT | {"description": "why it waits, is blocked or failed"},
        "details": {"type": "object", "description": "whatever else this kind of pipeline has to tell"},
    },
    "required": ["state"],
    "additionalProperties": False,
}
_KEPT = {"name": _TEXT, "status": {"$ref": "#/components/schemas/Status"}, "principal": _TEXT, "updated_at": _TIME}
COMPONENTS: dict[str, Any] = {
    "Error": {"type": "object", "properties": {"error": _TEXT, "message": _TEXT}, "required": ["error", "message"]},
    "Status": _STATUS,
    "Pipeline": {"type": "object", "properties": _KEPT, "required": list(_KEPT)},
}
_PIPELINE = {"$ref": "#/components/schemas/Pipeline"}
_LISTED = {
    "type": "object",
    "properties": {"pipelines": {"type": "array", "items": _PIPELINE}},
    "required": ["pipelines"],
}


def dialect(registry: Registry) -> Dialect:
    status = "/{pipeline}/status"
    told = Operation("A pipeline says how far it is.", {}, {"$ref": "#/components/schemas/Status"}, _PIPELINE, (422,))
    routes = (
        Route("GET", "", partial(_list, registry), Operation("Every pipeline, by name.", answer=_LISTED)),
        Route("PUT", status, partial(_put, registry), told),
        Route(
            "GET",
            status,
            partial(_get, registry),
            Operation("What a pipeline last said.", answer=_PIPELINE, errors=(404, 422)),
        ),
        Route(
            "DELETE",
            status,
            partial(_delete, registry),
            Operation("Forgets a pipeline that will not come back.", errors=(404, 422), status=204),
        ),
    )
    return Dialect("pipelines", "pipelines", routes, _problem, components=COMPONENTS)


def _problem(error: TallystickError, request: Request) -> Response:
    return Response(problem_of(error).status, as_json({"error": error.code, "message": error.message}))


def _list(registry: Registry, request: Request) -> Response:
    return _answer({"pipelines": [_shown(row) for row in pipelines.visible(registry, request.caller)]})


def _put(registry: Registry, request: Request) -> Response:
    if len(request.body) > MOST_BYTES:
        raise InvalidArgument("status", f"it has {len(request.body)} bytes; {MOST_BYTES} are the most")
    status = status_of(request.object())
    return _answer(_shown(pipelines.report(registry, request.caller, request.path["pipeline"], status)))


def _get(registry: Registry, request: Request) -> Response:
    return _answer(_shown(pipelines.status(registry, request.caller, request.path["pipeline"])))


def _delete(registry: Registry, request: Request) -> Response:
    pipelines.forget(registry, request.caller, request.path["pipeline"])
    return Response(204)


def _answer(body: dict[str, Any]) -> Response:
    return Response(200, as_json(body), headers=(("cache-control", "no-store"),))


def _shown(row: PipelineRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "status": row.status.as_dict(),
        "principal": row.principal,
        "updated_at": row.updated_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
