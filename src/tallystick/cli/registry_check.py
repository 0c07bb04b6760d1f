"""`tally check --registry`: the versions of a subject and a file → report."""

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from tallystick.cli import evaluation, sources
from tallystick.cli.faults import unusable
from tallystick.cli.report import Report, Version
from tallystick.cli.sources import SchemaFile
from tallystick.compat.options import DEFAULT_OPTIONS, OptionalProperties, Options
from tallystick.errors import SubjectNotFound, Unsupported
from tallystick.finding import Finding
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.model.strategy import Strategy

if TYPE_CHECKING:
    from tallystick.rest import RegistryClient
    from tallystick.rest.dialect import Config
    from tallystick.serde.ports import RegisteredSchema

REFUSED_BY_REGISTRY = "REGISTRY_REFUSES_SCHEMA"
"""Stands where a rule's id would: the registry refuses what no rule of ours does."""


def evaluate(
    client: "RegistryClient",
    subject: str,
    files: Sequence[str],
    strategy: Strategy | None,
    options: Options | None,
    schema_type: SchemaType | None = None,
    references: Sequence[str] = (),
    include: Sequence[str] = (),
) -> Report:
    """Judges a file by our rules, as the subject is configured unless told otherwise, and asks the registry, too.

    What the registry refuses does not fit, even where the rules find nothing. A subject without versions takes every
    schema.
    """
    if len(files) != 1:
        raise unusable("with --subject the old versions come from the registry", fix="name the new schema alone")
    numbers = _versions(client, subject)
    configured = client.config(subject)
    chosen = strategy or configured.strategy or Strategy.BACKWARD
    compared = numbers if chosen.is_transitive else numbers[-1:]
    history = [version_file(client, client.by_version(subject, number)) for number in compared]
    latest = history[-1].file if history else None
    candidate = _candidate(files[0], schema_type, references, include, latest)
    report = _report(chosen, candidate, history, options or _options(configured))
    return report if strategy is not None or report.findings else _with_verdict(client, subject, report)


def _options(configured: "Config") -> Options:
    policy = str(configured.more.get("compatibilityPolicy", "")).lower()
    return Options(OptionalProperties(policy)) if policy in tuple(OptionalProperties) else DEFAULT_OPTIONS


def _versions(client: "RegistryClient", subject: str) -> Sequence[int]:
    try:
        return client.versions(subject)
    except SubjectNotFound:
        return []


def version_file(client: "RegistryClient", found: "RegisteredSchema") -> Version:
    """A version of a registry as a file that can be shown and parsed."""
    references = client.referenced(found.definition, found.subject.namespace)
    return Version(found.version, SchemaFile(f"{found.subject}@{found.version}", found.definition, references))


def _candidate(
    file: str,
    schema_type: SchemaType | None,
    references: Sequence[str],
    include: Sequence[str],
    latest: SchemaFile | None,
) -> SchemaFile:
    if schema_type is None and latest is not None and not _tells_type(file, latest):
        schema_type = latest.definition.type
    loaded = evaluation.load([file], schema_type, references, include)[0]
    if loaded.definition.references or latest is None:
        return loaded
    return with_references_of(latest, loaded)


def _tells_type(file: str, latest: SchemaFile) -> bool:
    """Endings stand for three types; where the registry has another one, they say nothing."""
    known = PurePath(file).suffix.lower() in sources.ENDINGS
    return known and latest.definition.type in sources.ENDINGS.values()


def with_references_of(latest: SchemaFile, file: SchemaFile) -> SchemaFile:
    """The file, with what the latest version refers to: a schema rarely changes and loses its references at once."""
    definition = SchemaDefinition(file.definition.type, file.text, latest.definition.references)
    return SchemaFile(file.name, definition, latest.references)


def _report(strategy: Strategy, candidate: SchemaFile, history: Sequence[Version], options: Options) -> Report:
    from tallystick.compat import diff, evolution

    new = evaluation.parsed(candidate)
    old = [evolution.Registered(version.number, evaluation.parsed(version.file)) for version in history]
    return Report(
        strategy=strategy,
        candidate=candidate,
        history=tuple(history),
        compared=tuple(history),
        findings=tuple(evolution.check(old, new, strategy, options)) if old else (),
        changes=tuple(diff.diff(old[-1].schema, new, options)) if old else (),
    )


def _with_verdict(client: "RegistryClient", subject: str, report: Report) -> Report:
    if not report.history:
        return report
    try:
        verdict = client.check(subject, report.candidate.definition)
    except Unsupported:
        return report
    if verdict.is_compatible:
        return report
    said = "; ".join(verdict.messages) or "it does not say why"
    refusal = Finding(
        rule=REFUSED_BY_REGISTRY,
        message=f"the registry refuses the schema, though no rule does: {said}",
        fix="ask the registry's owner which rules it follows",
        version=report.history[-1].number,
    )
    findings = verdict.findings or (refusal,)
    return Report(
        strategy=report.strategy,
        candidate=report.candidate,
        history=report.history,
        compared=report.compared,
        findings=tuple(findings),
        changes=report.changes,
    )
