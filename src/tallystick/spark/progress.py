"""How far a pipeline is: a line on the terminal, and nothing where there is none."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tallystick.model.pipeline import PipelineStatus

Show = Callable[[PipelineStatus], None]


@contextmanager
def line(title: str) -> Iterator[Show]:
    if not sys.stderr.isatty():
        yield lambda status: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TextColumn("{task.fields[told]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=None, told="")
        yield lambda status: progress.update(task, told=told(status))


def told(status: PipelineStatus) -> str:
    records = status.records
    parts = [f"{records.good:,} landed"]
    if records.tombstones:
        parts.append(f"{records.tombstones:,} deleted")
    if records.quarantined:
        parts.append(f"{records.quarantined:,} in quarantine")
    if status.rate is not None:
        parts.append(f"{status.rate:,.0f}/s")
    if status.lag is not None:
        parts.append(f"{status.lag:,} to go")
    if status.message is not None:
        parts.append(f"{status.state}: {status.message}")
    return ", ".join(parts)
