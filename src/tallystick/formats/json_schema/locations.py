"""Where the schema objects of a definition and its references stand, and what their references lead to."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

import jsonschema_rs

from tallystick.errors import InvalidSchema
from tallystick.formats.json_schema.draft import Draft
from tallystick.formats.json_schema.source import Source
from tallystick.formats.json_source import Path

_SINGLE = (
    "additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then",
    "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
_LISTS = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_MAPS = ("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties")


@dataclass(frozen=True, slots=True, eq=False)
class Location:
    """One schema object or boolean: its text, its path, the URI that its references start from, its draft."""

    source: Source
    path: Path
    base: str
    draft: Draft

    @property
    def raw(self) -> Any:
        return self.source.at(self.path)

    @property
    def has_only_ref(self) -> bool:
        return self.draft.ref_stands_alone and isinstance(self.raw, dict) and "$ref" in self.raw


class Locations:
    """Every schema object that can be reached. Raises `InvalidSchema` for a reference that leads nowhere."""

    def __init__(self) -> None:
        self._found: dict[tuple[Source, Path], Location] = {}
        self._resources: dict[str, Location] = {}
        self._anchors: dict[str, Location] = {}
        self._dynamic: dict[str, list[Location]] = {}

    def __iter__(self) -> Iterator[Location]:
        return iter(self._found.values())

    def at(self, source: Source, path: Path) -> Location:
        return self._found[source, path]

    def add(self, source: Source, uri: str) -> None:
        """Enters a text that is known by a URI, and by the one that it gives itself."""
        known = Location(source, (), uri, source.draft)
        self._resources.setdefault(uri, known)
        self._walk(known)

    def also_known_as(self, uri: str, source: Source) -> None:
        self._resources.setdefault(uri, self._found[source, ()])

    def target(self, location: Location, keyword: str) -> Location:
        """Where a reference leads; what it leads to becomes a location even where no keyword says so."""
        reference = location.raw[keyword]
        if not isinstance(reference, str):
            raise InvalidSchema(f"`{keyword}` is not a text", location.source.place((*location.path, keyword)))
        uri, fragment = urldefrag(_join(location.base, reference))
        resource = self._resources.get(uri)
        found = None if resource is None else self._within(resource, uri, unquote(fragment))
        if found is None:
            raise InvalidSchema(
                f"`{keyword}` leads to {reference!r}, which is neither in the text nor one of its references",
                location.source.place((*location.path, keyword)),
                "correct it, or add a reference whose name is what stands before the `#`"
                if not reference.startswith("#")
                else "correct it, or define what it names",
            )
        return found

    def dynamic_targets(self, location: Location, keyword: str) -> list[Location]:
        """Every place that a dynamic reference may lead to; the first is where it leads when nothing is dynamic."""
        first = self.target(location, keyword)
        if keyword == "$recursiveRef":
            others = self._dynamic.get("$recursiveAnchor", []) if _is_recursive(first) else []
        else:
            name = urldefrag(location.raw[keyword])[1]
            declared = self._dynamic.get(name, [])
            others = declared if first in declared else []
        return [first, *(other for other in others if other is not first)]

    def _within(self, resource: Location, uri: str, fragment: str) -> Location | None:
        if not fragment:
            return resource
        if not fragment.startswith("/"):
            return self._anchors.get(f"{uri}#{fragment}")
        path = _follow(resource.raw, fragment)
        if path is None:
            return None
        whole = (*resource.path, *path)
        if (resource.source, whole) not in self._found:
            self._enter_unnamed(resource, whole)
        return self._found[resource.source, whole]

    def _enter_unnamed(self, resource: Location, path: Path) -> None:
        """A schema object at a place that only a pointer knows, such as `#/components/schemas/Order`."""
        nearest = max(
            (
                known
                for (source, at), known in self._found.items()
                if source is resource.source and path[: len(at)] == at
            ),
            key=lambda known: len(known.path),
        )
        check_against_draft(resource.source, path, nearest.draft)
        self._walk(Location(resource.source, path, nearest.base, nearest.draft))

    def _walk(self, start: Location) -> None:
        stack = [start]
        while stack:
            location = self._named(stack.pop())
            key = (location.source, location.path)
            if key not in self._found:
                self._found[key] = location
                stack.extend(_children(location))

    def _named(self, location: Location) -> Location:
        """The location with the base URI that it gives itself, entered under all of its names."""
        raw = location.raw
        if not isinstance(raw, dict):
            return location
        own = raw.get(location.draft.id_keyword)
        if isinstance(own, str) and not location.has_only_ref:
            draft = location.source.draft_at(location.path, location.draft)
            if own.startswith("#"):
                self._anchors[location.base + own] = location
            else:
                base = urldefrag(_join(location.base, own))[0]
                location = Location(location.source, location.path, base, draft)
                self._resources[base] = location
        self._enter_anchors(location, raw)
        return location

    def _enter_anchors(self, location: Location, raw: dict[str, Any]) -> None:
        if location.draft.number < 2019:
            return
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(raw.get(keyword), str):
                self._anchors[f"{location.base}#{raw[keyword]}"] = location
        if isinstance(raw.get("$dynamicAnchor"), str):
            self._dynamic.setdefault(raw["$dynamicAnchor"], []).append(location)
        if _is_recursive(location):
            self._dynamic.setdefault("$recursiveAnchor", []).append(location)


def check_against_draft(source: Source, path: Path, draft: Draft) -> None:
    """Raises `InvalidSchema` where a schema object breaks the rules of its draft."""
    raw = source.at(path)
    try:
        jsonschema_rs.meta.validate({**raw, "$schema": draft.uri} if isinstance(raw, dict) else raw)
    except jsonschema_rs.ValidationError as e:
        whole = (*path, *e.instance_path)
        raise InvalidSchema(e.message, source.place(whole), f"see {draft.uri}") from e


def _children(location: Location) -> Iterator[Location]:
    raw = location.raw
    if not isinstance(raw, dict):
        return
    for steps in _paths_of_children(raw):
        yield Location(location.source, (*location.path, *steps), location.base, location.draft)


def _paths_of_children(raw: dict[str, Any]) -> Iterator[Path]:
    for keyword in _SINGLE:
        if isinstance(raw.get(keyword), dict | bool):
            yield (keyword,)
    for keyword in _LISTS:
        if isinstance(raw.get(keyword), list):
            yield from ((keyword, i) for i, item in enumerate(raw[keyword]) if isinstance(item, dict | bool))
    for keyword in _MAPS:
        if isinstance(raw.get(keyword), dict):
            yield from ((keyword, name) for name, item in raw[keyword].items() if isinstance(item, dict | bool))


def _follow(value: Any, pointer: str) -> Path | None:
    path: list[str | int] = []
    for token in pointer[1:].split("/"):
        name = token.replace("~1", "/").replace("~0", "~")
        step: str | int = int(name) if isinstance(value, list) and name.isdecimal() else name
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
        path.append(step)
    return tuple(path) if isinstance(value, dict | bool) else None


def _join(base: str, reference: str) -> str:
    # urljoin knows no fragment of a URN.
    return urldefrag(base)[0] + reference if reference.startswith("#") else urljoin(base, reference)


def _is_recursive(location: Location) -> bool:
    raw = location.raw
    return location.draft.number == 2019 and isinstance(raw, dict) and raw.get("$recursiveAnchor") is True
