"""`tally schema`: look at the schemas of a registry, and change them."""

import contextlib
import sys
from itertools import islice
from typing import TYPE_CHECKING

import click

from tallystick.cli.faults import unusable
from tallystick.cli.registry_options import EXIT_CODES, answer, confirm, with_registry
from tallystick.cli.terminal import show, terminal
from tallystick.cli.transfer import export_command, import_command
from tallystick.errors import AlreadyDeleted, SubjectNotFound, VersionNotFound
from tallystick.model.definition import Reference, SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.model.settings import Enforce, Mode, PayloadValidation, Settings
from tallystick.model.strategy import Strategy

if TYPE_CHECKING:
    from tallystick.cli.report import Report, Version
    from tallystick.rest import RegistryClient
    from tallystick.serde.ports import RegisteredSchema

_STRATEGIES = ["NONE", *(str(strategy) for strategy in Strategy)]


@click.group(epilog=EXIT_CODES)
def schema() -> None:
    """Look at the schemas of a registry, and change them.

    Works with ours and with every registry that speaks Confluent's, OpenSchema's or Pulsar's API.
    """


@schema.command("list", epilog=EXIT_CODES)
@click.argument("subject", required=False)
@click.option("--prefix", default="", help="Only subjects whose names begin so.")
@click.option("--deleted", is_flag=True, help="With what is deleted softly.")
@click.option("--limit", type=click.IntRange(1), help="At most so many subjects.")
@with_registry
def list_(
    client: "RegistryClient",
    subject: str | None,
    prefix: str,
    deleted: bool,
    limit: int | None,
    output: str,
    colour: str,
) -> None:
    """List the subjects, or the versions of SUBJECT."""
    if subject is None:
        names = list(islice(client.subjects(prefix, deleted=deleted), limit))
        answer(names, output, *names)
        return
    found = [
        client.by_version(subject, number, deleted=deleted) for number in client.versions(subject, deleted=deleted)
    ]
    rows = [_summary(each) for each in found]
    lines = [f"{row['version']:>4}  id {row.get('id', '-'):<6} {row['type']}" for row in rows]
    answer(rows, output, *lines)


def _summary(found: "RegisteredSchema") -> dict[str, object]:
    fields = {
        "subject": str(found.subject),
        "version": found.version,
        "id": found.id,
        "guid": found.guid and str(found.guid),
        "type": str(found.definition.type),
        "references": [
            {"name": r.name, "subject": r.subject, "version": r.version} for r in found.definition.references
        ],
    }
    return {name: value for name, value in fields.items() if value not in (None, [])}


@schema.command(epilog=EXIT_CODES)
@click.argument("subject", required=False)
@click.option("--version", metavar="NUMBER|latest", default="latest", show_default=True)
@click.option("--id", "schema_id", type=click.IntRange(0), help="By its id instead of a subject.")
@click.option("--namespace", default="public/default", show_default=True, help="With --id: the namespace.")
@click.option("--deleted", is_flag=True, help="Even if it is deleted softly.")
@with_registry
def get(
    client: "RegistryClient",
    subject: str | None,
    version: str,
    schema_id: int | None,
    namespace: str,
    deleted: bool,
    output: str,
    colour: str,
) -> None:
    """Show a schema: of SUBJECT, or with --id."""
    if (subject is None) == (schema_id is None):
        raise unusable("one schema is wanted", fix="name a SUBJECT, or give --id")
    if subject is not None:
        found = client.by_version(subject, _number(version), deleted=deleted)
        answer({**_summary(found), "schema": found.definition.text}, output, found.definition.text)
        return
    assert schema_id is not None
    definition = client.by_id(schema_id, namespace)
    answer({"id": schema_id, "type": str(definition.type), "schema": definition.text}, output, definition.text)


def _number(version: str) -> int | None:
    if version == "latest":
        return None
    if not (version.isascii() and version.isdigit() and 0 < int(version) < 2**31):
        raise unusable(f"{version!r} is no version", fix='give a number from 1, or "latest"')
    return int(version)


