"""Files → report: reads them, parses them, asks the rules."""

from collections.abc import Sequence

from tallystick.cli import imports, sources
from tallystick.cli.faults import invalid_schema, unusable
from tallystick.cli.report import Report, Version
from tallystick.cli.sources import SchemaFile
from tallystick.compat.change import Change
from tallystick.compat.options import Options
from tallystick.errors import InvalidSchema
from tallystick.finding import Finding
from tallystick.formats import Schema, parse
from tallystick.formats.references import dependencies_first
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import SchemaType
from tallystick.model.strategy import Strategy


def load(
    files: Sequence[str], schema_type: SchemaType | None, references: Sequence[str] = (), include: Sequence[str] = ()
) -> list[SchemaFile]:
    """The files with all that they refer to; `BadInput` for what cannot be read."""
    if files.count(sources.STANDARD_INPUT) > 1:
        raise unusable("standard input can be read only once", file="-", fix='give "-" for one file')
    types = sources.types_of(files, schema_type)
    given = [imports.given(option) for option in references]
    loaded = [imports.load(name, found, given, include) for name, found in zip(files, types, strict=True)]
    for file in loaded:
        sources.refuse_empty(file.name, file.text, file.definition.type)
        if schema_type is None:
            sources.refuse_other_format(file.name, file.text, file.definition.type)
    return loaded


def evaluate(files: Sequence[SchemaFile], strategy: Strategy, options: Options) -> Report:
    """Parses the files, the last of which is the candidate, and asks the rules."""
    *old, candidate = [parsed(file) for file in files]
    versions = tuple(Version(number, file) for number, file in enumerate(files[:-1], start=1))
    findings, changes = _compared(old, candidate, strategy, options) if old else ([], [])
    return Report(
        strategy=strategy,
        candidate=files[-1],
        history=versions,
        compared=versions if strategy.is_transitive else versions[-1:],
        findings=tuple(findings),
        changes=tuple(changes),
    )


def _compared(
    old: Sequence[Schema], candidate: Schema, strategy: Strategy, options: Options
) -> tuple[list[Finding], list[Change]]:
    from tallystick.compat import diff, evolution

    history = [evolution.Registered(number, schema) for number, schema in enumerate(old, start=1)]
    return evolution.check(history, candidate, strategy, options), diff.diff(old[-1], candidate, options)


def parsed(file: SchemaFile) -> Schema:
    """The schema of a file. What it refers to is parsed first, so that a fault is told of the file that has it."""
    try:
        needed = dependencies_first(file.definition, file.references)
    except InvalidSchema as e:
        raise invalid_schema(e, file.name, file.text) from e
    for reference, definition in needed:
        _parsed(reference.subject, definition, file)
    return _parsed(file.name, file.definition, file)


def _parsed(name: str, definition: SchemaDefinition, file: SchemaFile) -> Schema:
    try:
        return parse(definition, file.references)
    except InvalidSchema as e:
        raise invalid_schema(e, name, definition.text) from e
