"""How long messages are kept, when they expire, and whether repeated ones are dropped: of a namespace or a topic."""

from collections.abc import Callable
from typing import Any, Protocol

from tallystick.server.dialects.pulsar_admin.asked import (
    Ask,
    done,
    namespace_in,
    nothing_set,
    shown,
    topic_in,
    value_in,
    whole_number,
)
from tallystick.server.dialects.pulsar_admin.documented import BOOLEAN, FLAG, NUMBER, RETENTION, reads, writes
from tallystick.server.dialects.pulsar_admin.told import Refusal
from tallystick.server.http import Handler, MalformedRequest, Request, Response
from tallystick.server.ports import Policies
from tallystick.server.routing import Route

_LARGEST = 2**31 - 1
_ONE_ZERO = (
    "Invalid retention policy: Setting a single time or size limit to 0 is invalid when one of the limits has a"
    " non-zero value. Use the value of -1 instead of 0 to ignore a specific limit. To disable retention both limits"
    " must be set to 0."
)


class Level(Protocol):
    """Where policies are set."""

    def own(self, request: Request) -> Policies: ...

    def change(self, request: Request, changes: Policies) -> None: ...


class OfNamespace:
    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def own(self, request: Request) -> Policies:
        return self._ask().namespaces.policies(request.caller, namespace_in(request))

    def change(self, request: Request, changes: Policies) -> None:
        self._ask().namespaces.set_policies(request.caller, namespace_in(request), changes)


class OfTopic:
    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def own(self, request: Request) -> Policies:
        applied = request.flag("applied")
        return self._ask().topic_settings.policies(request.caller, topic_in(request), applied=applied)

    def change(self, request: Request, changes: Policies) -> None:
        self._ask().topic_settings.set_policies(request.caller, topic_in(request), changes)


def retention_body(policies: Policies) -> dict[str, Any] | None:
    if policies.get("retention_minutes") is None:
        return None
    return {
        "retentionTimeInMinutes": policies["retention_minutes"],
        "retentionSizeInMB": policies.get("retention_mb"),
    }


def retention_of(body: Any) -> Policies:
    """None takes both limits back."""
    if body is None:
        return {"retention_minutes": None, "retention_mb": None}
    if not isinstance(body, dict):
        raise MalformedRequest("retention is an object with retentionTimeInMinutes and retentionSizeInMB")
    minutes, megabytes = (_limit(body.get(name), name) for name in ("retentionTimeInMinutes", "retentionSizeInMB"))
    if min(minutes, megabytes) < -1:
        raise Refusal(412, "Invalid retention policy: a limit is -1 (none), 0 or more")
    if (minutes == 0) != (megabytes == 0):
        raise Refusal(400, _ONE_ZERO)
    return {"retention_minutes": minutes, "retention_mb": megabytes}


def _limit(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value > _LARGEST:
        raise MalformedRequest(f"{what} is a whole number of 32 bits")
    return value


def ttl_of(value: Any) -> Policies:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value > _LARGEST):
        raise MalformedRequest("the time to live is a whole number of seconds")
    if value is not None and value < 0:
        raise Refusal(412, "Invalid value for message TTL, message TTL must >= 0")
    return {"ttl_seconds": value}


def deduplication_of(value: Any) -> Policies:
    if value is not None and not isinstance(value, bool):
        raise MalformedRequest("send true or false")
    return {"deduplication": value}


def _ttl_in_query(request: Request) -> Policies:
    text = request.text("messageTTL")
    return ttl_of(whole_number(text, "messageTTL") if text else value_in(request))


def _getter(level: Level, show: Callable[[Policies], Any]) -> Handler:
    def get(request: Request) -> Response:
        value = show(level.own(request))
        return nothing_set() if value is None else shown(value)

    return get


def _setter(level: Level, read: Callable[[Request], Policies]) -> Handler:
    def change(request: Request) -> Response:
        level.change(request, read(request))
        return done()

    return change


def _remover(level: Level, *names: str) -> Handler:
    return _setter(level, lambda request: dict.fromkeys(names))


def routes(ask: Ask) -> tuple[Route, ...]:
    namespace, topic = "/namespaces/{tenant}/{namespace}", "/persistent/{tenant}/{namespace}/{topic}"
    return (
        *_routes(OfNamespace(ask), namespace, "deduplication", lambda request: ttl_of(value_in(request))),
        *_routes(OfTopic(ask), topic, "deduplicationEnabled", _ttl_in_query),
    )


def _routes(level: Level, at: str, deduplication: str, read_ttl: Callable[[Request], Policies]) -> tuple[Route, ...]:
    is_topic = isinstance(level, OfTopic)
    applied = {"applied": FLAG} if is_topic else {}
    ttl_query = {"messageTTL": NUMBER} if is_topic else {}
    retention = _setter(level, lambda request: retention_of(value_in(request)))
    repeated = _setter(level, lambda request: deduplication_of(value_in(request)))
    ttl_body = None if is_topic else NUMBER
    keep = "How long, and how much, is kept of what is acknowledged; empty where it is not set."
    expire = "Seconds after which a message counts as acknowledged; empty where it is not set."
    drop = "Are messages dropped that a producer repeats? Empty where it is not set."
    show_ttl, show_drop = (
        _getter(level, lambda p: p.get("ttl_seconds")),
        _getter(level, lambda p: p.get("deduplication")),
    )
    no_retention = _remover(level, "retention_minutes", "retention_mb")
    return (
        Route("GET", f"{at}/retention", _getter(level, retention_body), reads(keep, None, **applied)),
        Route("POST", f"{at}/retention", retention, writes("Set the retention.", RETENTION)),
        Route("DELETE", f"{at}/retention", no_retention, writes("Take the retention back.")),
        Route("GET", f"{at}/messageTTL", show_ttl, reads(expire, None, **applied)),
        Route("POST", f"{at}/messageTTL", _setter(level, read_ttl), writes("Set the seconds.", ttl_body, **ttl_query)),
        Route("DELETE", f"{at}/messageTTL", _remover(level, "ttl_seconds"), writes("Take the seconds back.")),
        Route("GET", f"{at}/{deduplication}", show_drop, reads(drop, None, **applied)),
        Route("POST", f"{at}/{deduplication}", repeated, writes("Set whether they are dropped.", BOOLEAN)),
        Route("DELETE", f"{at}/{deduplication}", _remover(level, "deduplication"), writes("Take that back.")),
    )
