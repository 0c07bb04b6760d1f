"""Shapes: what may stand at a place of a pipeline file.

They are data. The checker, the JSON Schema for editors and the reference page all read the same shapes, so that none
of them can say what the others do not.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from tallystick.pipeline.findings import VALUE_INVALID

_MOST_KEYS = 7
"""That a sentence names."""


class Fault(NamedTuple):
    """Why a text is not what its place needs. The reason follows the text in a sentence."""

    reason: str
    fix: str
    rule: str = VALUE_INVALID


@dataclass(frozen=True, slots=True)
class Text:
    """A text; `${NAME}` in it stands for a variable of the environment."""

    expected: str = "a text"
    refuse: Callable[[str], Fault | None] | None = None


@dataclass(frozen=True, slots=True)
class Path:
    """A file or a folder; what is relative begins at the folder of the pipeline file."""

    expected: str = "a path"


@dataclass(frozen=True, slots=True)
class SchemaPath:
    """A file that holds a schema, which is read and parsed."""

    expected: str = "a file with a schema: .avsc, .json or .proto"


@dataclass(frozen=True, slots=True)
class ReaderChoice:
    """The schema that records are read by: the latest one, a version, or that of a file."""

    expected: str = "`latest`, the number of a version, or a file with a schema"


@dataclass(frozen=True, slots=True)
class Sql:
    expected: str = "an expression of Spark SQL"


@dataclass(frozen=True, slots=True)
class Columns:
    """A select list: one text, several, or expressions by the names of their columns."""

    expected: str = "a select list of Spark SQL, or a mapping from the names of columns to expressions"


@dataclass(frozen=True, slots=True)
class Secret:
    """What must not stand in the file: only the name of a variable does."""

    expected: str = "the name of a variable of the environment, as `${NAME}` or `{env: NAME}`"


@dataclass(frozen=True, slots=True)
class ClusterName:
    expected: str = "the name of a cluster under `clusters`"
    is_asked: bool = False
    """Whether it has to be said where there are several."""


@dataclass(frozen=True, slots=True)
class Choice:
    words: tuple[str, ...]
    make: Callable[[str], str] = str
    others: Mapping[str, str] = field(default_factory=dict)
    """Words that people write instead, and which one they mean."""

    @property
    def expected(self) -> str:
        return "one of " + ", ".join(f"`{word}`" for word in self.words)


@dataclass(frozen=True, slots=True)
class Number:
    minimum: int
    is_whole: bool = True

    @property
    def expected(self) -> str:
        return f"a {'whole ' if self.is_whole else ''}number from {self.minimum}"


@dataclass(frozen=True, slots=True)
class Truth:
    expected: str = "`true` or `false`"


@dataclass(frozen=True, slots=True)
class Option:
    """A setting of somebody else's: a text, a number, or true or false. What its name calls a secret has to be one."""

    expected: str = "a text, a number, `true` or `false`"


@dataclass(frozen=True, slots=True)
class Anything:
    """Any value, as JSON has them."""

    expected: str = "any value"


@dataclass(frozen=True, slots=True)
class ListOf:
    item: "Shape"
    is_one_enough: bool = False
    """Whether one item may stand for a list of it."""

    @property
    def expected(self) -> str:
        item = self.item.expected
        return f"{item}, or a list of them" if self.is_one_enough else f"a list whose items are each {item}"


@dataclass(frozen=True, slots=True)
class MapOf:
    """A mapping whose keys the user chooses."""

    value: "Shape"
    noun: str
    """What a key names."""
    are_names: bool = False
    """Whether the keys are names that become parts of paths."""

    @property
    def expected(self) -> str:
        return f"a mapping with a name for each {self.noun}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    name: str
    shape: "Shape"
    doc: str
    is_required: bool = False
    default: str | None = None
    """As the page shows it."""
    others: tuple[str, ...] = ()
    """Names that people write instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    name: str
    doc: str
    keys: tuple[Key, ...]
    short: str | None = None
    """The key that is meant where no mapping stands here."""
    exactly_one: tuple[str, ...] = ()
    at_most_one: tuple[str, ...] = ()
    at_least_one: tuple[str, ...] = ()
    needs: tuple[tuple[str, str], ...] = ()
    """Keys, and which other key each of them needs."""

    def key(self, name: str) -> Key | None:
        return next((key for key in self.keys if key.name == name), None)

    @property
    def expected(self) -> str:
        names = [key.name for key in self.keys]
        if len(names) > _MOST_KEYS:
            names = [*(key.name for key in self.keys if key.is_required), "…"]
        long = f"a mapping ({', '.join(names)})"
        key = None if self.short is None else self.key(self.short)
        return long if key is None else f"{key.shape.expected}, or {long}"


Shape = (
    Text
    | Path
    | SchemaPath
    | ReaderChoice
    | Sql
    | Columns
    | Secret
    | ClusterName
    | Choice
    | Number
    | Truth
    | Option
    | Anything
    | ListOf
    | MapOf
    | Section
)


def choice(words: type[StrEnum], **others: str) -> Choice:
    return Choice(tuple(words), words, others)
