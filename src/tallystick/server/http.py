"""Requests and responses as values: what a handler gets and gives."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from tallystick.access import Caller
from tallystick.errors import BadRequest, TallystickError, Unavailable

_TRUE = {"true", "1", "yes", ""}
_FALSE = {"false", "0", "no"}
_LARGEST = 2**63 - 1


class MalformedRequest(BadRequest):
    """The request itself cannot be read, whatever it asks for."""

    code = "malformed-request"


class UnsupportedMediaType(BadRequest):
    code = "unsupported-media-type"


class NoSuchRoute(TallystickError):
    code = "no-such-route"


class MethodNotAllowed(TallystickError):
    code = "method-not-allowed"

    def __init__(self, method: str, allowed: list[str]) -> None:
        super().__init__(f"{method} is not possible here; possible are {', '.join(allowed)}", allowed=allowed)


class BodyTooLarge(TallystickError):
    code = "body-too-large"

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"the body has more than {limit_bytes} bytes, which is the limit")


class BodyTooSlow(TallystickError):
    code = "body-too-slow"

    def __init__(self, limit_seconds: float) -> None:
        super().__init__(f"the body did not arrive within {limit_seconds:g} s")


class RequestTooSlow(Unavailable):
    code = "request-too-slow"

    def __init__(self, limit_seconds: float) -> None:
        super().__init__(f"the request took longer than {limit_seconds:g} s; what it changes may still happen")


@dataclass(frozen=True, slots=True)
class Request:
    """`path` holds the values of the route's placeholders, `headers` have lower-case names."""

    method: str
    path: Mapping[str, str]
    query_string: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    caller: Caller = field(default_factory=Caller)
    id: str = ""

    def query(self, name: str) -> list[str]:
        values = parse_qs(self.query_string, keep_blank_values=True).get(name, [])
        for value in values:
            require_storable(value)
        return values

    def text(self, name: str, default: str = "") -> str:
        values = self.query(name)
        return values[-1] if values else default

    def flag(self, name: str, default: bool = False) -> bool:
        """A boolean of the query, in any case: Python clients send `True`."""
        values = self.query(name)
        if not values:
            return default
        word = values[-1].strip().lower()
        if word not in _TRUE | _FALSE:
            raise MalformedRequest(f"{name} is true or false, not {values[-1]!r}")
        return word in _TRUE

    def number(self, name: str, default: int) -> int:
        values = self.query(name)
        try:
            number = int(values[-1]) if values else default
        except ValueError as e:
            raise MalformedRequest(f"{name} is a whole number, not {values[-1]!r}") from e
        if not -_LARGEST <= number <= _LARGEST:
            raise MalformedRequest(f"{name} is beyond what a 64-bit number holds")
        return number

    def json(self) -> Any:
        media_type = self.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
        if not (media_type.endswith(("/json", "+json")) or media_type == "application/octet-stream"):
            raise UnsupportedMediaType(f"the body is {media_type!r}; send application/json")
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError) as e:
            raise MalformedRequest(f"the body is not JSON: {e}") from e
        if b"\\u" in self.body:
            require_storable(value)
        return value

    def object(self) -> dict[str, Any]:
        body = self.json()
        if not isinstance(body, dict):
            raise MalformedRequest("the body is not a JSON object")
        return body


def require_storable(value: Any) -> None:
    """Refuses text that no database keeps: U+0000 and halves of surrogate pairs, which JSON can spell."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            waiting.extend(found.keys())
            waiting.extend(found.values())
        elif isinstance(found, list):
            waiting.extend(found)
        elif isinstance(found, str) and not _is_storable(found):
            raise MalformedRequest("the request holds a text with U+0000 or half of a surrogate pair")


def _is_storable(text: str) -> bool:
    return "\x00" not in text and (text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text))


@dataclass(frozen=True, slots=True)
class Response:
    """`is_immutable`: the answer to this path and query never changes while its schema exists (see `prepared`).

    With a `stream` the answer goes on after its first bytes until the stream ends or the client leaves.
    """

    status: int = 200
    body: bytes = b""
    media_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    is_immutable: bool = False
    stream: Callable[[], AsyncIterator[bytes]] | None = None


Handler = Callable[[Request], Response]


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
