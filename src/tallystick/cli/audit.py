"""`tally audit`: who changed what."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.registry_options import EXIT_CODES, answer, with_registry

if TYPE_CHECKING:
    from tallystick.rest import RegistryClient
    from tallystick.rest.audit import AuditEntry

_FORMATS = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"]


@click.command(epilog=EXIT_CODES)
@click.option("--subject", help="Only changes of this subject.")
@click.option("--principal", help="Only changes that this user or token made.")
@click.option("--kind", help="Only changes of this kind, such as schema.registered.")
@click.option("--since", type=click.DateTime(_FORMATS), metavar="TIME", help="Only changes from this time on, in UTC.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most so many.")
@with_registry
def audit(
    client: "RegistryClient",
    subject: str | None,
    principal: str | None,
    kind: str | None,
    since: datetime | None,
    limit: int,
    output: str,
    colour: str,
) -> None:
    """Show who changed what in a registry, and from where, the newest first.

    Works with our own servers; where they have security, for those who may administer them.
    """
    at = since and since.replace(tzinfo=UTC)
    found = list(islice(client.audit(subject=subject, principal=principal, kind=kind, since=at), limit))
    answer([_document(entry) for entry in found], output, *map(_line, found))


def _document(entry: "AuditEntry") -> dict[str, Any]:
    return {name: value for name, value in asdict(entry).items() if value is not None}


def _line(entry: "AuditEntry") -> str:
    who = entry.principal if entry.address is None else f"{entry.principal} ({entry.address})"
    what = [entry.kind, *([entry.subject] if entry.subject else []), *_details(entry.data)]
    return f"{entry.at}  {who}  {' '.join(what)}"


def _details(data: Mapping[str, Any]) -> list[str]:
    """What is short enough for a line; documents have the rest."""
    return [f"{name}={value}" for name, value in _flat(data).items() if isinstance(value, str | int) and name != "guid"]


def _flat(data: Mapping[str, Any]) -> dict[str, Any]:
    changes = data.get("changes")
    return {**data, **changes} if isinstance(changes, dict) else dict(data)
