"""Routes: which handler answers which path, and what it is said to do."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tallystick.server.http import Handler

_PLACEHOLDER = re.compile(r"\{(\w+)\}")

# Names that users choose may hold slashes, which arrive decoded; the fixed parts around them tell where they end.
_SPANNING = {"subject", "topic", "subscription", "resource"}


@dataclass(frozen=True, slots=True)
class Operation:
    """What the OpenAPI document says of a route. Schemas are JSON Schemas or `$ref`s into the dialect's components."""

    summary: str
    query: Mapping[str, Any] = field(default_factory=dict)
    """Name → JSON Schema."""
    body: Any = None
    answer: Any = None
    """JSON Schema of the answer with status 200; None for an empty answer with 204."""
    errors: tuple[int, ...] = ()
    status: int = 200


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    template: str
    handler: Handler
    operation: Operation


class Router:
    """Finds the route of a path. A route with more fixed parts goes before one with fewer."""

    def __init__(self, routes: Iterable[Route], prefix: str = "") -> None:
        self._by_pattern: list[tuple[re.Pattern[str], dict[str, Route]]] = []
        by_template: dict[str, dict[str, Route]] = {}
        for route in routes:
            by_template.setdefault(prefix + route.template, {})[route.method] = route
        for template in sorted(by_template, key=_fixed_parts, reverse=True):
            self._by_pattern.append((_pattern(template), by_template[template]))

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]] | list[str] | None:
        """The route and its values; the methods that the path has where this one is not among them; else None."""
        allowed: set[str] = set()
        for pattern, routes in self._by_pattern:
            match = pattern.fullmatch(path)
            if match is not None:
                if method in routes:
                    return routes[method], match.groupdict()
                allowed |= routes.keys()
        return sorted(allowed) if allowed else None


def _fixed_parts(template: str) -> tuple[int, int]:
    parts = template.split("/")
    return sum(not part.startswith("{") for part in parts), len(template)


def _pattern(template: str) -> re.Pattern[str]:
    def group(match: re.Match[str]) -> str:
        name = match[1]
        return f"(?P<{name}>.+)" if name in _SPANNING else f"(?P<{name}>[^/]+)"

    parts = _PLACEHOLDER.split(template)
    text = "".join(
        re.escape(part) if i % 2 == 0 else group(re.match(r"(\w+)", part))  # type: ignore[arg-type]
        for i, part in enumerate(parts)
    )
    return re.compile(text + "/?", re.DOTALL)
