"""References to the environment: `${NAME}`, `${NAME:-what else}`; `$${` is a `${` that is meant as it stands."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

Environ = Mapping[str, str] | None
"""None: nobody knows the variables. References stay as they are, unless they say what else."""

VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
_REFERENCE = re.compile(rf"\$\$\{{|\$\{{({VARIABLE})(?::-([^}}]*))?\}}|\$\{{[^}}]*\}}?")
_WHOLE = re.compile(rf"\$\{{({VARIABLE})\}}")


@dataclass(frozen=True, slots=True)
class Substituted:
    text: str
    missing: tuple[str, ...] = ()
    malformed: tuple[str, ...] = ()
    is_known: bool = True
    """Whether every reference has become what it stands for."""


def substituted(text: str, environ: Environ) -> Substituted:
    missing: list[str] = []
    malformed: list[str] = []
    unknown: list[str] = []

    def value(found: re.Match[str]) -> str:
        name, otherwise = found[1], found[2]
        if name is None:
            if found[0] == "$${":
                return "${"
            malformed.append(found[0][:60])
            return found[0]
        if environ is not None and name in environ and (environ[name] or otherwise is None):
            return environ[name]
        if otherwise is not None:
            return str(otherwise)
        (unknown if environ is None else missing).append(name)
        return found[0]

    made = _REFERENCE.sub(value, text)
    return Substituted(made, tuple(missing), tuple(malformed), not (missing or malformed or unknown))


def variable_of(text: str) -> str | None:
    """The variable's name, where the text is one reference and nothing else."""
    found = _WHOLE.fullmatch(text)
    return None if found is None else found[1]
