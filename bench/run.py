"""Runs the benchmarks, prints their table and writes `bench/results/latest.json`.

Each `bench/bench_*.py` lists its own in `BENCHMARKS`.
"""

import argparse
import importlib
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from bench.benchmark import Benchmark, NotMeasured, Row, run, shared

HERE = Path(__file__).parent
ROUNDS, SECONDS = 15, 12.0
QUICK_ROUNDS, QUICK_SECONDS = 3, 1.0


def discover() -> Iterator[Benchmark]:
    for path in sorted(HERE.glob("bench_*.py")):
        yield from importlib.import_module(f"bench.{path.stem}").BENCHMARKS


def chosen(benchmarks: Iterable[Benchmark], only: str) -> list[Benchmark]:
    """Those whose row has the pattern in it; `*` and `?` stand for what they do in file names."""
    return [benchmark for benchmark in benchmarks if fnmatch(benchmark.row, f"*{only}*")]


def table(rows: Sequence[Row]) -> str:
    heads = ("row", "ours", "peer", "ratio", "goal", "growth ×10", "note")
    lines = [heads, *(_cells(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def write(rows: Sequence[Row], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([row.as_dict() for row in rows], indent=2, ensure_ascii=False) + "\n")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--only", default="", help="rows with this pattern in their names")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--results", type=Path, default=HERE / "results" / "latest.json")
    options = parser.parse_args(arguments)
    benchmarks = chosen(discover(), options.only)
    if not benchmarks:
        parser.error(f"no row has {options.only!r} in its name")
    limits = (QUICK_ROUNDS, QUICK_SECONDS) if options.quick else (ROUNDS, SECONDS)
    with shared:
        rows = list(_measured(benchmarks, limits, quick=options.quick))
    write(rows, options.results)
    print(table(rows))


def _measured(benchmarks: Iterable[Benchmark], limits: tuple[int, float], *, quick: bool) -> Iterator[Row]:
    for benchmark in benchmarks:
        print(f"measuring {benchmark.row} ...", file=sys.stderr)
        try:
            yield run(benchmark, *limits, quick=quick)
        except NotMeasured as e:
            print(f"{benchmark.row} is left out: {e}", file=sys.stderr)


def _cells(row: Row) -> tuple[str, ...]:
    reached = "" if row.goal is None or row.ratio is None else (" reached" if row.ratio >= row.goal else " MISSED")
    return (
        row.row,
        f"{row.ours:g} {row.unit}",
        "-" if row.peer is None else f"{row.peer:g} {row.unit} ({row.peer_name})",
        "-" if row.ratio is None else f"{row.ratio:g}",
        "-" if row.goal is None else f"{row.goal:g}{reached}",
        "-" if row.growth is None else f"{row.growth:g}",
        row.note,
    )


if __name__ == "__main__":
    main()
