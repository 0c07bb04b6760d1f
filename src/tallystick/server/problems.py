"""Errors to HTTP: the one table. The dialects only choose the column of their own codes."""

from dataclasses import dataclass

from tallystick import errors
from tallystick.errors import TallystickError
from tallystick.server.http import (
    BodyTooLarge,
    BodyTooSlow,
    MalformedRequest,
    MethodNotAllowed,
    NoSuchRoute,
    RequestTooSlow,
    UnsupportedMediaType,
)


@dataclass(frozen=True, slots=True)
class Problem:
    status: int
    confluent: int
    openschema: int

    def headers(self, error: TallystickError) -> tuple[tuple[str, str], ...]:
        """What HTTP itself wants to be said."""
        if isinstance(error, MethodNotAllowed):
            return (("allow", ", ".join(error.__dict__["allowed"])),)
        if self.status == 401:
            return (("www-authenticate", 'Basic realm="tallystick", charset="UTF-8"'),)
        if self.status == 503:
            return (("retry-after", "1"),)
        return ()


_TABLE: dict[type[TallystickError], Problem] = {
    errors.NamespaceNotFound: Problem(404, 40401, 40401),
    errors.SubjectNotFound: Problem(404, 40401, 40401),
    errors.VersionNotFound: Problem(404, 40402, 40402),
    errors.SchemaNotFound: Problem(404, 40403, 40401),
    errors.NotFound: Problem(404, 404, 40401),
    errors.InvalidSchema: Problem(422, 42201, 42201),
    errors.UnknownSchemaType: Problem(422, 42201, 42201),
    errors.SchemaTooLarge: Problem(422, 42209, 42201),
    errors.InvalidRecord: Problem(422, 42201, 42201),
    errors.InvalidArgument: Problem(422, 42202, 42202),
    errors.NotPermitted: Problem(422, 42205, 42201),
    errors.ReferenceExists: Problem(422, 42206, 42201),
    errors.SchemaIdTaken: Problem(422, 42207, 42201),
    errors.NamespaceNotEmpty: Problem(422, 42211, 42201),
    errors.IncompatibleSchema: Problem(409, 409, 40901),
    MalformedRequest: Problem(400, 400, 400),
    UnsupportedMediaType: Problem(415, 415, 415),
    NoSuchRoute: Problem(404, 404, 404),
    MethodNotAllowed: Problem(405, 405, 405),
    BodyTooLarge: Problem(413, 413, 413),
    BodyTooSlow: Problem(408, 408, 408),
    errors.BadRequest: Problem(400, 400, 400),
    errors.Unauthenticated: Problem(401, 401, 40101),
    errors.Forbidden: Problem(403, 403, 40101),
    RequestTooSlow: Problem(503, 50002, 50002),
    errors.Unavailable: Problem(503, 50001, 50001),
    TallystickError: Problem(500, 50001, 50001),
}

# Codes of Confluent that one error class has several of, by what the error is about.
_BY_ARGUMENT = {"version": 42202, "compatibility": 42203, "mode": 42204, "subject": 42208, "rule set": 42210}
_BY_SETTINGS = {"compatibility": 40408, "mode": 40409}


def problem_of(error: TallystickError) -> Problem:
    found = next(_TABLE[kind] for kind in type(error).__mro__ if kind in _TABLE)
    confluent = _confluent_code(error, found.confluent)
    openschema = confluent if isinstance(error, errors.InvalidArgument) else found.openschema
    return Problem(found.status, confluent, openschema)


def _confluent_code(error: TallystickError, code: int) -> int:
    match error:
        case errors.InvalidArgument():
            return _BY_ARGUMENT.get(error.argument, 422)
        case errors.SettingsNotFound():
            return _BY_SETTINGS[error.__dict__["kind"]]
        case errors.AlreadyDeleted():
            return 40404 if error.__dict__["version"] is None else 40406
        case errors.NotDeletedYet():
            return 40405 if error.__dict__["version"] is None else 40407
    return code
