"""Answers: JSON in the media type that was asked for, and errors as `{"error_code", "message"}`."""

from collections.abc import Sequence
from typing import Any

from tallystick.errors import IncompatibleSchema, InvalidSchema, TallystickError
from tallystick.finding import Finding
from tallystick.server.http import Request, Response, as_json
from tallystick.server.problems import problem_of

MEDIA_TYPES = (
    "application/vnd.schemaregistry.v1+json",
    "application/vnd.schemaregistry+json",
    "application/json",
)


def answer(request: Request, value: Any, status: int = 200, *, is_immutable: bool = False) -> Response:
    return Response(status, as_json(value), accepted(request), _VARY, is_immutable=is_immutable)


_VARY = (("vary", "accept"),)


def accepted(request: Request) -> str:
    """The first of our media types that the client names; the usual one where it names none."""
    named = [part.partition(";")[0].strip().lower() for part in request.headers.get("accept", "").split(",")]
    return next((media_type for media_type in named if media_type in MEDIA_TYPES), MEDIA_TYPES[0])


def problem(error: TallystickError, request: Request) -> Response:
    found = problem_of(error)
    body: dict[str, Any] = {"error_code": found.confluent, "message": _message(error)}
    if isinstance(error, IncompatibleSchema):
        body.update(explained(error.findings))
    return Response(found.status, as_json(body), accepted(request), _VARY)


def _message(error: TallystickError) -> str:
    # Clients look for these words as they stand here.
    if isinstance(error, InvalidSchema):
        return error.message.replace("invalid schema", "Invalid schema", 1)
    return error.message


def explained(findings: Sequence[Finding]) -> dict[str, Any]:
    """Findings for people and for programs."""
    return {
        "messages": [f"[{finding.rule}] {finding.message} (fix: {finding.fix})" for finding in findings],
        "findings": [finding.as_dict() for finding in findings],
    }
