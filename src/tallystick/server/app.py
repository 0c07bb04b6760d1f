"""The application that the HTTP server runs: finds the route, keeps the limits, answers every error in its dialect."""

import asyncio
import logging
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from tallystick.access import ANYBODY, Caller, Principal, reads_everything
from tallystick.errors import TallystickError
from tallystick.server import streaming
from tallystick.server.dialect import Dialect
from tallystick.server.http import (
    BodyTooLarge,
    BodyTooSlow,
    MethodNotAllowed,
    NoSuchRoute,
    Request,
    RequestTooSlow,
    Response,
    require_storable,
)
from tallystick.server.prepared import PreparedAnswers
from tallystick.server.problems import problem_of
from tallystick.server.routing import Route, Router

log = logging.getLogger("tallystick.http")

_WITHOUT_BODY = {"GET", "HEAD", "DELETE", "OPTIONS"}
_DISCARDED_BYTES = 64_000_000
"""How much of a body that is too large is read and thrown away, so that its sender gets to see the answer."""


class Authentication(Protocol):
    """Who asks? `known` must not block; it answers None where `verify`, which may, has to look."""

    def known(self, headers: Any) -> Principal | None: ...

    def verify(self, headers: Any) -> Principal:
        """Raises `Unauthenticated`."""


class Nobody:
    """No security: whoever asks may do everything."""

    def known(self, headers: Any) -> Principal:
        return ANYBODY

    def verify(self, headers: Any) -> Principal:
        return ANYBODY


@dataclass(frozen=True, slots=True)
class HttpLimits:
    body_bytes: int = 10_000_000
    body_seconds: float = 30.0
    """How long a client may take to send its body."""
    request_seconds: float = 60.0
    threads: int = 16
    connections: int = 1024


@dataclass(frozen=True, slots=True)
class Mount:
    """A dialect at a prefix; the longest prefix that fits a path answers it."""

    prefix: str
    dialect: Dialect


class Observer:
    """Is told of every request that has been answered."""

    def answered(self, dialect: str, route: str, method: str, status: int, seconds: float) -> None: ...


@dataclass(slots=True)
class _Exchange:
    """One request on its way: what is known of it so far."""

    mount: Mount
    request: Request
    route: str = "none"
    principal: str = "-"


