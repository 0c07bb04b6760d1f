"""Faults: what makes a command stop before it has an answer."""

from dataclasses import dataclass

from tallystick.errors import BadRequest, InvalidSchema
from tallystick.finding import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why a file or an argument cannot be used. `text` is what the file holds, for the excerpt."""

    code: str
    reason: str
    file: str | None = None
    place: Place | None = None
    fix: str | None = None
    text: str = ""

    def as_dict(self) -> dict[str, object]:
        fields = {
            "code": self.code,
            "message": self.reason,
            "fix": self.fix,
            "file": self.file,
            "place": self.place and self.place.as_dict(),
        }
        return {name: value for name, value in fields.items() if value is not None}


class BadInput(BadRequest):
    code = "bad-input"

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.reason)
        self.fault = fault


def unusable(reason: str, *, file: str | None = None, fix: str | None = None, place: Place | None = None) -> BadInput:
    return BadInput(Fault(code=BadInput.code, reason=reason, file=file, fix=fix, place=place))


def invalid_schema(error: InvalidSchema, file: str, text: str) -> BadInput:
    return BadInput(
        Fault(code=error.code, reason=error.reason, file=file, place=error.place, fix=_fix_here(error), text=text)
    )


def _fix_here(error: InvalidSchema) -> str | None:
    """The fix in the words of the command line, where a reference is an option."""
    if error.fix is None or "reference" not in error.fix:
        return error.fix
    return f"{error.fix} (here: --reference [NAME=]FILE, or for .proto imports --include DIR)"
