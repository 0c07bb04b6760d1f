"""Source text of functions, and the objects that it names."""

import struct
from collections.abc import Callable, Hashable, Iterable, Mapping
from textwrap import indent
from typing import Any, NoReturn

from tallystick.errors import InvalidRecord
from tallystick.formats.avro.types import AvroType, children, every_type

MAX_PARTS = 2_000
"""Fields, branches and items that a type may have to be worth the time that its functions take to compile."""


def is_large(root: AvroType) -> bool:
    return sum(1 for type_ in every_type(root) for _ in children(type_)) > MAX_PARTS


class Misfit(Exception):
    """Nothing that compiled functions are made for."""


MISFITS = (Misfit, InvalidRecord, LookupError, TypeError, ValueError, ArithmeticError, RecursionError, struct.error)
"""What compiled functions raise, on purpose or by stumbling."""


def misfit() -> NoReturn:
    raise Misfit


class Source:
    """Functions in the making. What a schema says comes into the text as literals only."""

    def __init__(self, objects: Mapping[str, object]) -> None:
        self._objects: dict[str, Any] = {"misfit": misfit, **objects}
        self._names: dict[Hashable, str] = {}
        self._functions: list[tuple[str, Iterable[str]]] = []

    def name_of(self, value: object) -> str:
        """The name of an object in the text."""
        name = f"object_{len(self._objects)}"
        self._objects[name] = value
        return name

    def function(self, key: Hashable, parameters: str, lines: Iterable[str]) -> str:
        """The name of the function that has this key. Its lines are drawn later: types nest deeper than calls may."""
        if key not in self._names:
            self._names[key] = f"function_{len(self._names)}"
            self._functions.append((f"def {self._names[key]}({parameters}):", lines))
        return self._names[key]

    def compiled(self, name: str) -> Callable[[Any], Any]:
        # Lines may ask for more functions, which join the list meanwhile.
        text = "\n".join(f"{head}\n{indented(lines)}" for head, lines in self._functions)
        exec(text, self._objects)  # noqa: S102  # templates, names of ours, literals
        function: Callable[[Any], Any] = self._objects[name]
        return function


def indented(lines: Iterable[str]) -> str:
    return indent("\n".join(lines), "    ")
