"""`tally rules`: the catalogue, so that a rule id in a log can be looked up."""

import difflib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from tallystick.cli.terminal import colour_option, show, terminal, write
from tallystick.model.strategy import Strategy

if TYPE_CHECKING:
    from rich.text import Text

    from tallystick.compat.rule import Rule

_RULES = "tallystick.compat.rules"
_SAME_RULES = {"PULSAR_JSON": "AVRO", "PULSAR_PROTOBUF": "AVRO", "PROTOBUF_NATIVE": "PROTOBUF"}
"""Types whose definitions are those of another."""


@click.command()
@click.argument("rule_id", metavar="[ID]", required=False)
@click.option("--type", "schema_type", metavar="TYPE", help="Only the rules of this schema type, such as AVRO.")
@click.option("--output", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True)
@colour_option
def rules(rule_id: str | None, schema_type: str | None, output: str, colour: str) -> None:
    """List the compatibility rules, or explain the one with this ID."""
    from tallystick.cli.output import json_yaml

    chosen = [_found(rule_id)] if rule_id is not None else _of_type(schema_type)
    value = _as_dict(chosen[0]) if rule_id is not None else {"rules": [_as_dict(rule) for rule in chosen]}
    match output:
        case "json":
            write(json_yaml.as_json(value))
        case "yaml":
            write(json_yaml.as_yaml(value))
        case _:
            target = terminal(colour, sys.stdout)
            lines = explanation(chosen[0], target.width) if rule_id is not None else listing(chosen, target.width)
            show(lines, target, sys.stdout)


def _found(rule_id: str) -> "Rule":
    from tallystick.compat.rules import catalogue

    known = catalogue()
    wanted = rule_id.upper().replace("-", "_")
    if wanted in known:
        return known[wanted]
    started = [id_ for id_ in known if id_.startswith(wanted)]
    close = list(dict.fromkeys([*started, *difflib.get_close_matches(wanted, known)]))[:3]
    hint = f"; did you mean {' or '.join(close)}?" if close else "; `tally rules` lists them all"
    raise click.BadParameter(f"there is no rule {rule_id!r}{hint}", param_hint="ID")


def _of_type(schema_type: str | None) -> list["Rule"]:
    from tallystick.compat.rules import catalogue

    known = catalogue()
    if schema_type is None:
        return list(known.values())
    wanted = schema_type.upper().replace("-", "_")
    wanted = _SAME_RULES.get(wanted, wanted)
    chosen = [rule for rule in known.values() if kind(rule) == wanted]
    if not chosen:
        kinds = ", ".join(dict.fromkeys(kind(rule) for rule in known.values()))
        raise click.BadParameter(f"no rules are of type {schema_type!r}; there are {kinds}", param_hint="--type")
    return chosen


def kind(rule: "Rule") -> str:
    """The schema type that a rule belongs to: the module or package of `compat.rules` that holds it."""
    module = rule.function.__module__.removeprefix(f"{_RULES}.").partition(".")[0].upper()
    return "ANY" if module == "TYPE_CHANGE" else module


def listing(chosen: Sequence["Rule"], width: int | None) -> list["Text"]:
    from rich.text import Text

    from tallystick.cli.output.text import wrapped

    lines: list[Text] = []
    for of in dict.fromkeys(kind(rule) for rule in chosen):
        group = [rule for rule in chosen if kind(rule) == of]
        lines += [Text(), Text(f"{of} ({len(group)})", "bold")]
        for rule in group:
            breaks = (f"  [breaks {_breaks(rule)}]  ", "dim")
            lines += wrapped(Text.assemble("  ", (rule.id, "cyan"), breaks, rule.sentence), width, hang=4)
    return lines[1:]


def explanation(rule: "Rule", width: int | None) -> list["Text"]:
    from rich.text import Text

    from tallystick.cli.output.text import labelled, paragraph
    from tallystick.cli.report import sentence

    accepting = [str(strategy) for strategy in Strategy if strategy not in rule.strategies]
    proof = (
        "certain: there are always records that show the break"
        if rule.has_witness
        else "cautious: it refuses what cannot be proven to fit"
    )
    lines = [Text(rule.id, "bold cyan"), *paragraph(rule.sentence, width), Text()]
    for direction in sorted(rule.breaks):
        lines += labelled("breaks", f"{direction}: {sentence(direction, 'the old schema')}", width)
    lines += labelled("refused", "under " + ", ".join(rule.strategies), width)
    lines += labelled("passes", "under " + ", ".join(accepting) if accepting else "under no strategy", width)
    return lines + labelled("proof", proof, width) + labelled("source", rule.source, width)


def _breaks(rule: "Rule") -> str:
    return " and ".join(sorted(rule.breaks)) or "no reading"


def _as_dict(rule: "Rule") -> dict[str, object]:
    return {
        "id": rule.id,
        "type": kind(rule),
        "sentence": rule.sentence,
        "breaks": [str(direction) for direction in sorted(rule.breaks)],
        "refused_by": [str(strategy) for strategy in rule.strategies],
        "certain": rule.has_witness,
        "source": rule.source,
    }
