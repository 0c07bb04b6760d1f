"""Breach: a demand of the reader's schema that written values need not meet, and the two rules that report it.

One and the same breach has two names. When the new schema is the reader, it was tightened, which breaks BACKWARD;
when the old one is the reader, it was loosened, which breaks FORWARD.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tallystick.compat.rule import BACKWARD, FORWARD, Rule, rule
from tallystick.compat.rules.json_schema.writer import Writer, origin
from tallystick.finding import Direction, Finding, Place
from tallystick.formats.json_schema.node import Node
from tallystick.formats.json_source import Path, pointer

_QUOTED = 80


@dataclass(frozen=True, slots=True)
class Breach:
    tightened: Rule
    loosened: Rule

    def of(self, direction: Direction) -> Rule:
        return self.tightened if direction is BACKWARD else self.loosened


@dataclass(frozen=True, slots=True)
class Failure:
    """A breach at its place. `steps` lead from the reader's node to the keyword; `words` fill the sentences."""

    breach: Breach
    writer: Writer
    reader: Node
    steps: Path = ()
    words: Mapping[str, str] = field(default_factory=dict)
    writer_steps: Path | None = None

    def finding(self, direction: Direction) -> Finding:
        found: Finding = self.breach.of(direction)(self, direction)
        return found

    @property
    def reader_place(self) -> Place:
        return self.reader.place(*self.steps)

    @property
    def writer_place(self) -> Place:
        found = self._origin()
        return found.node.place(*found.steps) if found is not None else self.writer.home.place()

    def demanded(self) -> str | None:
        """What stands in the reader's text."""
        return quoted(at(self.reader.raw, self.steps))

    def written(self) -> str | None:
        """What stands in the writer's text."""
        found = self._origin()
        return quoted(found.quoted) if found is not None else None

    def _origin(self) -> Any:
        steps = self.steps if self.writer_steps is None else self.writer_steps
        return origin(self.writer, steps) if steps else None


def breach(
    tightened: tuple[str, str, str, str],
    loosened: tuple[str, str, str, str],
    source: str,
    *,
    has_witness: bool = True,
) -> Breach:
    """Enters two rules: each as id (without the format), sentence, message and fix.

    The message and the fix may name {where}, {was}, {now} and the words of the failure.
    """
    return Breach(
        _rule(tightened, BACKWARD, source, has_witness=has_witness),
        _rule(loosened, FORWARD, source, has_witness=has_witness),
    )


def both_ways(texts: tuple[str, str, str, str], source: str, *, has_witness: bool = True) -> Breach:
    """Enters one rule that breaks either direction in the same words."""
    found = _rule(texts, BACKWARD, source, FORWARD, has_witness=has_witness)
    return Breach(found, found)


def _rule(
    texts: tuple[str, str, str, str], direction: Direction, source: str, *others: Direction, has_witness: bool
) -> Rule:
    id_, sentence, message, fix = texts

    @rule(f"JSON_SCHEMA_{id_}", sentence, direction, *others, source=source, has_witness=has_witness)
    def find(failure: Failure, broken: Direction) -> Finding:
        backward = broken is BACKWARD
        old, new = failure.writer_place, failure.reader_place
        was, now = failure.written(), failure.demanded()
        if not backward:
            old, new, was, now = new, old, now, was
        words = {"where": where(failure.reader.path), "was": was or "nothing", "now": now or "nothing"}
        words["back"] = "drop" if was is None else f"put back {was} as"
        text = words | dict(failure.words)
        return found.finding(broken, message.format_map(text), fix.format_map(text), old=old, new=new, was=was, now=now)

    found: Rule = find
    return found


def where(path: Path) -> str:
    """How people call the value that a schema object speaks of."""
    match path:
        case ():
            return "the value"
        case (*_, "properties", str(name)):
            return f"`{name}`"
        case (*before, "items" | "additionalItems" | "unevaluatedItems"):
            return f"each item of {where(tuple(before))}"
        case (*before, "items" | "prefixItems", int(index)):
            return f"item {index} of {where(tuple(before))}"
        case (*before, "additionalProperties" | "unevaluatedProperties"):
            return f"each other property of {where(tuple(before))}"
        case (*_, "definitions" | "$defs", str(name)):
            return f"a value of the definition `{name}`"
        case (*before, "anyOf" | "oneOf" | "allOf", int()):
            return where(tuple(before))
    return f"the value of `{pointer(path)}`"


def quoted(value: Any) -> str | None:
    if value is None:
        return None
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…"


def at(value: Any, steps: Path) -> Any:
    """What stands at the end of the steps, or None."""
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value