@schema.command(epilog=EXIT_CODES)
@click.argument("subject")
@click.argument("file")
@click.option("--type", "schema_type", metavar="TYPE", help="Schema type; by default the file's ending tells it.")
@click.option(
    "--reference",
    "references",
    multiple=True,
    metavar="NAME=SUBJECT:VERSION",
    help="A registered schema that the file refers to, by its Avro name, its URI or its import path.",
)
@click.option("--normalize", is_flag=True, help="A schema that is the same once parsed counts as registered.")
@with_registry
def register(
    client: "RegistryClient",
    subject: str,
    file: str,
    schema_type: str | None,
    references: tuple[str, ...],
    normalize: bool,
    output: str,
    colour: str,
) -> None:
    """Register FILE as the next version of SUBJECT, or find the version that it is."""
    definition = _definition(file, schema_type, references)
    found = client.register(subject, definition, normalize=normalize)
    known = "" if found.id is None else f", id {found.id}"
    answer(_summary(found), output, f"{found.subject} version {found.version}{known}")


def _definition(file: str, schema_type: str | None, references: tuple[str, ...]) -> SchemaDefinition:
    from tallystick.cli import sources

    given = None if schema_type is None else SchemaType(schema_type.upper().replace("-", "_"))
    kind, text = sources.types_of([file], given)[0], sources.read(file)
    sources.refuse_empty(file, text, kind)
    if given is None:
        sources.refuse_other_format(file, text, kind)
    return SchemaDefinition(kind, text, tuple(_reference(option) for option in references))


def _reference(option: str) -> Reference:
    """The name ends at the last `=`, the subject at the last `:`; both may hold such characters themselves."""
    name, _, place = option.rpartition("=")
    subject, _, version = place.rpartition(":")
    if not name or not subject or not (version.isascii() and version.isdigit() and int(version) > 0):
        raise unusable(f"--reference {option!r} is not NAME=SUBJECT:VERSION", fix="such as shop.Order=orders-value:3")
    return Reference(name, subject, int(version))


@schema.command(epilog=EXIT_CODES)
@click.argument("subject")
@click.argument("old", required=False)
@click.argument("new", required=False)
@with_registry
def diff(client: "RegistryClient", subject: str, old: str | None, new: str | None, output: str, colour: str) -> None:
    """Show what changed in SUBJECT from OLD to NEW, and which strategies each change breaks.

    OLD and NEW are versions (a number or "latest"); NEW may be a file. Without both: the last two versions. With OLD
    alone: from there to the latest.
    """
    from tallystick.cli.output import text

    before = _version(client, subject, old or _last_but_one(client, subject))
    report = _compared(client, subject, before, new or "latest")
    changes = [change.as_dict() for change in report.changes]
    if output != "text":
        answer({"old": before.file.name, "new": report.candidate.name, "changes": changes}, output)
        return
    target = terminal(colour, sys.stdout)
    show(text.diff_lines(report, target.width, None), target, sys.stdout)


def _last_but_one(client: "RegistryClient", subject: str) -> str:
    versions = client.versions(subject)
    if len(versions) < 2:
        raise unusable(f"{subject} has a single version", fix="name a file to compare it with")
    return str(versions[-2])


def _version(client: "RegistryClient", subject: str, version: str) -> "Version":
    from tallystick.cli.registry_check import version_file

    return version_file(client, client.by_version(subject, _number(version)))


def _compared(client: "RegistryClient", subject: str, before: "Version", new: str) -> "Report":
    from tallystick.cli import evaluation
    from tallystick.cli.registry_check import with_references_of
    from tallystick.cli.report import Report
    from tallystick.cli.sources import SchemaFile
    from tallystick.compat.diff import diff as differences

    if new == "latest" or new.isdigit():
        after = _version(client, subject, new).file
    else:
        bare = _definition(new, str(before.file.definition.type), ())
        after = with_references_of(before.file, SchemaFile(new, bare))
    strategy = client.config(subject).strategy or Strategy.BACKWARD
    changes = differences(evaluation.parsed(before.file), evaluation.parsed(after))
    return Report(
        strategy=strategy, candidate=after, history=(before,), compared=(before,), findings=(), changes=tuple(changes)
    )


