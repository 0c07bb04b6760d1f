"""How far Spark is: a bar on the terminal, and nothing where there is none."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EVERY_S = 0.2


@contextmanager
def watched(spark: "SparkSession", *, is_wanted: bool = True) -> Iterator[None]:
    """Shows the tasks of the stages that run, until the context ends."""
    if not is_wanted or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    ended = threading.Event()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("Spark", total=None)

        def follow() -> None:
            while not ended.wait(_EVERY_S):
                done, total = _tasks(spark)
                told = f"Spark: {done} of {total} tasks" if total else "Spark"
                progress.update(task, completed=done, total=total or None, description=told)

        follower = threading.Thread(target=follow, name="tally-spark-progress", daemon=True)
        follower.start()
        try:
            yield
        finally:
            ended.set()
            follower.join()


def _tasks(spark: "SparkSession") -> tuple[int, int]:
    """Done and all, of the stages that run now."""
    tracker = spark.sparkContext.statusTracker()
    stages = [found for stage in tracker.getActiveStageIds() if (found := tracker.getStageInfo(stage)) is not None]
    return sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages)
