"""`tally schema import` and `export`: the content of a whole registry, with its ids."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallystick.cli.faults import unusable
from tallystick.cli.registry_options import (
    DONE,
    EXIT_CODES,
    REFUSED,
    RegistryOptions,
    answer,
    confirm,
    credentials,
    registry_command,
)
from tallystick.errors import InvalidArgument, Unsupported
from tallystick.model.naming import namespace_named
from tallystick.model.subject import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    from tallystick.rest import RegistryClient
    from tallystick.rest.confluent import ConfluentRegistry
    from tallystick.rest.transfer.carrying_out import Outcome
    from tallystick.rest.transfer.plan import Plan, SettingsChange
    from tallystick.rest.transfer.snapshot import Snapshot

_SHOWN = 20
"""Clashes, failures and settings that are shown to people; programs get all."""


@click.command("export", epilog=EXIT_CODES)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@registry_command
def export_command(folder: Path, registry: RegistryOptions, output: str, colour: str) -> int:
    """Write all that a registry holds into FOLDER, for `tally schema import`.

    The same content gives the same files: export again to see what changed.
    """
    from tallystick.rest.transfer import folder as folders
    from tallystick.rest.transfer import reading

    with registry.open(_confluent(registry.dialect)) as client:
        snapshot = reading.read(_speaking_confluent(client), progress=_progress())
    folders.save(snapshot, folder)
    told = {"folder": str(folder), **_counts(snapshot)}
    answer(told, output, f"{told['versions']} versions of {told['subjects']} subjects written to {folder}")
    return DONE


@click.command("import", epilog=EXIT_CODES)
@click.option(
    "--from",
    "source",
    required=True,
    metavar="URL|FOLDER",
    help="A registry that speaks Confluent's API, or a folder that export wrote. Credentials for a registry stand in"
    " its URL or in TALLY_SOURCE_USER, TALLY_SOURCE_PASSWORD, TALLY_SOURCE_TOKEN.",
)
@click.option(
    "--namespace",
    "namespaces",
    multiple=True,
    metavar="[OLD=]NEW",
    help="Put a namespace of the source (by default public/default) into another one of the target.",
)
@click.option("--dry-run", is_flag=True, help="Show the plan and do nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@registry_command
def import_command(
    source: str,
    namespaces: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    registry: RegistryOptions,
    output: str,
    colour: str,
) -> int:
    """Copy all that a registry or a folder holds into the registry, with ids, versions, references and settings.

    Shows a plan first. What is there already stays as it is, so a second run does nothing, and one that was stopped
    is finished by the next. Subjects are in IMPORT mode while they are copied.
    """
    from tallystick.rest.transfer import reading, snapshot
    from tallystick.rest.transfer.plan import plan

    names = dict(_renamed(option) for option in namespaces)
    with registry.open(_confluent(registry.dialect)) as target:
        found = snapshot.moved(_read_source(source, registry.ca, registry.timeout_s), names)
        there = _speaking_confluent(target)
        plan_ = plan(found, reading.read(there, found.namespaces, _progress()))
        return _follow(there, plan_, names, dry_run, yes, output)


def _confluent(dialect: str) -> str:
    if dialect not in ("auto", "confluent"):
        raise Unsupported(f"ids are copied over Confluent's API only, not over {dialect}")
    return "confluent"


def _speaking_confluent(client: "RegistryClient") -> "ConfluentRegistry":
    from tallystick.rest.confluent import ConfluentRegistry

    registry = client.registry
    assert isinstance(registry, ConfluentRegistry)
    return registry


def _renamed(option: str) -> tuple[str, str]:
    old, _, new = option.rpartition("=")
    tenant, slash, name = new.partition("/")
    if not slash:
        raise unusable(f"{new!r} is no namespace", fix="give tenant/namespace, such as public/imported")
    try:
        return old or DEFAULT_NAMESPACE, namespace_named(tenant, name)
    except InvalidArgument as e:
        raise unusable(e.message) from e


def _read_source(source: str, ca: Path | None, timeout_s: float) -> "Snapshot":
    from tallystick.rest import RegistryClient
    from tallystick.rest.transfer import folder, reading

    if not source.startswith(("http://", "https://")):
        return folder.load(Path(source))
    known = credentials(ca, None, None, os.environ, "TALLY_SOURCE")
    with RegistryClient(source, "confluent", credentials=known, timeout_s=timeout_s) as client:
        return reading.read(_speaking_confluent(client), progress=_progress())


def _follow(
    registry: "ConfluentRegistry", plan: "Plan", names: Mapping[str, str], dry_run: bool, yes: bool, output: str
) -> int:
    from tallystick.rest.transfer.carrying_out import Outcome, carry_out

    if output == "text":
        for line in _plan_lines(plan, names):
            click.echo(line)
    outcome = Outcome()
    if not (plan.clashes or dry_run or plan.is_empty):
        confirm("Copy this?", yes)
        outcome = carry_out(registry, plan, _progress())
        if output == "text":
            for line in _outcome_lines(outcome):
                click.echo(line)
    if output != "text":
        answer({"plan": _plan_document(plan, names), "done": _outcome_document(outcome)}, output)
    return REFUSED if plan.clashes or outcome.failures else DONE


def _counts(snapshot: "Snapshot") -> dict[str, int]:
    return {"subjects": len({each.subject for each in snapshot.versions}), "versions": len(snapshot.versions)}


def _plan_lines(plan: "Plan", names: Mapping[str, str]) -> Iterator[str]:
    if plan.is_empty:
        yield f"Nothing to do: all {plan.unchanged} versions are there already."
        return
    by_namespace = Counter(each.subject.namespace for each in plan.registrations)
    subjects = len({each.subject for each in plan.registrations})
    yield f"{len(plan.registrations)} versions of {subjects} subjects to register"
    for namespace, count in sorted(by_namespace.items()):
        yield f"    {count} in {namespace}"
    yield f"{len(plan.deletions)} versions to delete softly, as they are in the source"
    yield f"{len(plan.settings)} settings to change"
    yield from _first([_settings_line(change) for change in plan.settings])
    yield f"{plan.unchanged} versions are there already"
    if plan.clashes:
        yield from _clash_lines(plan, names)


def _clash_lines(plan: "Plan", names: Mapping[str, str]) -> Iterator[str]:
    yield f"{len(plan.clashes)} versions clash, so nothing is copied"
    yield from _first([f"    {clash.version} (id {clash.version.id}): {clash.reason}" for clash in plan.clashes])
    for old, new in _ways_out(plan, names).items():
        yield f"Ids are unique in a namespace only. To keep them, import into another one: --namespace {old}={new}"


def _ways_out(plan: "Plan", names: Mapping[str, str]) -> dict[str, str]:
    """For each namespace of the source with a clash of ids the one to put it into."""
    before = {new: old for old, new in names.items()}
    clashing = sorted({clash.version.subject.namespace for clash in plan.clashes if clash.is_about_ids})
    return {before.get(namespace, namespace): f"{namespace}-imported" for namespace in clashing}


def _settings_line(change: "SettingsChange") -> str:
    said = [f"{name} {value}" for name, value in (change.config or {}).items()]
    said += [f"mode {change.mode}"] if change.mode else []
    said += ["take IMPORT mode back"] if change.takes_mode_back else []
    return f"    {change.place or 'the registry'}: {', '.join(said)}"


def _first(lines: list[str]) -> Iterator[str]:
    yield from lines[:_SHOWN]
    if len(lines) > _SHOWN:
        yield f"    … and {len(lines) - _SHOWN} more; --output json shows them"


def _outcome_lines(outcome: "Outcome") -> Iterator[str]:
    yield f"{outcome.registered} registered, {outcome.deleted} deleted softly, {outcome.configured} settings changed"
    if outcome.failures:
        yield f"{len(outcome.failures)} refused by the target; mend them and run again"
        yield from _first([f"    {name}: {reason}" for name, reason in outcome.failures])


def _plan_document(plan: "Plan", names: Mapping[str, str]) -> dict[str, object]:
    return {
        "register": [
            {"subject": str(each.subject), "version": each.version, "id": each.id} for each in plan.registrations
        ],
        "delete": [{"subject": str(each.subject), "version": each.version} for each in plan.deletions],
        "settings": [_settings_document(change) for change in plan.settings],
        "unchanged": plan.unchanged,
        "clashes": [
            {
                "subject": str(clash.version.subject),
                "version": clash.version.version,
                "id": clash.version.id,
                "reason": clash.reason,
            }
            for clash in plan.clashes
        ],
        "namespaces_to_use": _ways_out(plan, names),
    }


def _settings_document(change: "SettingsChange") -> Mapping[str, object]:
    mode = None if change.takes_mode_back else change.mode
    changes_mode = change.takes_mode_back or change.mode is not None
    return {"place": change.place, "config": change.config or {}, **({"mode": mode} if changes_mode else {})}


def _outcome_document(outcome: "Outcome") -> dict[str, object]:
    return {
        "registered": outcome.registered,
        "deleted": outcome.deleted,
        "settings": outcome.configured,
        "failures": [{"what": name, "reason": reason} for name, reason in outcome.failures],
    }


class _Bar:
    """A bar on the terminal; nothing where there is none."""

    @contextmanager
    def task(self, title: str, total: int) -> Iterator[Callable[[], None]]:
        if not sys.stderr.isatty() or not total:
            yield lambda: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(title, total=total)
            yield lambda: progress.advance(task)


def _progress() -> _Bar:
    return _Bar()
