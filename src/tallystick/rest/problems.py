"""HTTP to errors: what a registry's refusal means, by the dialects' codes where they have one, else by the status."""

from collections.abc import Mapping
from typing import Any

from tallystick import errors
from tallystick.errors import TallystickError
from tallystick.finding import Direction, Finding, Place

# Confluent's codes; OpenSchema's few are among them.
_BY_CODE: dict[int, type[TallystickError]] = {
    40401: errors.SubjectNotFound,
    40402: errors.VersionNotFound,
    40403: errors.SchemaNotFound,
    40404: errors.AlreadyDeleted,
    40405: errors.NotDeletedYet,
    40406: errors.AlreadyDeleted,
    40407: errors.NotDeletedYet,
    40408: errors.SettingsNotFound,
    40409: errors.SettingsNotFound,
    40901: errors.IncompatibleSchema,
    42201: errors.InvalidSchema,
    42202: errors.InvalidArgument,
    42203: errors.InvalidArgument,
    42204: errors.InvalidArgument,
    42205: errors.NotPermitted,
    42206: errors.ReferenceExists,
    42207: errors.SchemaIdTaken,
    42208: errors.InvalidArgument,
    42209: errors.SchemaTooLarge,
    42210: errors.InvalidArgument,
    42211: errors.NamespaceNotEmpty,
}
_BY_STATUS: dict[int, type[TallystickError]] = {
    401: errors.Unauthenticated,
    403: errors.Forbidden,
    404: errors.NotFound,
    405: errors.Unsupported,
    408: errors.Unavailable,
    409: errors.IncompatibleSchema,
    412: errors.InvalidArgument,
    413: errors.SchemaTooLarge,
    429: errors.Unavailable,
    501: errors.Unsupported,
}
_ARGUMENTS = {42202: "version", 42203: "compatibility", 42204: "mode", 42208: "subject", 42210: "rule set"}
_LONGEST = 2_000


def error_of(status: int, body: Any, asked: Mapping[str, Any]) -> TallystickError:
    """`asked` is what the request was about: subject, version, schema_id, and `by_status` where the dialect has no
    codes. The message stays the registry's own.
    """
    told = body if isinstance(body, dict) else {}
    code = next((told[key] for key in ("error_code", "errorCode") if isinstance(told.get(key), int)), status)
    kind = _kind(status, code, asked)
    message = _message(told, body) or f"the registry answered {status}"
    error = kind.__new__(kind)
    TallystickError.__init__(error, message, **_facts(kind, code, message, told, asked))
    return error


def _kind(status: int, code: int, asked: Mapping[str, Any]) -> type[TallystickError]:
    kind = _BY_CODE.get(code) or asked.get("by_status", {}).get(status) or _BY_STATUS.get(status)
    if kind in (errors.SubjectNotFound, errors.NotFound) and "schema_id" in asked:
        return errors.SchemaNotFound  # OpenSchema has one code for both
    if kind is not None:
        return kind
    if status >= 500:
        return errors.Unavailable
    return errors.BadRequest if status >= 400 else TallystickError


def _message(told: Mapping[str, Any], body: Any) -> str:
    keys = ("message", "errorMessage", "reason", "detail", "title")
    found = next((told[key] for key in keys if isinstance(told.get(key), str) and told[key]), None)
    text = found or (body if isinstance(body, str) else "")
    return text[:_LONGEST]


def _facts(
    kind: type[TallystickError], code: int, message: str, told: Mapping[str, Any], asked: Mapping[str, Any]
) -> dict[str, object]:
    subject, version = asked.get("subject"), asked.get("version")
    facts: dict[type[TallystickError], dict[str, object]] = {
        errors.SubjectNotFound: {"subject": subject},
        errors.VersionNotFound: {"version": version},
        errors.AlreadyDeleted: {"subject": subject, "version": version},
        errors.NotDeletedYet: {"subject": subject, "version": version},
        errors.SettingsNotFound: {"kind": "mode" if code == 40409 else "compatibility"},
        errors.IncompatibleSchema: {"findings": tuple(findings_of(told))},
        errors.InvalidSchema: {"reason": message, "place": None, "fix": None},
        errors.InvalidArgument: {"argument": _ARGUMENTS.get(code, "request")},
        errors.ReferenceExists: {"referring": ()},
        errors.SchemaIdTaken: {"schema_id": asked.get("id")},
    }
    return facts.get(kind, {})


def findings_of(body: Mapping[str, Any]) -> list[Finding]:
    """The findings that our own servers send along."""
    listed = body.get("findings")
    return [_finding(entry) for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []


def _finding(entry: Mapping[str, Any]) -> Finding:
    version, direction = entry.get("version"), entry.get("direction")
    return Finding(
        rule=str(entry.get("rule", "")),
        message=str(entry.get("message", "")),
        fix=str(entry.get("fix", "")),
        old=_place(entry.get("old")),
        new=_place(entry.get("new")),
        was=_text(entry.get("was")),
        now=_text(entry.get("now")),
        version=version if isinstance(version, int) else None,
        direction=Direction(direction) if direction in tuple(Direction) else None,
    )


def _place(value: Any) -> Place | None:
    if not isinstance(value, dict):
        return None
    line, column = value.get("line"), value.get("column")
    return Place(
        str(value.get("path", "")),
        line if isinstance(line, int) else None,
        column if isinstance(column, int) else None,
    )


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
