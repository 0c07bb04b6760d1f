"""What the commands that send and read messages share: which cluster, who we are to it, and how its refusals end."""

import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from tallystick.cli.faults import unusable
from tallystick.cli.registry_options import OUTPUTS, answered, credentials, output_option
from tallystick.cli.terminal import colour_option
from tallystick.errors import TallystickError, Unauthenticated, Unavailable

if TYPE_CHECKING:
    from tallystick.connect.client import Client
    from tallystick.rest import Credentials, RegistryClient
    from tallystick.spark.cluster import Cluster

DEFAULT_CLUSTER = "pulsar://127.0.0.1:6650"
_CLUSTER, _REGISTRY = "TALLY_CLUSTER", "TALLY_REGISTRY"

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FIXES: Mapping[type[TallystickError], str] = {
    Unauthenticated: "say who we are in TALLY_CLUSTER_TOKEN (Kafka: TALLY_CLUSTER_USER and TALLY_CLUSTER_PASSWORD),"
    " and with --ca whom to trust; a registry has its own, TALLY_REGISTRY_…",
    Unavailable: "check the URL, and that the cluster runs",
}


class Connected(NamedTuple):
    client: "Client"
    registry: "RegistryClient | None"
    """Where one keeps the schemas instead of the cluster."""


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """Which cluster, which registry, and who we are to them, as the command line says."""

    url: str
    registry: str | None
    is_registry_given: bool
    """On the command line, not by the environment, where it serves other commands as well."""
    framing: str
    options: Mapping[str, str]
    ca: Path | None
    cert: Path | None
    key: Path | None
    timeout_s: float

    @property
    def is_kafka(self) -> bool:
        return self.url.startswith("kafka://")

    @property
    def is_framed(self) -> bool:
        """Whether messages carry ids of a registry's schemas, as they do on Kafka."""
        return self.is_kafka or self.framing != "transport"

    def require_registry(self) -> str:
        if self.registry is None:
            raise unusable(
                "messages with a schema need the registry that keeps it",
                fix="give --registry URL, or send each line as it is with --type string or bytes",
            )
        return self.registry

    @contextmanager
    def open(self, *, with_registry: bool) -> Iterator[Connected]:
        """A client of the cluster, and of the registry where it counts. Both are closed with the context."""
        from tallystick.connect.client import Client

        with ExitStack() as stack:
            registry = stack.enter_context(self._open_registry()) if with_registry and self.registry else None
            client = Client(
                self.url,
                registry=registry,
                credentials=credentials(self.ca, self.cert, self.key, os.environ, _CLUSTER),
                framing=self.framing,
                options=self.options,
                timeout_s=self.timeout_s,
            )
            yield Connected(stack.enter_context(client), registry)

    def for_spark(self) -> "Cluster":
        """The same for the Spark engine, whose workers connect by themselves."""
        from tallystick.messaging.settings import Framing
        from tallystick.spark.cluster import Cluster

        return Cluster(
            self.url,
            self.registry,
            credentials=credentials(self.ca, self.cert, self.key, os.environ, _CLUSTER),
            registry_credentials=self._registry_credentials(),
            framing=Framing(self.framing),
            options=self.options,
        )

    def _open_registry(self) -> "RegistryClient":
        from tallystick.rest import RegistryClient

        assert self.registry is not None
        return RegistryClient(self.registry, credentials=self._registry_credentials(), timeout_s=self.timeout_s)

    def _registry_credentials(self) -> "Credentials | None":
        ca, cert, key = (
            Path(os.environ[name]) if (name := f"{_REGISTRY}_{part}") in os.environ else given
            for part, given in (("CA", self.ca), ("CERT", self.cert), ("KEY", self.key))
        )
        return credentials(ca, cert, key, os.environ, _REGISTRY)


_OPTIONS = (
    click.option(
        "--timeout",
        "timeout_s",
        type=click.FloatRange(0.1),
        default=10.0,
        show_default=True,
        help="Seconds to wait for an answer.",
    ),
    click.option("--key", type=_FILE, envvar="TALLY_CLUSTER_KEY", help="The key of the certificate (PEM)."),
    click.option("--cert", type=_FILE, envvar="TALLY_CLUSTER_CERT", help="A certificate of our own (PEM)."),
    click.option("--ca", type=_FILE, envvar="TALLY_CLUSTER_CA", help="The CA that signed the cluster's (PEM)."),
    click.option(
        "--option",
        "options",
        multiple=True,
        metavar="NAME=VALUE",
        help="Kafka: a setting of its client library, such as security.protocol=SASL_SSL.",
    ),
    click.option(
        "--framing",
        type=click.Choice(["transport", "payload", "header"]),
        default="transport",
        show_default=True,
        help="Where messages carry the id of their schema: as the transport has it, before the payload, or (Kafka) in"
        " a header.",
    ),
    click.option(
        "--registry",
        envvar=_REGISTRY,
        metavar="URL",
        help="The registry that keeps the schemas: of Kafka, and on Pulsar where the cluster does not keep them itself"
        " (given here, as TALLY_REGISTRY does not count for that). Its user, password and token are those of other"
        " commands: TALLY_REGISTRY_USER, …",
    ),
    click.option(
        "--cluster",
        envvar=_CLUSTER,
        default=DEFAULT_CLUSTER,
        show_default=True,
        metavar="URL",
        help="pulsar://HOST:PORT, pulsar+ssl://HOST:PORT or kafka://HOST:PORT. A token stands in TALLY_CLUSTER_TOKEN, a"
        " user and password (Kafka) in TALLY_CLUSTER_USER and TALLY_CLUSTER_PASSWORD.",
    ),
)


def cluster_command(command: Callable[..., int], outputs: Sequence[str] = OUTPUTS) -> Callable[..., int]:
    """A command that gets `cluster`, `output` and `colour`, and whose errors become lines and an exit code."""

    @functools.wraps(command)
    def run(output: str, colour: str, **more: Any) -> int:
        def call() -> int:
            return command(cluster=_taken(more), output=output, colour=colour, **more)

        # An output of the command's own has no form for errors.
        return answered(call, output if output in OUTPUTS else "text", colour, FIXES)

    decorated: Callable[..., Any] = colour_option(output_option(run, outputs))
    for option in _OPTIONS:
        decorated = option(decorated)
    return decorated


def _taken(more: dict[str, Any]) -> ClusterOptions:
    """The options of the cluster, which are left for nobody else."""
    source = click.get_current_context().get_parameter_source("registry")
    is_given = source is ParameterSource.COMMANDLINE
    options = dict(named_value(text, "option") for text in more.pop("options"))
    names = ("registry", "framing", "ca", "cert", "key", "timeout_s")
    return ClusterOptions(
        more.pop("cluster"), is_registry_given=is_given, options=options, **{name: more.pop(name) for name in names}
    )


def named_value(text: str, what: str) -> tuple[str, str]:
    """`NAME=VALUE`; raises `BadInput`."""
    name, separator, value = text.partition("=")
    if not name or not separator:
        raise unusable(f"{text!r} is no {what}", fix="write NAME=VALUE")
    return name, value
