"""OpenSchema: the routes, their documentation, and how an error is told."""

from typing import Any

from tallystick.errors import IncompatibleSchema, TallystickError
from tallystick.registry.service import Registry
from tallystick.server.dialect import Dialect
from tallystick.server.dialects.openschema.handlers import MEDIA_TYPE, Handlers, media_type
from tallystick.server.http import Request, Response, as_json
from tallystick.server.openapi import FINDING
from tallystick.server.problems import problem_of
from tallystick.server.routing import Operation, Route

_TEXT = {"type": "string"}
_STRATEGIES = [
    "NONE",
    *(f"{name}{suffix}" for name in ("BACKWARD", "FORWARD", "FULL") for suffix in ("", "_TRANSITIVE")),
]
_COMPATIBILITY = {"type": "string", "enum": [*_STRATEGIES, "ALWAYS_INCOMPATIBLE", "UNDEFINED"]}
_NAMESPACE_FIELDS = {"tenant": _TEXT, "namespace": _TEXT}
_NAMED = {"type": "string", "description": "Of the tenant or namespace where that is not the default one."}
_NAMESPACE_QUERY = {"tenant": _NAMED, "namespace": _NAMED}
_NUMBER = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}

_SUBJECT_TEXTS = ("app", "description", "status", "coordinate", "format")
_TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$"}
_REFERENCE = {
    "type": "object",
    "required": ["name", "subject", "version"],
    "properties": {"name": _TEXT, "subject": _TEXT, "version": {"type": "integer", "minimum": 1}},
}
_FINDINGS = {"type": "array", "items": {"$ref": "#/components/schemas/Finding"}}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}


COMPONENTS: dict[str, Any] = {
    "Subject": _object(
        {
            **_NAMESPACE_FIELDS,
            "subject": _TEXT,
            **dict.fromkeys(_SUBJECT_TEXTS, _TEXT),
            "compatibility": _COMPATIBILITY,
            "createdTime": _TIME,
            "lastModifiedTime": _TIME,
        }
    ),
    "SubjectChange": _object({}, {**_NAMESPACE_FIELDS, **dict.fromkeys(_SUBJECT_TEXTS, _TEXT), "compatibility": _TEXT}),
    "Schema": _object(
        {
            "name": _TEXT,
            "id": {"type": "string", "pattern": "^[0-9]+$"},
            "comment": _TEXT,
            "serialization": _TEXT,
            "schemaDefinition": _TEXT,
            "validator": _TEXT,
            "version": {"type": ["integer", "null"]},
        },
        {"references": {"type": "array", "items": _REFERENCE}},
    ),
    "NewSchema": _object(
        {},
        {
            "name": _TEXT,
            "comment": _TEXT,
            "serialization": {"type": "string", "examples": ["AVRO", "JSON", "PB"]},
            "schemaDefinition": {"type": ["string", "object", "array"]},
            "validator": _TEXT,
            "references": {"type": "array", "items": _REFERENCE},
        },
    ),
    "Finding": FINDING,
    "Error": _object({"errorCode": {"type": "integer"}, "errorMessage": _TEXT}, {"findings": _FINDINGS}),
}

_SUBJECT = _object({"subject": _ref("Subject")})
_SCHEMA = _object({"schema": _ref("Schema")})
_SUBJECTS = _object({"subjects": {"type": "array", "items": _ref("Subject")}})
_SUBJECTS_OF_ID = _object({"subject": _ref("Subject"), "subjects": {"type": "array", "items": _ref("Subject")}})
_VERSIONS = _object({"versions": {"type": "array", "items": {"type": "integer"}}})
_VERSION = _object({"version": {"type": "integer"}})
_ID = _object({"id": {"type": "string"}})
_CHECKED = _object({"is_compatible": {"type": "boolean"}}, {"findings": _FINDINGS})
_POLICY = _object({"compatibility": _COMPATIBILITY})
_POLICY_BODY = _object({"compatibility": _TEXT}, _NAMESPACE_FIELDS)
_SUBJECT_BODY = {"anyOf": [_object({"subject": _ref("SubjectChange")}), _ref("SubjectChange")]}
_SCHEMA_BODY = {"anyOf": [_object({"schema": _ref("NewSchema")}), _ref("NewSchema")]}

_PAGE = {**_NAMESPACE_QUERY, "offset": _NUMBER, "limit": _NUMBER}


def dialect(registry: Registry) -> Dialect:
    return Dialect(
        name="openschema",
        title="OpenSchema",
        routes=_routes(Handlers(registry)),
        problem=problem,
        media_types=(MEDIA_TYPE, "application/json"),
        components=COMPONENTS,
    )


def problem(error: TallystickError, request: Request) -> Response:
    found = problem_of(error)
    body: dict[str, Any] = {"errorCode": found.openschema, "errorMessage": error.message}
    if isinstance(error, IncompatibleSchema):
        body["findings"] = [finding.as_dict() for finding in error.findings]
    return Response(found.status, as_json(body), media_type(request))


def _routes(do: Handlers) -> tuple[Route, ...]:
    by_id = Operation("The schema with an id.", _NAMESPACE_QUERY, answer=_SCHEMA, errors=(404, 422))
    subjects_of = Operation("The subjects that have a schema.", _NAMESPACE_QUERY, None, _SUBJECTS_OF_ID, (404, 422))
    subject = "/subjects/{subject}"
    return (
        Route(
            "POST",
            subject,
            do.create_subject,
            Operation("Create a subject, or change what is said of it.", {}, _SUBJECT_BODY, _SUBJECT, (422,)),
        ),
        Route("GET", "/subjects", do.list_subjects, Operation("All subjects.", _PAGE, None, _SUBJECTS, (422,))),
        Route("GET", subject, do.get_subject, Operation("One subject.", {}, None, _SUBJECT, (404, 422))),
        Route("GET", "/schemas/ids/{id}/subjects", do.subjects_of, subjects_of),
        Route("GET", "/schemas/{id}/subject", do.subjects_of, subjects_of),
        Route(
            "DELETE",
            subject,
            do.delete_subject,
            Operation("Delete a subject with its versions.", {}, None, _VERSIONS, (404, 422)),
        ),
        Route(
            "POST",
            f"{subject}/versions",
            do.register,
            Operation("Register a schema, or find it.", {}, _SCHEMA_BODY, _ID, (404, 409, 422)),
        ),
        Route("GET", "/schemas/ids/{id}", do.by_id, by_id),
        Route("GET", "/schemas/{id}", do.by_id, by_id),
        Route(
            "GET",
            f"{subject}/versions/{{version}}/schema",
            do.schema,
            Operation("The schema of a version.", {}, None, _SCHEMA, (404, 422)),
        ),
        Route(
            "GET",
            f"{subject}/versions",
            do.versions,
            Operation("The versions of a subject.", {}, None, _VERSIONS, (404, 422)),
        ),
        Route(
            "DELETE",
            f"{subject}/versions/{{version}}",
            do.delete_version,
            Operation("Delete a version.", {}, None, _VERSION, (404, 422)),
        ),
        Route(
            "POST",
            "/compatibility/subjects/{subject}/versions/{version}",
            do.check,
            Operation("Does a schema fit a version?", {}, _SCHEMA_BODY, _CHECKED, (404, 422)),
        ),
        Route(
            "PUT",
            "/config/{subject}",
            do.set_policy,
            Operation("Set the compatibility of a subject.", {}, _POLICY_BODY, _POLICY, (422,)),
        ),
        Route(
            "GET",
            "/config/{subject}",
            do.policy,
            Operation("The compatibility that counts for a subject.", {}, None, _POLICY, (422,)),
        ),
    )
