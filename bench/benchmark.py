"""A benchmark: what we do, what the peer does in the same run, and how both become one row."""

import gc
import time
import tracemalloc
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

Work = Callable[[], object]
Measure = Callable[[Work], float]


shared = ExitStack()
"""What several benchmarks use, such as servers; it is closed after the last one."""


class NotMeasured(Exception):
    """Something that the benchmark needs is not on this machine; the message says what and how to get it."""


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


def once_ms(work: Work) -> float:
    """For work that cannot be repeated as it is, and takes long enough."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def told(work: Callable[[], Any]) -> float:
    """For work that measures itself and returns its figure."""
    return float(work())


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
    """What is measured, once its data is ready; `tenfold` is our own work on ten times the data, or more."""

    ours: Work
    peer: Work | None = None
    tenfold: Work | None = None
    remark: Callable[[], str] | None = None
    """What else the rounds showed; goes into the note."""


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
    is_rate: bool = False
    """More is better."""
    prepare_quick: Callable[[], Contest] | None = None
    """The same with less data, for quick runs."""
    least_rounds: int = 1
    warm_rounds: int = 1
    """Of all sides, before one counts; a JVM needs some until it has compiled what is run."""


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


def run(benchmark: Benchmark, rounds: int, seconds: float, *, quick: bool = False) -> Row:
    """Medians of interleaved rounds, after some that only warm up: a busy machine slows all sides alike.

    No new round begins once the seconds are over, but there are always as many as the benchmark asks for; in a quick
    run always one.
    """
    contest = (benchmark.prepare_quick if quick and benchmark.prepare_quick else benchmark.prepare)()
    least, warm = (1, 1) if quick else (benchmark.least_rounds, benchmark.warm_rounds)
    sides = {"ours": contest.ours, "peer": contest.peer, "tenfold": contest.tenfold}
    works = {side: work for side, work in sides.items() if work is not None}
    for _ in range(warm):
        for work in works.values():
            work()
    taken: dict[str, list[float]] = {side: [] for side in works}
    end = time.monotonic() + seconds
    while len(taken["ours"]) < least or (len(taken["ours"]) < rounds and time.monotonic() < end):
        for side, work in works.items():
            taken[side].append(benchmark.measure(work))
    middle = {side: median(values) for side, values in taken.items()}
    return Row(
        row=benchmark.row,
        unit=benchmark.unit,
        ours=_rounded(middle["ours"]),
        peer=_rounded(middle["peer"]) if "peer" in middle else None,
        peer_name=benchmark.peer_name,
        ratio=_ratio(middle, is_rate=benchmark.is_rate),
        goal=benchmark.goal,
        growth=_rounded(middle["tenfold"] / middle["ours"]) if "tenfold" in middle else None,
        note="; ".join(filter(None, [benchmark.note, contest.remark() if contest.remark else ""])),
    )


def _ratio(middle: dict[str, float], *, is_rate: bool) -> float | None:
    if "peer" not in middle:
        return None
    ours, peer = middle["ours"], middle["peer"]
    return _rounded(ours / peer if is_rate else peer / ours)


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
