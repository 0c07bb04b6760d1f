"""HTTP to one registry: time-outs, retries, and every failure as one of our errors."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from tallystick.errors import Closed, InvalidArgument, Unavailable
from tallystick.rest.credentials import Credentials
from tallystick.rest.problems import error_of

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_LATER = {429, 500, 502, 503, 504}
_LONGEST_PAUSE_S = 10.0
_DIALECTS = ("/confluent", "/admin/v2")


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a call is tried in all, and the first pause; each pause is twice the one before it."""

    attempts: int = 4
    pause_s: float = 0.1


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Any
    """The value of a JSON answer, the text of any other."""
    is_json: bool


class Connection:
    """`url` is where the dialect's paths begin; it holds no password."""

    def __init__(self, url: str, credentials: Credentials, timeout_s: float, retries: Retries | None = None) -> None:
        self.url = url
        self._named = url
        self._retries = retries or Retries()
        self._client = httpx.Client(
            auth=_basic(credentials),
            headers=_headers(credentials),
            verify=credentials.tls() if url.startswith("https:") else False,
            timeout=timeout_s,
        )

    def close(self) -> None:
        self._client.close()

    def under(self, prefix: str) -> "Connection":
        """The same connection, with paths that begin further down."""
        return self.at(self.url + prefix)

    def at(self, url: str) -> "Connection":
        """The same connection, with paths that begin elsewhere on the same server."""
        other = Connection.__new__(Connection)
        other.url, other._named = url, self._named
        other._retries, other._client = self._retries, self._client
        return other

    def server(self) -> "Connection":
        """For what is the server's own, whichever of its dialects the URL names."""
        below = next((prefix for prefix in _DIALECTS if self.url.endswith(prefix)), "")
        return self.at(self.url.removesuffix(below))

    def get(self, path: str, query: Mapping[str, Any] | None = None, **asked: Any) -> Any:
        return self.call("GET", path, query, asked=asked)

    def post(self, path: str, body: Any, query: Mapping[str, Any] | None = None, **asked: Any) -> Any:
        """Only for posts that may be repeated: look-ups, checks, and registrations, which get or create."""
        return self.call("POST", path, query, body, asked=asked)

    def put(self, path: str, body: Any, query: Mapping[str, Any] | None = None, **asked: Any) -> Any:
        return self.call("PUT", path, query, body, asked=asked)

    def delete(self, path: str, query: Mapping[str, Any] | None = None, **asked: Any) -> Any:
        """Not repeated once it may have arrived: the second time it would answer "not found"."""
        return self.call("DELETE", path, query, asked=asked, is_idempotent=False)

    def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        *,
        asked: Mapping[str, Any] | None = None,
        is_idempotent: bool = True,
    ) -> Any:
        """The value of the answer; None where it has none. Raises what the refusal means."""
        answer = self.ask(method, path, query, body, is_idempotent=is_idempotent)
        if answer.status >= 300:
            raise error_of(answer.status, answer.body, {**(asked or {})})
        if not answer.is_json and answer.body:
            raise self._not_a_registry(f"answers {path} with something that is not JSON")
        return answer.body if answer.is_json else None

    def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        *,
        is_idempotent: bool = True,
    ) -> Answer:
        content = None if body is None else json.dumps(body).encode()
        request = self._request(method, path, query, content)
        for attempt in range(1, self._retries.attempts + 1):
            is_last = attempt == self._retries.attempts
            pause_s = self._retries.pause_s * 2 ** (attempt - 1)
            try:
                response = self._client.send(request)
            except RuntimeError as e:
                # It may be closed by one thread while another one asks, or waits to ask again.
                if self._client.is_closed:
                    raise Closed(f"the client of the registry at {self._named} is closed") from e
                raise
            except httpx.TransportError as e:
                if is_last or not (is_idempotent or isinstance(e, _NOT_SENT)):
                    raise self._unreachable(e) from e
            else:
                if is_last or not is_idempotent or response.status_code not in _LATER:
                    return _answer(response)
                pause_s = _wished_pause(response) or pause_s
            time.sleep(min(pause_s, _LONGEST_PAUSE_S))
        raise AssertionError("the last attempt answers or raises")

    def _request(self, method: str, path: str, query: Mapping[str, Any] | None, content: bytes | None) -> httpx.Request:
        params = {name: _word(value) for name, value in (query or {}).items() if value is not None}
        headers = {} if content is None else {"content-type": "application/json"}
        try:
            return self._client.build_request(
                method, self.url + path, params=params or None, content=content, headers=headers
            )
        except httpx.InvalidURL as e:
            raise InvalidArgument("registry", f"this is no URL: {e}") from e

    def _unreachable(self, error: httpx.TransportError) -> Unavailable:
        what = "does not answer in time" if isinstance(error, httpx.TimeoutException) else "cannot be reached"
        reason = str(error) or type(error).__name__
        return Unavailable(f"the registry at {self._named} {what}: {reason}", url=self._named)

    def _not_a_registry(self, what: str) -> InvalidArgument:
        return InvalidArgument("registry", f"{self.url} {what}; is this the URL of a registry?")


def escaped(name: str) -> str:
    """A name as one segment of a path."""
    return quote(name, safe="")


def _basic(credentials: Credentials) -> tuple[str, str] | None:
    return None if credentials.username is None else (credentials.username, credentials.password or "")


def _headers(credentials: Credentials) -> dict[str, str]:
    accept = {"accept": "application/vnd.schemaregistry.v1+json, application/json", "user-agent": "tallystick"}
    return accept if credentials.token is None else {**accept, "authorization": f"Bearer {credentials.token}"}


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _answer(response: httpx.Response) -> Answer:
    if not response.content:
        return Answer(response.status_code, None, is_json=False)
    try:
        return Answer(response.status_code, json.loads(response.content), is_json=True)
    except (ValueError, RecursionError):
        return Answer(response.status_code, response.text, is_json=False)


def _wished_pause(response: httpx.Response) -> float | None:
    """`Retry-After` in seconds; a date is left to our own pauses."""
    wish = response.headers.get("retry-after", "")
    return float(wish) if wish.isascii() and wish.isdigit() else None