class App:
    """An RSGI application."""

    def __init__(
        self,
        mounts: list[Mount],
        authentication: Authentication,
        prepared: PreparedAnswers,
        observer: Observer | None = None,
        limits: HttpLimits | None = None,
        name: str = "",
    ) -> None:
        self._limits = limits or HttpLimits()
        self._mounts = sorted(mounts, key=lambda mount: len(mount.prefix), reverse=True)
        self._routers = {mount.prefix: Router(mount.dialect.routes, mount.prefix) for mount in mounts}
        self._authentication = authentication
        self._prepared = prepared
        self._ready = prepared.by_path
        self._observer = observer or Observer()
        self._name = name
        self._pool = ThreadPoolExecutor(self._limits.threads, thread_name_prefix="tallystick-http")

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        headers = scope.headers
        key = self._key(scope, headers)
        ready = self._ready.get(key)
        if ready is not None and scope.method == "GET":
            principal = self._authentication.known(headers)
            # Who may not read everything takes the ordinary way, which looks at each subject.
            if principal is ANYBODY or (principal is not None and reads_everything(principal)):
                if headers.get("if-none-match") == ready.etag:
                    ready.hits.unchanged += 1
                    protocol.response_empty(304, ready.headers)
                else:
                    ready.hits.whole += 1
                    protocol.response_bytes(200, ready.headers, ready.body)
                return
        await self._answer(scope, protocol, key)

    def _key(self, scope: Any, headers: Any) -> str:
        """What an answer depends on: a dialect may answer in the media type that was asked for."""
        query, accept = scope.query_string, headers.get("accept")
        key = f"{self._name}{scope.path}?{query}" if query else self._name + scope.path
        return key if accept is None or accept == "*/*" else f"{key} {accept}"

    def close(self) -> None:
        """Waits for the requests that run."""
        self._pool.shutdown(wait=True)

    async def _answer(self, scope: Any, protocol: Any, key: str) -> None:
        started = time.perf_counter()
        generation = self._prepared.generation
        exchange = self._begin(scope)
        mount, request = exchange.mount, exchange.request
        also: tuple[tuple[str, str], ...] = ()
        try:
            response = await self._respond(scope, protocol, exchange)
        except TallystickError as error:
            response = mount.dialect.problem(error, exchange.request)
            also = problem_of(error).headers(error)
        except Exception:
            log.exception("request failed", extra={"request_id": request.id})
            response = mount.dialect.problem(TallystickError(f"internal error; request {request.id}"), request)
        if scope.method == "DELETE" and response.status < 300:
            self._prepared.forget()
        headers = [("content-type", response.media_type), ("x-request-id", request.id), *response.headers, *also]
        if response.is_immutable and response.status == 200 and scope.method == "GET":
            kept = self._prepared.keep(key, response, generation, mount.dialect.name, exchange.route)
            headers = [*kept.headers, ("x-request-id", request.id)]
        seconds = time.perf_counter() - started
        self._observer.answered(mount.dialect.name, exchange.route, scope.method, response.status, seconds)
        _log(scope, exchange, response.status, seconds)
        if response.stream is not None and scope.method != "HEAD":
            await streaming.send(protocol, response, headers)
        elif response.status == 204:
            protocol.response_empty(204, headers)
        else:
            protocol.response_bytes(response.status, headers, response.body)

    def _begin(self, scope: Any) -> _Exchange:
        headers = _Headers(scope.headers)
        request_id = headers.get("x-request-id", "")[:128] or uuid.uuid4().hex
        request = Request(scope.method, {}, scope.query_string, headers, id=request_id)
        return _Exchange(self._mount_of(scope.path), request)

    async def _respond(self, scope: Any, protocol: Any, exchange: _Exchange) -> Response:
        mount, begun = exchange.mount, exchange.request
        require_storable(scope.path)
        if scope.method == "OPTIONS":
            return self._options(mount, scope)
        route, values = self._route(mount, scope)
        exchange.route = mount.prefix + route.template
        caller = Caller(ANYBODY, _address(scope.client))
        if not mount.dialect.is_open:
            caller = Caller(await self._principal(begun.headers), _address(scope.client))
            exchange.principal = caller.principal.name
        body = await self._body(scope, protocol)
        exchange.request = Request(scope.method, values, scope.query_string, begun.headers, body, caller, begun.id)
        return await self._run(route, exchange.request)

    async def _principal(self, headers: Mapping[str, str]) -> Principal:
        known = self._authentication.known(headers)
        if known is not None:
            return known
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._authentication.verify, headers)

    def _mount_of(self, path: str) -> Mount:
        return next(m for m in self._mounts if path == m.prefix or path.startswith(m.prefix + "/") or not m.prefix)

    def _route(self, mount: Mount, scope: Any) -> tuple[Route, dict[str, str]]:
        found = self._routers[mount.prefix].find("GET" if scope.method == "HEAD" else scope.method, scope.path)
        if isinstance(found, tuple):
            return found
        if found is None:
            raise NoSuchRoute(f"there is nothing at {scope.path[:200]}")
        raise MethodNotAllowed(scope.method, found)

    def _options(self, mount: Mount, scope: Any) -> Response:
        found = self._routers[mount.prefix].find("OPTIONS", scope.path)
        if not isinstance(found, list):
            raise NoSuchRoute(f"there is nothing at {scope.path[:200]}")
        return Response(204, headers=(("allow", ", ".join([*found, "OPTIONS"])),))

    async def _run(self, route: Route, request: Request) -> Response:
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._pool, route.handler, request)
        # A thread cannot be stopped: the request goes on, only its client no longer waits for it.
        done, _ = await asyncio.wait({work}, timeout=self._limits.request_seconds)
        if not done:
            raise RequestTooSlow(self._limits.request_seconds)
        return work.result()

    async def _body(self, scope: Any, protocol: Any) -> bytes:
        if scope.method in _WITHOUT_BODY:
            return b""
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                if self._is_small(scope):
                    whole: bytes = await protocol()
                    return whole
                return await self._limited_body(protocol)
        except TimeoutError as e:
            raise BodyTooSlow(self._limits.body_seconds) from e

    def _is_small(self, scope: Any) -> bool:
        """Whether the client said so; the HTTP server reads no more than what was said."""
        said = scope.headers.get("content-length")
        return said is not None and said.isdigit() and len(said) < 19 and int(said) <= self._limits.body_bytes

    async def _limited_body(self, protocol: Any) -> bytes:
        chunks, size = [], 0
        async for chunk in protocol:
            size += len(chunk)
            if size <= self._limits.body_bytes:
                chunks.append(chunk)
            elif size > _DISCARDED_BYTES:
                break
        if size > self._limits.body_bytes:
            raise BodyTooLarge(self._limits.body_bytes)
        return b"".join(chunks)


def _log(scope: Any, exchange: _Exchange, status: int, seconds: float) -> None:
    log.info(
        "request",
        extra={
            "request_id": exchange.request.id,
            "method": scope.method,
            "path": scope.path[:500],
            "status": status,
            "seconds": round(seconds, 6),
            "client": scope.client,
            "principal": exchange.principal,
            "dialect": exchange.mount.dialect.name,
            "route": exchange.route,
        },
    )


def _address(client: str) -> str:
    """The client's address without its port."""
    return client.rpartition(":")[0] or client


class _Headers(Mapping[str, str]):
    """The server's header object, which is not quite a mapping."""

    def __init__(self, headers: Any) -> None:
        self._headers = headers

    def __getitem__(self, name: str) -> str:
        value = self._headers.get(name)
        if value is None:
            raise KeyError(name)
        return str(value)

    def __iter__(self) -> Any:
        return iter(self._headers.keys())

    def __len__(self) -> int:
        return len(list(self._headers.keys()))
