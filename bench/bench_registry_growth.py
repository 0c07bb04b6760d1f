"""The registry when it is large: what one request takes, against the same in a small one."""

import functools
import itertools
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.bench_avro import growing
from bench.benchmark import Benchmark, Contest, Work, shared
from bench.registry_data import fill, name_of
from bench.servers import Server, asking, serving

SMALL = (1_000, 10)
LARGE = (100_000, 10)
LARGE_QUICK = (10_000, 3)

_names = (f"New{os.getpid()}x{number}" for number in itertools.count())


@functools.cache
def _filled(subject_count: int, version_count: int) -> Server:
    folder = Path(shared.enter_context(TemporaryDirectory(prefix="tallystick-bench-")))
    fill(folder, subject_count, version_count)
    return shared.enter_context(serving(folder))


def _first_page(server: Server, _: int) -> Work:
    return _getting(server, "/subjects?offset=0&limit=100", 100)


def _middle_page(server: Server, subject_count: int) -> Work:
    return _getting(server, f"/subjects?offset={subject_count // 2}&limit=100", 100)


def _last_page(server: Server, subject_count: int) -> Work:
    return _getting(server, f"/subjects?offset={subject_count - 100}&limit=100", 100)


def _search(server: Server, subject_count: int) -> Work:
    # All but the last digit: ten subjects differ in it, and one of them belongs to this team.
    prefix = name_of(subject_count // 2)[:-1]
    return _getting(server, f"/subjects?subjectPrefix={prefix}", 1)


def _registration(server: Server, _: int) -> Work:
    ask = asking(server)
    text = growing(5, 0)[0]

    def work() -> None:
        name = next(_names)
        body = {"schema": text.replace('"Big"', f'"{name}"')}
        assert ask("POST", f"/subjects/{name}/versions", body)["version"] == 1

    return work


def _getting(server: Server, path: str, count: int) -> Work:
    ask = asking(server)

    def work() -> None:
        assert len(ask("GET", path)) == count

    return work


def _row(row: str, work: Callable[[Server, int], Work], note: str) -> Benchmark:
    def contest(large: tuple[int, int]) -> Contest:
        sizes = f"{large[0]:,} subjects with {large[1]} versions, against {SMALL[0]:,} with {SMALL[1]}"
        ours, grown = (work(_filled(*size), size[0]) for size in (SMALL, large))
        return Contest(ours, tenfold=grown, remark=lambda: f"growth: {sizes}")

    return Benchmark(
        row=row,
        prepare=functools.partial(contest, LARGE),
        prepare_quick=functools.partial(contest, LARGE_QUICK),
        note=note,
        least_rounds=9,
    )


_LIMIT = "growth is to stay within 1.5"

BENCHMARKS = [
    _row("registry_growth_page_of_100", _first_page, _LIMIT),
    _row("registry_growth_page_in_the_middle", _middle_page, "offset of half of the subjects"),
    _row("registry_growth_last_page", _last_page, "an offset skips every row before it in the index"),
    _row("registry_growth_prefix_search", _search, _LIMIT),
    _row("registry_growth_registration", _registration, _LIMIT),
]
