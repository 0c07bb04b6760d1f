"""What `tally check --data` is told: which records, where they are, and where Spark runs."""

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.faults import unusable
from tallystick.cli.registry_options import RegistryOptions
from tallystick.cli.topic_cluster import DEFAULT_CLUSTER, ClusterOptions, named_value
from tallystick.cli.topic_places import time_of

if TYPE_CHECKING:
    from tallystick.spark.cluster import Cluster

DEFAULT_MASTER = "local[*]"


@dataclass(frozen=True, slots=True)
class DataOptions:
    """As the command line says."""

    data: str
    cluster: str
    framing: str
    since: str | None
    limit: int | None
    sample: float | None
    master: str
    conf: tuple[str, ...]

    def start(self) -> datetime | None:
        return since_time(self.since)

    def settings(self) -> dict[str, str]:
        return spark_settings(self.conf)

    def cluster_beside(self, registry: RegistryOptions) -> "Cluster":
        """The command's TLS options are its registry's; those of the cluster stand in the environment."""
        ca, cert, key = (
            Path(os.environ[name]) if (name := f"TALLY_CLUSTER_{part}") in os.environ else None
            for part in ("CA", "CERT", "KEY")
        )
        where = (self.cluster, registry.url, True, self.framing)
        return ClusterOptions(*where, {}, ca, cert, key, registry.timeout_s).for_spark()


def since_time(text: str | None) -> datetime | None:
    """Raises `BadInput` for what is neither a time nor an age."""
    at = None if text is None else time_of(text, datetime.now(UTC))
    if text is not None and at is None:
        raise unusable(
            f"--since {text}: this is no time", fix="give a time such as 2026-01-31T12:00:00, or an age: 15m"
        )
    return at


def spark_settings(conf: tuple[str, ...]) -> dict[str, str]:
    """Raises `BadInput`."""
    return dict(named_value(text, "setting") for text in conf)


since_option = click.option(
    "--since", metavar="TIME", help="Only records from a time (2026-01-31T12:00:00, in UTC) or an age (15m, 7d)."
)


def spark_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command `master` and `conf`."""
    master = click.option(
        "--master",
        default=DEFAULT_MASTER,
        show_default=True,
        envvar="TALLY_SPARK_MASTER",
        metavar="URL",
        help="Where Spark runs.",
    )
    conf = click.option("--conf", multiple=True, metavar="NAME=VALUE", help="A setting of Spark's.")
    return master(conf(command))


_OPTIONS = (
    click.option("--sample", type=click.FloatRange(0, 1, min_open=True), help="With --data: only this part of them."),
    click.option("--limit", type=click.IntRange(1), help="With --data: so many records at most."),
    since_option,
    click.option(
        "--framing",
        type=click.Choice(["transport", "payload", "header"]),
        default="transport",
        show_default=True,
        help="With --data: where records carry the id of their schema, as for `tally topic`.",
    ),
    click.option(
        "--cluster",
        envvar="TALLY_CLUSTER",
        default=DEFAULT_CLUSTER,
        show_default=True,
        metavar="URL",
        help="With --data: who has the topic, and knows the schemas of its records, as for `tally topic`.",
    ),
    click.option(
        "--data",
        metavar="TOPIC|TABLE",
        help="Check against real records: of a topic, or of a table that holds them as they came (a folder, or"
        " delta:PATH, parquet:PATH). It needs Spark: pip install 'tallystick[spark]'.",
    ),
)


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a command its `data`; None where none is asked for."""

    @functools.wraps(command)
    def run(**more: Any) -> Any:
        told = {field.name: more.pop(field.name) for field in fields(DataOptions)}
        return command(data=None if told["data"] is None else DataOptions(**told), **more)

    decorated = spark_options(run)
    for option in _OPTIONS:
        decorated = option(decorated)
    return decorated
