"""Makes the reference pages that the code itself knows best: rules, errors, commands and the pipeline file.

`python -m tools.reference` writes them to `docs/reference/`, and the tables of `reference_sections` into the pages that
ask for them.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from tallystick import errors
from tallystick.cli.main import tally
from tallystick.compat.rule import Rule
from tallystick.compat.rules import catalogue
from tallystick.errors import TallystickError
from tallystick.finding import Finding
from tests.conformance.cases import CaseFile, compat_files
from tools import reference_sections
from tools.reference_pipeline import SCHEMA_FILE, pipeline_page, pipeline_schema

FOLDER = Path(__file__).parents[1] / "docs" / "reference"

_TITLES = {
    "avro": "Avro, PULSAR_JSON and PULSAR_PROTOBUF",
    "json_schema": "JSON Schema",
    "protobuf": "Protobuf",
    "key_value": "KEY_VALUE",
    "primitive": "The primitive types",
    "type_change": "Changes of the schema type",
}


def rules_page() -> str:
    rules, groups = catalogue(), defaultdict(list)
    for file in compat_files():
        groups[file.format].append(file)
    parts = [
        "# Rules\n",
        f"The {len(rules)} compatibility rules, by schema type. `tally rules ID` prints the same. A rule's id says what"
        " happened from the old schema to the new one; each finding names one.\n",
        "BACKWARD breaks when the new schema cannot read what was written with the old one, FORWARD when the old schema"
        " cannot read what is written with the new one.\n",
    ]
    for format_ in sorted(groups, key=list(_TITLES).index):
        parts.append(f"## {_TITLES[format_]}\n")
        parts += [_rule_section(rules[file.rule], file) for file in groups[format_]]
    return "\n".join(parts)


def _rule_section(rule: Rule, file: CaseFile) -> str:
    lines = [
        f"### {rule.id}\n",
        f"{rule.sentence}\n",
        f"- Breaks {' and '.join(sorted(rule.breaks)) or 'no reading'}; refused under {', '.join(rule.strategies)}.",
        f"- Source: {rule.source.rstrip('.')}.",
    ]
    if not rule.has_witness:
        lines.append("- Cautious: it refuses what cannot be proven to fit.")
    if found := _example(rule, file):
        lines += [f"- For example: {found.message.rstrip('.')}.", f"- Fix: {found.fix.rstrip('.')}."]
    return "\n".join(lines) + "\n"


def _example(rule: Rule, file: CaseFile) -> Finding | None:
    """What the rule says in the first case of its folder in which it strikes."""
    found = (finding for case in file.cases if rule.id in case.rules for finding in case.found())
    return next((finding for finding in found if finding.rule == rule.id), None)


def errors_page() -> str:
    tree = (errors.__doc__ or "").split("\n\n")
    rows = [
        f"| `{error.code}` | `{error.__name__}` | {'yes' if error.transient else 'no'} | {_meaning(error, tree[1])} |"
        for error in _classes(TallystickError)
    ]
    return "\n".join(
        [
            "# Errors\n",
            "Every error is a `TallystickError` from `tallystick.errors`. The code is for programs and stays the same;"
            " the message is for people and may change. A transient error is worth a retry.\n",
            "| code | class | transient | meaning |",
            "|---|---|---|---|",
            *rows,
            "",
            "```text",
            tree[1],
            "```",
            "",
        ]
    )


def _classes(parent: type[TallystickError]) -> Iterator[type[TallystickError]]:
    yield parent
    for child in parent.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from _classes(child)


def _meaning(error: type[TallystickError], tree: str) -> str:
    if error in _MEANINGS:
        return _MEANINGS[error]
    line = re.search(rf"\b{error.__name__}\b *(.*)", tree)
    assert line is not None, f"{error.__name__} is not in the tree of errors.py"
    return line[1] or "any of these"


_MEANINGS: dict[type[TallystickError], str] = {
    errors.NamespaceNotFound: "there is no such namespace",
    errors.SubjectNotFound: "there is no such subject, or nothing of it is live",
    errors.VersionNotFound: "the subject has no such version",
    errors.SchemaNotFound: "no such schema: of an id, a GUID, in a subject, or of a reference",
    errors.SettingsNotFound: "nothing is set at this level",
    errors.AlreadyDeleted: "it is deleted softly already; only the permanent delete is left",
    errors.NotDeletedYet: "a permanent delete comes after a soft one",
}


def cli_page() -> str:
    parts = [
        "# Commands\n",
        "What `tally --help` and the help of each command print. [Exit codes](exit-codes.md) has the codes.\n",
    ]
    parts += [f"## {name}\n\n```text\n{text}\n```\n" for name, text in _helps(tally, "tally")]
    return "\n".join(parts)


def _helps(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[tuple[str, str]]:
    context = click.Context(command, info_name=name, parent=parent, terminal_width=100, max_content_width=100)
    yield context.command_path, "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            yield from _helps(command.commands[inner], inner, context)


PAGES: dict[str, Callable[[], str]] = {
    "rules.md": rules_page,
    "errors.md": errors_page,
    "cli.md": cli_page,
    "pipeline.md": pipeline_page,
    SCHEMA_FILE: pipeline_schema,
}


def main() -> None:
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page())
    for path in reference_sections.pages():
        path.write_text(reference_sections.filled(path.read_text()))


if __name__ == "__main__":
    main()
