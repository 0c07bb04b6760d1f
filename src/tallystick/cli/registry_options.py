"""What all commands that talk to a registry share: where it is, who we are to it, and how its refusals end."""

import functools
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tallystick.cli.faults import BadInput, Fault, unusable
from tallystick.cli.terminal import colour_option, show, terminal, write
from tallystick.errors import (
    AlreadyExists,
    Forbidden,
    IncompatibleSchema,
    InvalidSchema,
    NamespaceNotEmpty,
    NotFound,
    NotPermitted,
    ReferenceExists,
    SchemaIdTaken,
    TallystickError,
    Unauthenticated,
    Unavailable,
    Unsupported,
)

if TYPE_CHECKING:
    from tallystick.rest import Credentials, RegistryClient

DONE, REFUSED, BAD_INPUT, UNREACHABLE = 0, 1, 2, 3
EXIT_CODES = (
    "Exit codes: 0 done, 1 refused by the registry or not there, 2 bad input, 3 out of reach, 70 internal error."
)
OUTPUTS = ("text", "json", "yaml")

_REFUSALS = (
    AlreadyExists,
    Forbidden,
    IncompatibleSchema,
    NamespaceNotEmpty,
    NotFound,
    NotPermitted,
    ReferenceExists,
    SchemaIdTaken,
    Unauthenticated,
    Unsupported,
)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_Command = TypeVar("_Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class RegistryOptions:
    """Which registry, and who we are to it, as the command line says."""

    url: str | None
    dialect: str
    ca: Path | None
    cert: Path | None
    key: Path | None
    timeout_s: float

    def open(self, dialect: str | None = None) -> "RegistryClient":
        from tallystick.rest import RegistryClient

        assert self.url is not None, "a command that can do without a registry asks first"
        known = credentials(self.ca, self.cert, self.key, os.environ)
        return RegistryClient(self.url, dialect or self.dialect, credentials=known, timeout_s=self.timeout_s)


_OPTIONS = (
    click.option(
        "--timeout",
        "timeout_s",
        type=click.FloatRange(0.1),
        default=10.0,
        show_default=True,
        help="Seconds to wait.",
    ),
    click.option("--key", type=_FILE, envvar="TALLY_REGISTRY_KEY", help="The key of the certificate (PEM)."),
    click.option("--cert", type=_FILE, envvar="TALLY_REGISTRY_CERT", help="A certificate of our own (PEM)."),
    click.option("--ca", type=_FILE, envvar="TALLY_REGISTRY_CA", help="The CA that signed the registry's (PEM)."),
    click.option(
        "--dialect",
        type=click.Choice(["auto", "confluent", "openschema", "pulsar"]),
        default="auto",
        show_default=True,
        help="The registry's API; auto asks it.",
    ),
)


def registry_options(*, required: bool) -> Callable[[_Command], Callable[..., Any]]:
    """Gives a command its registry as `registry`, whose URL is None where it is not required and not given."""

    def decorate(command: _Command) -> Callable[..., Any]:
        @functools.wraps(command)
        def run(
            registry: str | None,
            dialect: str,
            ca: Path | None,
            cert: Path | None,
            key: Path | None,
            timeout_s: float,
            **more: Any,
        ) -> Any:
            return command(registry=RegistryOptions(registry, dialect, ca, cert, key, timeout_s), **more)

        decorated: Callable[..., Any] = run
        for option in (*_OPTIONS, _registry_option(required)):
            decorated = option(decorated)
        return decorated

    return decorate


def _registry_option(required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "--registry",
        required=required,
        envvar="TALLY_REGISTRY",
        metavar="URL",
        help="The registry. A user and password may stand in the URL, or in TALLY_REGISTRY_USER and"
        " TALLY_REGISTRY_PASSWORD; a token in TALLY_REGISTRY_TOKEN.",
    )


def subject_option(command: _Command) -> _Command:
    """For `tally check`: the old versions are those of a registry's subject."""
    return click.option(
        "--subject", metavar="SUBJECT", help="With --registry: check against the versions of this subject."
    )(command)


def output_option(command: _Command, outputs: Sequence[str] = OUTPUTS) -> _Command:
    return click.option(
        "--output", type=click.Choice(outputs), default="text", show_default=True, help="How to show the answer."
    )(command)


def credentials(
    ca: Path | None, cert: Path | None, key: Path | None, environment: Mapping[str, str], prefix: str = "TALLY_REGISTRY"
) -> "Credentials | None":
    """Secrets come from the environment, where no list of processes shows them. None where nothing is given."""
    from tallystick.rest import Credentials

    found = Credentials(
        username=environment.get(f"{prefix}_USER"),
        password=environment.get(f"{prefix}_PASSWORD"),
        token=environment.get(f"{prefix}_TOKEN"),
        ca=ca,
        certificate=cert,
        key=key,
        key_password=environment.get(f"{prefix}_KEY_PASSWORD"),
    )
    return None if found == Credentials() else found


def registry_command(command: Callable[..., int | None]) -> Callable[..., int]:
    """A command that gets `registry`, `output` and `colour`, and whose errors become lines and an exit code."""

    @registry_options(required=True)
    @output_option
    @colour_option
    @functools.wraps(command)
    def run(output: str, colour: str, **more: Any) -> int:
        return answered(lambda: command(output=output, colour=colour, **more), output, colour)

    return run


def with_registry(command: Callable[..., int | None]) -> Callable[..., int]:
    """A `registry_command` that gets an open client as its first argument instead."""

    @registry_command
    @functools.wraps(command)
    def run(registry: RegistryOptions, **more: Any) -> int | None:
        with registry.open() as client:
            return command(client, **more)

    return run


def answered(
    call: Callable[[], int | None],
    output: str,
    colour: str,
    fixes: Mapping[type[TallystickError], str] | None = None,
) -> int:
    """Runs a command; every error becomes lines for people, a document for programs, and an exit code.

    `fixes` are what helps against errors that do not say so themselves, where it is no registry that gives them.
    """
    try:
        return call() or DONE
    except BadInput as e:
        _tell(e.fault, output, colour)
        return BAD_INPUT
    except TallystickError as e:
        _tell(fault_of(e, fixes), output, colour, e)
        return exit_code(e)


def exit_code(error: TallystickError) -> int:
    if isinstance(error, Unavailable):
        return UNREACHABLE
    return REFUSED if isinstance(error, _REFUSALS) else BAD_INPUT


def fault_of(error: TallystickError, fixes: Mapping[type[TallystickError], str] | None = None) -> Fault:
    place = error.place if isinstance(error, InvalidSchema) else None
    fix = error.fix if isinstance(error, InvalidSchema) else (fixes or _FIXES).get(type(error))
    reason = error.message
    if isinstance(error, IncompatibleSchema) and error.findings:
        # The findings follow, one by one; the server's message would tell the first of them twice.
        count = len(error.findings)
        reason = f"the registry refuses the schema: {count} finding{'' if count == 1 else 's'}"
    return Fault(code=error.code, reason=reason, place=place, fix=fix)


_FIXES: dict[type[TallystickError], str] = {
    Unauthenticated: "set TALLY_REGISTRY_USER and TALLY_REGISTRY_PASSWORD, or TALLY_REGISTRY_TOKEN",
    Unavailable: "check the URL, and that the registry runs",
}


def _tell(fault: Fault, output: str, colour: str, error: TallystickError | None = None) -> None:
    from tallystick.cli.output import text

    target = terminal(colour, sys.stderr)
    findings = error.findings if isinstance(error, IncompatibleSchema) else ()
    lines = text.fault_lines(fault, target.width)
    for finding in findings:
        lines += text.headline(None, finding.new, finding.message, target.width)
        lines += text.labelled("fix", finding.fix, target.width, "green")
        lines += text.labelled("rule", finding.rule, target.width, "cyan")
    show(lines, target, sys.stderr)
    if output != "text":
        document = fault.as_dict()
        if findings:
            document["findings"] = [finding.as_dict() for finding in findings]
        write(rendered({"error": document}, output))


def rendered(value: object, output: str) -> str:
    """A value as JSON or YAML."""
    from tallystick.cli.output import json_yaml

    return json_yaml.as_json(value) if output == "json" else json_yaml.as_yaml(value)


def answer(value: object, output: str, *lines: str) -> None:
    """The value for programs, the lines for people."""
    if output == "text":
        for line in lines:
            click.echo(line)
    else:
        write(rendered(value, output))


def confirm(question: str, yes: bool) -> None:
    """Asks on a terminal; elsewhere nobody could answer."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise unusable("this needs to be confirmed, and there is no terminal to ask on", fix="give --yes")
    click.confirm(question, abort=True, err=True)
