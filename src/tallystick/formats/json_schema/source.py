"""One JSON text of a schema, with the place of each of its paths."""

import json
import re
from functools import cached_property
from typing import Any

from tallystick.errors import InvalidSchema
from tallystick.finding import Place
from tallystick.formats import json_source
from tallystick.formats.json_schema.draft import DEFAULT_DRAFT, Draft, draft_of
from tallystick.formats.json_source import Path

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+', re.DOTALL)


class Source:
    """The text, its value and its draft. Raises `InvalidSchema` for what is no JSON Schema at first sight."""

    def __init__(self, text: str, draft: Draft = DEFAULT_DRAFT) -> None:
        self.text = text
        self.value: Any = json_source.load(text)
        if not isinstance(self.value, dict | bool):
            raise InvalidSchema("a JSON Schema is an object, true or false", json_source.place(text, ()))
        self.draft = self.draft_at((), draft)

    def draft_at(self, path: Path, inherited: Draft) -> Draft:
        """The draft that the schema object at a path declares, or the one around it."""
        declared = self.at(path).get("$schema") if isinstance(self.at(path), dict) else None
        if not isinstance(declared, str):
            return inherited
        return draft_of(declared, self.place((*path, "$schema")))

    def at(self, path: Path) -> Any:
        value = self.value
        for step in path:
            value = value[step]
        return value

    def place(self, path: Path) -> Place:
        offset = self._offsets.get(path)
        if offset is None:
            return Place(json_source.pointer(path))
        line = self.text.count("\n", 0, offset) + 1
        return Place(json_source.pointer(path), line, offset - self.text.rfind("\n", 0, offset))

    @cached_property
    def _offsets(self) -> dict[Path, int]:
        """Where each member's key and each item starts: one walk over the tokens, whatever is asked later."""
        found: dict[Path, int] = {}
        path: list[str | int] = []
        key: tuple[str, int] | None = None
        for token in _TOKEN.finditer(self.text):
            match token[0]:
                case "}" | "]":
                    path.pop()
                case ",":
                    if isinstance(path[-1], int):
                        path[-1] += 1
                case ":":
                    assert key is not None
                    path[-1] = json.loads(key[0])
                    found[tuple(path)] = key[1]
                case opened:
                    found.setdefault(tuple(path), token.start())
                    key = (opened, token.start())
                    if opened in "[{":
                        path.append(0 if opened == "[" else "")
        return found
