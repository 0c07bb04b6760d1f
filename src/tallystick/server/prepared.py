"""Answers that never change, kept as bytes.

What a schema id means does not change, so its answer is made once. It goes when the schema is deleted for ever: here
at once, and where another server of the same database deleted it, as soon as the journal tells (see `feed`).
"""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass

from tallystick.server.http import Response

_MOST_BYTES = 16_000_000
_MOST_ANSWERS = 20_000


class Hits:
    """How often the prepared answers of one route were given: whole, and as "not modified"."""

    __slots__ = ("unchanged", "whole")

    def __init__(self) -> None:
        self.whole = 0
        self.unchanged = 0


@dataclass(frozen=True, slots=True)
class Prepared:
    etag: str
    headers: list[tuple[str, str]]
    body: bytes
    hits: Hits


class PreparedAnswers:
    """By port, path, query string and what the client accepts. Only the event loop touches it, so it needs no lock."""

    def __init__(self) -> None:
        self.by_path: OrderedDict[str, Prepared] = OrderedDict()
        self.hits: dict[tuple[str, str], Hits] = {}
        self.generation = 0
        """Counts the times that everything was forgotten; an answer made before that is not kept after it."""
        self._bytes = 0

    def keep(self, key: str, response: Response, generation: int, dialect: str, route: str) -> Prepared:
        etag = f'"{hashlib.sha256(response.body).hexdigest()[:20]}"'
        headers = [
            ("content-type", response.media_type),
            ("etag", etag),
            ("cache-control", "private, max-age=60"),
            *response.headers,
        ]
        hits = self.hits.setdefault((dialect, route), Hits())
        prepared = Prepared(etag, headers, response.body, hits)
        if key not in self.by_path and generation == self.generation:
            self.by_path[key] = prepared
            self._bytes += len(prepared.body)
        while len(self.by_path) > _MOST_ANSWERS or (self._bytes > _MOST_BYTES and len(self.by_path) > 1):
            _, dropped = self.by_path.popitem(last=False)
            self._bytes -= len(dropped.body)
        return prepared

    def forget(self) -> None:
        """Deletes for ever are rare: everything is made anew."""
        self.generation += 1
        self.by_path.clear()
        self._bytes = 0
