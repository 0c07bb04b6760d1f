"""`tally check`: may a schema become the next version?"""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from tallystick.cli.data_options import DataOptions, data_options
from tallystick.cli.faults import BadInput, Fault, unusable
from tallystick.cli.registry_options import RegistryOptions, exit_code, fault_of, registry_options, subject_option
from tallystick.cli.terminal import Terminal, colour_option, show, terminal, write
from tallystick.compat.options import OptionalProperties, Options
from tallystick.errors import InvalidSchema, TallystickError, UnknownSchemaType
from tallystick.model.schema_type import SchemaType
from tallystick.model.strategy import Strategy

if TYPE_CHECKING:
    from tallystick.cli.data_report import DataReport
    from tallystick.cli.report import Report

FITS, DOES_NOT_FIT, BAD_INPUT = 0, 1, 2

OUTPUTS = ("text", "json", "yaml", "github", "gitlab", "junit")


def _schema_type(_context: click.Context, _parameter: click.Parameter, value: str | None) -> SchemaType | None:
    if value is None:
        return None
    from tallystick.formats import format_of

    wanted = SchemaType(value.upper().replace("-", "_"))
    try:
        format_of(wanted)
    except (UnknownSchemaType, InvalidSchema) as e:
        raise click.BadParameter(e.message) from e
    return wanted


@click.command(
    short_help="Check whether a schema may become the next version.",
    epilog="Exit codes: 0 fits, 1 does not fit, 2 bad input, 3 registry out of reach, 70 internal error.",
)
@click.argument("files", nargs=-1, required=True, metavar="[OLD]... NEW")
@click.option(
    "--strategy",
    type=click.Choice([str(strategy) for strategy in Strategy], case_sensitive=False),
    default=str(Strategy.BACKWARD),
    show_default=True,
    help="Which readings must hold.",
)
@click.option(
    "--type",
    "schema_type",
    metavar="TYPE",
    callback=_schema_type,
    help="Schema type of all files: AVRO, JSON_SCHEMA, PROTOBUF, PULSAR_JSON … By default the ending tells it.",
)
@click.option(
    "--reference",
    "references",
    multiple=True,
    metavar="[NAME=]FILE",
    help="A schema that the files refer to, by its Avro name, its URI or its import path. It may use those before it.",
)
@click.option("--include", multiple=True, metavar="DIR", help="A folder where .proto imports are looked for.")
@click.option(
    "--optional-properties",
    type=click.Choice([str(choice) for choice in OptionalProperties]),
    default=str(OptionalProperties.STRICT),
    show_default=True,
    help="JSON Schema: whether a new optional property counts as one that old records may hold otherwise.",
)
@click.option(
    "--output",
    type=click.Choice(OUTPUTS),
    default="text",
    show_default=True,
    help="How to show the answer.",
)
@click.option("--diff/--no-diff", default=True, help="Text: with or without the list of changes.")
@click.option("--all", "show_all", is_flag=True, help="Text: show every finding and change of a long list.")
@subject_option
@data_options
@registry_options(required=False)
@colour_option
@click.pass_context
def check(
    context: click.Context,
    files: tuple[str, ...],
    strategy: str,
    schema_type: SchemaType | None,
    references: tuple[str, ...],
    include: tuple[str, ...],
    optional_properties: str,
    output: str,
    diff: bool,
    show_all: bool,
    registry: RegistryOptions,
    subject: str | None,
    data: DataOptions | None,
    colour: str,
) -> int:
    """Check whether NEW may follow the OLD versions, which are given oldest first.

    With NEW alone: check whether it is a valid schema. A file named "-" is standard input.

    \b
    tally check order-v1.avsc order-v2.avsc
    tally check order-v1.avsc order-v2.avsc order-v3.avsc --strategy FULL_TRANSITIVE
    git show main:order.proto | tally check - order.proto --output github
    tally check order.avsc --registry http://localhost:8081 --subject orders-value
    tally check order.avsc --data orders --since 7d

    Against a registry the subject's own strategy and policy count unless others are given. Against data no strategy
    counts: NEW fits if it reads every record.
    """
    from tallystick.cli import data_check, registry_check
    from tallystick.cli.evaluation import evaluate, load

    options = Options(OptionalProperties(optional_properties))
    is_given = {name: context.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in context.params}
    try:
        if data is not None:
            _require_data_alone(is_given)
            cluster = data.cluster_beside(registry)
            return _answer(
                data_check.evaluate(cluster, data, files, schema_type, references, include),
                output,
                colour,
                diff,
                show_all,
            )
        if subject is None and is_given["registry"]:
            raise unusable("--registry alone does not say what to check against", fix="name --subject")
        if subject is not None and registry.url is None:
            raise unusable("--subject is a registry's", fix="give --registry URL, or set TALLY_REGISTRY")
        if subject is None:
            loaded = load(files, schema_type, references, include)
            report = evaluate(loaded, Strategy(strategy.upper()), options)
        else:
            chosen = Strategy(strategy.upper()) if is_given["strategy"] else None
            with registry.open() as client:
                judged = options if is_given["optional_properties"] else None
                report = registry_check.evaluate(
                    client, subject, files, chosen, judged, schema_type, references, include
                )
    except BadInput as e:
        _show_fault(e.fault, output, terminal(colour, sys.stderr))
        return BAD_INPUT
    except TallystickError as e:
        _show_fault(fault_of(e), output, terminal(colour, sys.stderr))
        return exit_code(e)
    return _answer(report, output, colour, diff, show_all)


def _require_data_alone(is_given: Mapping[str, bool]) -> None:
    for name in ("subject", "strategy", "optional_properties"):
        if is_given[name]:
            option = f"--{name.replace('_', '-')}"
            raise unusable(f"{option} compares schemas, --data reads records", fix="leave one of them out")


def _answer(report: "Report | DataReport", output: str, colour: str, diff: bool, show_all: bool) -> int:
    _show(report, output, terminal(colour, sys.stdout), diff, show_all)
    return FITS if report.fits else DOES_NOT_FIT


def _show(report: "Report | DataReport", output: str, target: Terminal, diff: bool, show_all: bool) -> None:
    from tallystick.cli.output import document, text

    if output != "text":
        write(document(output, report))
        return
    limit = None if show_all else text.LIMIT
    show(text.render(report, width=target.width, diff=diff, limit=limit), target, sys.stdout)


def _show_fault(fault: Fault, output: str, target: Terminal) -> None:
    """For people on standard error; programs find it in their format as well."""
    from tallystick.cli.output import document, text

    show(text.fault_lines(fault, target.width), target, sys.stderr)
    if output != "text":
        write(document(output, fault))
