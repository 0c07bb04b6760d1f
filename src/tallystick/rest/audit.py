"""The audit log of our own servers."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tallystick.errors import NotFound, Unsupported
from tallystick.rest import bodies
from tallystick.rest.connection import Connection

_PAGE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """A change: who made it, from where, and what it was."""

    id: int
    at: str
    """ISO 8601, in UTC."""
    kind: str
    """`schema.registered`, `settings.changed` …"""
    principal: str
    subject: str | None = None
    """None where it is about a namespace or the server."""
    address: str | None = None
    data: dict[str, Any] = field(default_factory=dict)


def entries(
    connection: Connection, subject: str | None, principal: str | None, kind: str | None, since: datetime | None
) -> Iterator[AuditEntry]:
    """The newest first, read page by page."""
    query: dict[str, Any] = {"subject": subject, "principal": principal, "kind": kind, "limit": _PAGE}
    query["since"] = since and since.isoformat()
    while True:
        page = _page(connection, query)
        for entry in bodies.a_list(page.get("entries"), "entries"):
            yield _entry(bodies.an_object(entry))
        if "next" not in page:
            return
        query["before"] = bodies.number(page, "next")


def _page(connection: Connection, query: dict[str, Any]) -> dict[str, Any]:
    try:
        return bodies.an_object(connection.server().get("/audit", query))
    except NotFound as e:
        raise Unsupported("this registry has no audit log that can be asked for") from e


def _entry(body: dict[str, Any]) -> AuditEntry:
    return AuditEntry(
        id=bodies.number(body, "id"),
        at=bodies.text(body, "at"),
        kind=bodies.text(body, "kind"),
        principal=bodies.text(body, "principal"),
        subject=body.get("subject"),
        address=body.get("address"),
        data=bodies.an_object(body.get("data", {})),
    )
