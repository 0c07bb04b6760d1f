"""What requests say: names in the path, values in the body."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from tallystick.errors import InvalidArgument
from tallystick.model.naming import namespace_named
from tallystick.server.dialects.pulsar_admin.told import Refusal
from tallystick.server.http import MalformedRequest, Request, Response, as_json, require_storable
from tallystick.server.ports import BrokerPorts

Ask = Callable[[], BrokerPorts]
"""The broker; raises where there is none."""

PARTITION = re.compile(r"(.+)-partition-\d+")
EARLIEST = (-1, -1)
LATEST = (2**63 - 1, 2**63 - 1)
_LARGEST = 2**63 - 1
_WORDS = {"earliest": EARLIEST, "latest": LATEST}


def tenant_of(request: Request) -> str:
    try:
        return namespace_named(request.path["tenant"], "x").partition("/")[0]
    except InvalidArgument as e:
        raise Refusal(412, "Tenant name is not valid") from e


def namespace_in(request: Request) -> str:
    try:
        return namespace_named(request.path["tenant"], request.path["namespace"])
    except InvalidArgument as e:
        raise Refusal(412, "Namespace name is not valid") from e


def topic_in(request: Request) -> str:
    local = request.path["topic"]
    if "/" in local:
        raise Refusal(412, f"Topic name is not valid: {local[:200]!r} has a slash, or there is nothing at this path")
    return f"persistent://{namespace_in(request)}/{local}"


def whole_number(text: str, what: str) -> int:
    if not (text.isascii() and text.lstrip("-").isdigit() and len(text) < 20 and abs(int(text)) <= _LARGEST):
        raise MalformedRequest(f"{what} is a whole number, not {text[:40]!r}")
    return int(text)


def value_in(request: Request) -> Any:
    """The body; None where there is none. Pulsar's own tools send some bodies without a type or with another one."""
    if not request.body.strip():
        return None
    try:
        value = json.loads(request.body)
    except (ValueError, RecursionError) as e:
        raise MalformedRequest(f"the body is not JSON: {e}") from e
    require_storable(value)
    return value


def texts_in(value: Any, what: str) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for text in value.values()):
        raise MalformedRequest(f"{what} are an object of texts")
    return dict(value)


def message_id_in(value: Any) -> tuple[int, int]:
    """Ledger and entry: `"earliest"`, `"latest"` or `{"ledgerId": …, "entryId": …}`, which may stand in `messageId`."""
    if isinstance(value, str) and value in _WORDS:
        return _WORDS[value]
    if isinstance(value, Mapping) and isinstance(value.get("messageId"), Mapping):
        value = value["messageId"]
    if not isinstance(value, Mapping):
        raise MalformedRequest('a message id is "earliest", "latest" or {"ledgerId": …, "entryId": …}')
    ledger, entry = (_whole(value.get(name), name) for name in ("ledgerId", "entryId"))
    # Who has read this message wants the next one.
    return ledger, min(entry + bool(value.get("isExcluded")), _LARGEST)


def _whole(value: Any, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _LARGEST:
        raise MalformedRequest(f"{what} is a whole number of 64 bits")
    return value


def done() -> Response:
    return Response(204)


def shown(value: Any) -> Response:
    return Response(200, as_json(value))


def nothing_set() -> Response:
    """A policy that is not set is an empty answer."""
    return Response(200)
