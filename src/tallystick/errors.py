"""All errors of Tallystick.

TallystickError
├── BadRequest              the caller can mend it
│   ├── InvalidSchema       a definition that cannot be parsed, with its place
│   ├── UnknownSchemaType   no format is installed for this type
│   ├── IncompatibleSchema  a schema that the strategy refuses, with findings
│   └── InvalidRecord       a value or payload that does not fit its schema, with findings
├── NotFound                what was asked for does not exist
└── Unavailable             a store, broker or registry does not answer; worth a retry

Each class has a stable `code` for programs and a `transient` flag that says whether the same call may succeed
later. What an error knows are attributes; the message is for people. Errors survive pickling, so that they
reach the driver of a Spark job whole.
"""

from collections.abc import Sequence
from typing import ClassVar

from tallystick.finding import Finding, Place


class TallystickError(Exception):
    code: ClassVar[str] = "internal"
    transient: ClassVar[bool] = False

    def __init__(self, message: str, **facts: object) -> None:
        super().__init__(message)
        self.message = message
        self.__dict__.update(facts)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (type(self), self.args, self.__dict__)


def _restore(cls: type[TallystickError], args: tuple[object, ...], facts: dict[str, object]) -> TallystickError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(facts)
    return error


class BadRequest(TallystickError):
    code = "bad-request"


class InvalidSchema(BadRequest):
    """A definition that cannot be parsed. `place` says where, `fix` what to do where that is known."""

    code = "invalid-schema"

    def __init__(self, reason: str, place: Place | None = None, fix: str | None = None) -> None:
        where = f" at {place}" if place is not None else ""
        hint = f"; {fix}" if fix is not None else ""
        super().__init__(f"invalid schema{where}: {reason}{hint}")
        self.reason = reason
        self.place = place
        self.fix = fix


class UnknownSchemaType(BadRequest):
    code = "unknown-schema-type"

    def __init__(self, schema_type: str, known: Sequence[str]) -> None:
        super().__init__(f"schema type {schema_type!r} is not known; known are {', '.join(sorted(known))}")
        self.schema_type = schema_type


class IncompatibleSchema(BadRequest):
    code = "incompatible-schema"

    def __init__(self, message: str, findings: Sequence[Finding]) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class InvalidRecord(BadRequest):
    code = "invalid-record"

    def __init__(self, message: str, findings: Sequence[Finding]) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class NotFound(TallystickError):
    code = "not-found"


class Unavailable(TallystickError):
    code = "unavailable"
    transient = True
