"""`tally demo`: the rules, the registry and the broker at work for a shop. It ends by itself and needs no input."""

import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import click

from tallystick.cli.terminal import colour_option, show, terminal
from tallystick.compat.options import DEFAULT_OPTIONS
from tallystick.model.strategy import Strategy

if TYPE_CHECKING:
    from rich.text import Text

    from tallystick.cli.sources import SchemaFile


@dataclass(frozen=True, slots=True)
class Step:
    title: str
    told: str
    files: tuple[str, ...]
    strategy: Strategy
    diff: bool = True


STEPS = (
    Step(
        "A step that fits",
        "A shop publishes its orders as Avro. FULL is asked for: producers and consumers may be updated in any order."
        " Version 2 adds a currency with a default and one more status.",
        ("order-v1.avsc", "order-v2.avsc"),
        Strategy.FULL,
    ),
    Step(
        "A step that is refused",
        "Version 3 means well: it widens the amount, drops the customer and adds the sales channel.",
        ("order-v2.avsc", "order-v3.avsc"),
        Strategy.FULL,
    ),
    Step(
        "The same step, mended",
        "The author does what the findings say. The history counts too: FULL_TRANSITIVE compares with every version.",
        ("order-v1.avsc", "order-v2.avsc", "order-v3-mended.avsc"),
        Strategy.FULL_TRANSITIVE,
    ),
    Step(
        "JSON Schema",
        "A customer may have a telephone number. Somebody makes it required.",
        ("customer-v1.json", "customer-v2.json"),
        Strategy.BACKWARD,
        diff=False,
    ),
    Step(
        "Protobuf",
        "Payments turn the amount into text and keep the field's number.",
        ("payment-v1.proto", "payment-v2.proto"),
        Strategy.BACKWARD,
        diff=False,
    ),
)


@click.command()
@colour_option
def demo(colour: str) -> None:
    """Show the rules, the registry and the broker at work on a real evolution."""
    target = terminal(colour, sys.stdout)
    show(list(told(target.width)), target, sys.stdout)
    show(list(server_told(target.width)), target, sys.stdout)


def told(width: int | None) -> Iterator["Text"]:
    from rich.text import Text

    from tallystick.cli.output.text import paragraph

    for number, step in enumerate(STEPS, start=1):
        yield Text(f"{number}. {step.title}", "bold magenta")
        yield from paragraph(step.told, width, indent=3)
        yield from scene(step, width)
        yield Text()


def server_told(width: int | None) -> Iterator["Text"]:
    from rich.text import Text

    from tallystick.cli.demo import server
    from tallystick.cli.output.text import paragraph

    scenes = (
        (
            "The registry",
            "The same orders on a registry (tally serve), which keeps the versions and refuses what does not fit.",
            server.REGISTRY,
        ),
        (
            "Messages",
            "The same server is a broker. Orders of two versions go to one topic; a line and a schema that do not fit"
            " are refused, and each message tells its version.",
            server.MESSAGES,
        ),
    )
    with server.serving() as run:
        for number, (title, text, commands) in enumerate(scenes, start=len(STEPS) + 1):
            yield Text(f"{number}. {title}", "bold magenta")
            yield from paragraph(text, width, indent=3)
            for command in commands:
                yield Text(f"   $ {command}", "bold")
                yield from (Text(line) for line in run(command).splitlines())
                yield Text()
    yield from paragraph("That is all. Try it on your own files: tally check OLD NEW --strategy FULL", width)


def scene(step: Step, width: int | None) -> Iterator["Text"]:
    """The command and what it prints."""
    from rich.text import Text

    from tallystick.cli.evaluation import evaluate
    from tallystick.cli.output import text

    yield Text(f"   $ tally check {shlex.join(step.files)} --strategy {step.strategy}", "bold")
    yield Text()
    report = evaluate([schema_file(name) for name in step.files], step.strategy, DEFAULT_OPTIONS)
    yield from text.render(report, width=width, diff=step.diff)


def schema_file(name: str) -> "SchemaFile":
    from importlib import resources

    from tallystick.cli.sources import ENDINGS, SchemaFile
    from tallystick.model.definition import SchemaDefinition

    content = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return SchemaFile(name, SchemaDefinition(ENDINGS[PurePath(name).suffix], content))
