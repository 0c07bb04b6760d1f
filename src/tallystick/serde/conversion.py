"""From values of a program's own classes to those that a format knows, and back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tallystick.errors import InvalidRecord
from tallystick.finding import Finding, Place
from tallystick.formats.json_source import pointer
from tallystick.serde.schema import Read

T = TypeVar("T")
Convert = Callable[[Any], Any]

REFUSED = "CLASS_REFUSES_VALUE"
UNWRITABLE = "CLASS_VALUE_UNWRITABLE"

_REFUSALS = (TypeError, ValueError, ArithmeticError, RecursionError)
"""What constructors raise for values that they do not take; pydantic's own error is a ValueError."""


@dataclass(frozen=True, slots=True)
class Conversion(Generic[T]):
    """`to_plain` never raises for a value of another type, but leaves it for the format to explain."""

    type: type[T]
    to_plain: Callable[[T], Any]
    from_plain: Callable[[Any], T]

    def before(self, encode: Callable[[Any], bytes]) -> Callable[[T], bytes]:
        to_plain = self.to_plain

        def to_payload(value: T) -> bytes:
            try:
                plain = to_plain(value)
            except (AttributeError, RecursionError) as e:
                raise _unwritable(self.type, e) from e
            return encode(plain)

        return to_payload

    def after(self, decode: Callable[[bytes], Any]) -> Read[T]:
        from_plain = self.from_plain

        def read(payload: bytes, key: bytes | None) -> T:
            plain = decode(payload)
            try:
                return from_plain(plain)
            except _REFUSALS as e:
                raise _refused(self.type, e) from e

        return read


def _unwritable(cls: type[Any], error: Exception) -> InvalidRecord:
    reason = "is nested too deeply" if isinstance(error, RecursionError) else f"is not whole: {error}"
    finding = Finding(
        rule=UNWRITABLE,
        message=f"the value of class {cls.__name__} {reason}",
        fix="give all its fields a value, and nest it less",
        old=Place(""),
        new=Place(""),
    )
    return InvalidRecord(finding.message, [finding])


def _refused(cls: type[Any], error: Exception) -> InvalidRecord:
    findings = _of_pydantic(cls, error) or [_finding(cls, str(error), "")]
    return InvalidRecord(f"the payload fits its schema, but {findings[0].message}", findings)


def _of_pydantic(cls: type[Any], error: Exception) -> list[Finding]:
    errors = getattr(error, "errors", None)
    if errors is None:
        return []
    return [_finding(cls, told["msg"], pointer(tuple(told["loc"]))) for told in errors(include_url=False)]


def _finding(cls: type[Any], reason: str, path: str) -> Finding:
    where = f" at {path}" if path else ""
    return Finding(
        rule=REFUSED,
        message=f"class {cls.__name__} does not take its value{where}: {reason}",
        fix=f"send values that {cls.__name__} takes, let the class take more, or read with a schema of text",
        old=Place(""),
        new=Place(path),
    )
