"""The command `tally` and the edge where every error ends in a line and an exit code."""

import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from tallystick.cli.audit import audit
from tallystick.cli.check import BAD_INPUT, check
from tallystick.cli.demo.story import demo
from tallystick.cli.rules import rules
from tallystick.cli.schema import schema
from tallystick.cli.serve import secret, serve
from tallystick.cli.sql import sql
from tallystick.cli.terminal import tolerate_every_character
from tallystick.cli.topic import topic
from tallystick.errors import TallystickError

INTERNAL_ERROR = 70
INTERRUPTED = 130
PIPE_CLOSED = 141


class _Edge(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            outcome = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # Whatever is still buffered has no reader: let the interpreter flush it into nothing.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return PIPE_CLOSED
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except TallystickError as e:
            raise click.ClickException(e.message) from e
        except Exception as e:  # noqa: BLE001  the edge of the process
            return _internal_error(e, debug=ctx.params["debug"])
        return outcome


def _internal_error(error: Exception, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exception(error)
    what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    click.echo(f"tally: internal error: {what}", err=True)
    click.echo(
        "  This is a bug in tally, not in your files. Please report it with this line, the command and, if you may,"
        " the files; TALLY_DEBUG=1 shows where it happened.",
        err=True,
    )
    return INTERNAL_ERROR


@click.group(cls=_Edge, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tallystick", message="tally %(version)s")
@click.option("--debug", is_flag=True, envvar="TALLY_DEBUG", help="Show the traceback of an internal error.")
def tally(debug: bool) -> None:
    """Keep the producers and the consumers of event streams in agreement.

    \b
    Exit codes
      0   it fits, or the command did what it was asked to
      1   it does not fit
      2   bad input: arguments, files or schemas that cannot be used
      3   the registry or the cluster does not answer
      70  internal error
    """


for command in (audit, check, demo, rules, schema, secret, serve, sql, topic):
    tally.add_command(command)


def run(arguments: Sequence[str]) -> int:
    """Runs a command line and answers its exit code."""
    tolerate_every_character()
    try:
        outcome = tally.main(list(arguments), prog_name="tally", standalone_mode=False)
    except click.ClickException as e:
        e.show()
        return BAD_INPUT
    except click.Abort:
        return INTERRUPTED
    return outcome if isinstance(outcome, int) else 0


def main() -> NoReturn:
    sys.exit(run(sys.argv[1:]))