@schema.command(epilog=EXIT_CODES)
@click.argument("subject")
@click.option("--version", metavar="NUMBER|latest", help="Only this version.")
@click.option("--permanent", is_flag=True, help="For ever; what is not deleted softly yet is deleted so first.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@with_registry
def delete(
    client: "RegistryClient", subject: str, version: str | None, permanent: bool, yes: bool, output: str, colour: str
) -> None:
    """Delete SUBJECT, or one of its versions: softly, or for ever."""
    what = subject if version is None else f"version {version} of {subject}"
    confirm(f"Delete {what}{' for ever' if permanent else ''}?", yes)
    if version is None:
        versions = _delete_subject(client, subject, permanent)
    else:
        versions = [_delete_version(client, subject, _number(version), permanent)]
    told = ", ".join(map(str, versions)) or "none"
    answer({"subject": subject, "deleted": versions, "permanent": permanent}, output, f"deleted versions: {told}")


def _delete_subject(client: "RegistryClient", subject: str, permanent: bool) -> list[int]:
    if not permanent or client.dialect == "pulsar":
        return [*client.delete_subject(subject, permanent=permanent)]
    # The permanent delete says whether there is anything at all.
    with contextlib.suppress(AlreadyDeleted, SubjectNotFound):
        client.delete_subject(subject)
    return [*client.delete_subject(subject, permanent=True)]


def _delete_version(client: "RegistryClient", subject: str, number: int | None, permanent: bool) -> int:
    if not permanent:
        return client.delete_version(subject, number)
    if number is None:
        number = client.by_version(subject).version
    with contextlib.suppress(AlreadyDeleted, SubjectNotFound, VersionNotFound):
        client.delete_version(subject, number)
    return client.delete_version(subject, number, permanent=True)


@schema.command(epilog=EXIT_CODES)
@click.argument("subject", required=False)
@click.option("--strategy", type=click.Choice(_STRATEGIES, case_sensitive=False), help="Set the strategy.")
@click.option("--enforce", type=click.Choice([*map(str, Enforce)]), help="What happens to a schema that does not fit.")
@click.option(
    "--payload-validation", type=click.Choice([*map(str, PayloadValidation)]), help="What a broker asks of a message."
)
@click.option("--auto-update/--no-auto-update", default=None, help="May clients of a broker bring new schemas?")
@click.option("--validation-enforced/--no-validation-enforced", default=None, help="Do producers need a schema?")
@click.option("--unset", is_flag=True, help="Take back what is set: the next level's counts then.")
@with_registry
def config(
    client: "RegistryClient",
    subject: str | None,
    strategy: str | None,
    enforce: str | None,
    payload_validation: str | None,
    auto_update: bool | None,
    validation_enforced: bool | None,
    unset: bool,
    output: str,
    colour: str,
) -> None:
    """Show or set the configuration of SUBJECT, or of the registry.

    All but the strategy is our own servers'; a registry that has no such setting says so.
    """
    wanted = Settings(
        strategy=_strategy(strategy),
        enforce=None if enforce is None else Enforce(enforce),
        payload_validation=None if payload_validation is None else PayloadValidation(payload_validation),
        auto_update=auto_update,
        validation_enforced=validation_enforced,
    )
    if unset and wanted != Settings():
        raise unusable("--unset takes everything back, and something else is to be set")
    if unset:
        client.set_strategy(subject, None)
    elif wanted != Settings():
        client.configure(subject, wanted)
    found = client.config(subject)
    value = {"strategy": found.strategy and str(found.strategy), **found.more}
    answer(value, output, *(f"{name}: {_word(entry)}" for name, entry in value.items()))


def _strategy(word: str | None) -> Strategy | None:
    if word is None:
        return None
    return Strategy.ALWAYS_COMPATIBLE if word.upper() == "NONE" else Strategy(word.upper())


def _word(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


@schema.command(epilog=EXIT_CODES)
@click.argument("subject", required=False)
@click.option("--set", "wanted", type=click.Choice([*map(str, Mode)], case_sensitive=False), help="Set the mode.")
@click.option("--unset", is_flag=True, help="Take the mode back: the next level's counts then.")
@click.option("--force", is_flag=True, help="Set IMPORT where there are schemas already.")
@with_registry
def mode(
    client: "RegistryClient",
    subject: str | None,
    wanted: str | None,
    unset: bool,
    force: bool,
    output: str,
    colour: str,
) -> None:
    """Show or set the mode of SUBJECT, or of the registry."""
    if wanted is not None and unset:
        raise unusable("--set and --unset contradict each other")
    if wanted is not None or unset:
        client.set_mode(subject, None if wanted is None else Mode(wanted.upper()), force=force)
    found = client.mode(subject)
    answer({"mode": str(found)}, output, str(found))


schema.add_command(import_command)
schema.add_command(export_command)
