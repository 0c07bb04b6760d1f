"""The harness on a toy: its shape, not its timings."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.benchmark import Benchmark, Contest, NotMeasured, Row, elapsed_ms, once_ms, peak_mib, run, told
from bench.run import chosen, discover, main, table, write

KEYS = ["row", "unit", "ours", "peer", "peer_name", "ratio", "goal", "growth", "note"]


def _sum(n: int) -> int:
    return sum(range(n))


def _toy(**more: object) -> Benchmark:
    contest = Contest(lambda: _sum(2_000), lambda: _sum(200_000), lambda: _sum(20_000))
    facts = {"row": "toy_sum", "prepare": lambda: contest, "peer_name": "a longer sum", "goal": 2.0, **more}
    return Benchmark(**facts)  # type: ignore[arg-type]


def test_row_compares_with_the_peer_of_the_same_run() -> None:
    row = run(_toy(), rounds=3, seconds=60)
    assert list(row.as_dict()) == KEYS
    assert row.peer is not None
    assert row.ratio is not None
    assert row.ratio == pytest.approx(row.peer / row.ours, rel=0.02)
    assert row.ratio > 1
    assert row.growth is not None
    assert row.growth > 1


@pytest.mark.parametrize(("rounds", "seconds", "times"), [(3, 60, 4), (3, 0, 2)])
def test_rounds_end_when_the_time_is_over(rounds: int, seconds: float, times: int) -> None:
    calls: list[None] = []
    once = _toy(prepare=lambda: Contest(lambda: calls.append(None)), measure=lambda work: float(bool(work())) + 1)
    run(once, rounds, seconds)
    assert len(calls) == times


def test_row_without_peer_and_growth_leaves_them_out() -> None:
    row = run(_toy(prepare=lambda: Contest(lambda: None), peer_name=None, goal=None), rounds=1, seconds=60)
    assert (row.peer, row.ratio, row.growth) == (None, None, None)


def test_a_rate_is_better_when_it_is_higher() -> None:
    contest = Contest(lambda: 300.0, lambda: 100.0, remark=lambda: "p99 2 ms")
    row = run(_toy(prepare=lambda: contest, measure=told, is_rate=True, note="16 connections"), rounds=1, seconds=60)
    assert (row.ours, row.peer, row.ratio) == (300, 100, 3)
    assert row.note == "16 connections; p99 2 ms"


def test_a_quick_run_takes_less_data_and_one_round() -> None:
    calls: list[str] = []

    def counting(size: str) -> Callable[[], Contest]:
        def work() -> float:
            calls.append(size)
            return 1.0

        return lambda: Contest(work)

    toy = _toy(prepare=counting("large"), prepare_quick=counting("small"), measure=told, least_rounds=3)
    run(toy, rounds=9, seconds=0)
    run(toy, rounds=9, seconds=0, quick=True)
    assert calls == ["large"] * 4 + ["small"] * 2


def test_what_cannot_be_measured_is_left_out_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> Contest:
        raise NotMeasured("get wrk first")

    monkeypatch.setattr("bench.run.discover", lambda: iter([_toy(row="a", prepare=missing), _toy(row="b")]))
    main(["--quick", "--results", str(tmp_path / "latest.json")])
    assert "a is left out: get wrk first" in capsys.readouterr().err
    assert [row["row"] for row in json.loads((tmp_path / "latest.json").read_text())] == ["b"]


def test_table_says_whether_a_goal_is_reached() -> None:
    facts = {"unit": "ms", "ours": 2.0, "peer": 10.0, "peer_name": "other", "growth": None, "note": "why"}
    rows = [Row(row="a", ratio=5.0, goal=4.0, **facts), Row(row="b", ratio=5.0, goal=6.0, **facts)]  # type: ignore[arg-type]
    head, a, b = table(rows).splitlines()
    assert head.split() == ["row", "ours", "peer", "ratio", "goal", "growth", "×10", "note"]
    assert a.split() == ["a", "2", "ms", "10", "ms", "(other)", "5", "4", "reached", "-", "why"]
    assert b.split() == ["b", "2", "ms", "10", "ms", "(other)", "5", "6", "MISSED", "-", "why"]


def test_results_are_a_list_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "results" / "latest.json"
    write([run(_toy(), rounds=1, seconds=60)], path)
    (row,) = json.loads(path.read_text())
    assert list(row) == KEYS
    assert row["row"] == "toy_sum"


def test_only_picks_rows_by_a_part_of_their_name() -> None:
    toys = [_toy(row="avro_full"), _toy(row="avro_growth_in_fields"), _toy(row="protobuf_full")]
    assert [toy.row for toy in chosen(toys, "full")] == ["avro_full", "protobuf_full"]
    assert [toy.row for toy in chosen(toys, "avro*fields")] == ["avro_growth_in_fields"]
    assert len(chosen(toys, "")) == 3


def test_a_pattern_that_fits_no_row_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--only", "nothing like it"])
    assert stopped.value.code == 2
    assert "no row has 'nothing like it'" in capsys.readouterr().err


def test_every_benchmark_has_a_row_of_its_own() -> None:
    rows = [benchmark.row for benchmark in discover()]
    assert len(rows) == len(set(rows))
    assert {"avro_full_transitive", "json_schema_full_transitive", "protobuf_full_transitive"} <= set(rows)


def test_measures() -> None:
    assert elapsed_ms(lambda: _sum(100_000)) > 0
    assert once_ms(lambda: time.sleep(0.01)) >= 10
    assert peak_mib(lambda: bytearray(8 * 2**20)) == pytest.approx(8, rel=0.05)
