"""A benchmark: what we do, what the peer does in the same run, and how both become one row."""

import gc
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median

Work = Callable[[], object]
Measure = Callable[[Work], float]


SHORTEST_S = 0.02
"""Work that ends sooner is repeated: a moment in which the machine does something else must not decide."""


def elapsed_ms(work: Work) -> float:
    gc.collect()
    gc.disable()
    try:
        times, elapsed, start = 0, 0.0, time.perf_counter()
        while elapsed < SHORTEST_S:
            work()
            times += 1
            elapsed = time.perf_counter() - start
        return elapsed / times * 1000
    finally:
        gc.enable()


def peak_mib(work: Work) -> float:
    """The most that Python held at once for what the work made."""
    gc.collect()
    tracemalloc.start()
    try:
        made = work()
        _, peak = tracemalloc.get_traced_memory()
        del made
        return peak / 2**20
    finally:
        tracemalloc.stop()


@dataclass(frozen=True, slots=True)
class Contest:
    """What is measured, once its data is ready; `tenfold` is our own work on ten times the data."""

    ours: Work
    peer: Work | None = None
    tenfold: Work | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    row: str
    prepare: Callable[[], Contest]
    peer_name: str | None = None
    goal: float | None = None
    """How many times better than the peer we mean to be."""
    note: str = ""
    unit: str = "ms"
    measure: Measure = elapsed_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    row: str
    unit: str
    ours: float
    peer: float | None
    peer_name: str | None
    ratio: float | None
    """Ours against the peer; above 1 is better for us."""
    goal: float | None
    growth: float | None
    """The factor of our cost when the data is ten times larger; about 10 is linear."""
    note: str

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def run(benchmark: Benchmark, rounds: int, seconds: float) -> Row:
    """Medians of interleaved rounds, after one that only warms up: a busy machine slows all sides alike.

    No new round begins once the seconds are over, but there is always one.
    """
    contest = benchmark.prepare()
    sides = {"ours": contest.ours, "peer": contest.peer, "tenfold": contest.tenfold}
    works = {side: work for side, work in sides.items() if work is not None}
    for work in works.values():
        work()
    taken: dict[str, list[float]] = {side: [] for side in works}
    end = time.monotonic() + seconds
    while not taken["ours"] or (len(taken["ours"]) < rounds and time.monotonic() < end):
        for side, work in works.items():
            taken[side].append(benchmark.measure(work))
    middle = {side: median(values) for side, values in taken.items()}
    return Row(
        row=benchmark.row,
        unit=benchmark.unit,
        ours=_rounded(middle["ours"]),
        peer=_rounded(middle["peer"]) if "peer" in middle else None,
        peer_name=benchmark.peer_name,
        ratio=_rounded(middle["peer"] / middle["ours"]) if "peer" in middle else None,
        goal=benchmark.goal,
        growth=_rounded(middle["tenfold"] / middle["ours"]) if "tenfold" in middle else None,
        note=benchmark.note,
    )


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
