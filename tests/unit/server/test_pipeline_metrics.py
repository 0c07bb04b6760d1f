"""Pipelines in the metrics: their series add up, and their number is bounded."""

from datetime import UTC, datetime

from tallystick.errors import Unavailable
from tallystick.model.pipeline import OTHERS, Outcomes, PipelineState, PipelineStatus
from tallystick.registry.ports import PipelineRow
from tallystick.server.metrics import Metrics
from tallystick.server.pipeline_metrics import MOST_PIPELINES, PipelineMetrics

AT = datetime(2026, 1, 2, tzinfo=UTC)


def row(name: str, **told: object) -> PipelineRow:
    return PipelineRow(name, PipelineStatus(state=PipelineState.RUNNING, **told), "me", AT)  # type: ignore[arg-type]


def lines(*rows: PipelineRow) -> dict[str, float]:
    metrics = Metrics()
    metrics.also(PipelineMetrics(lambda: rows))
    told = (line.rpartition(" ") for line in metrics.text().decode().splitlines() if "tallystick_pipeline" in line)
    return {name: float(number) for name, _, number in told if not name.startswith("#")}


def test_the_series_of_a_pipeline_add_up_to_its_records() -> None:
    found = lines(row("p", records=Outcomes(10, 3, 1), by_schema={"t v1": Outcomes(6, 1, 0), "t v2": Outcomes(4)}))
    good = {name: number for name, number in found.items() if 'outcome="good"' in name}
    assert good == {
        'tallystick_pipeline_records_total{outcome="good",pipeline="p",schema="t v1"}': 6,
        'tallystick_pipeline_records_total{outcome="good",pipeline="p",schema="t v2"}': 4,
        'tallystick_pipeline_records_total{outcome="good",pipeline="p",schema="*"}': 0,
    }
    assert found['tallystick_pipeline_records_total{outcome="quarantined",pipeline="p",schema="*"}'] == 2
    assert found['tallystick_pipeline_records_total{outcome="tombstone",pipeline="p",schema="*"}'] == 1


def test_state_lag_rate_and_time_are_gauges() -> None:
    found = lines(row("p", lag=7, rate=2.5), row("q"))
    assert found['tallystick_pipeline_state{pipeline="p",state="running"}'] == 1
    assert found['tallystick_pipeline_state{pipeline="p",state="failed"}'] == 0
    assert found['tallystick_pipeline_lag_records{pipeline="p"}'] == 7
    assert found['tallystick_pipeline_records_per_second{pipeline="p"}'] == 2.5
    assert found['tallystick_pipeline_reported_seconds{pipeline="q"}'] == AT.timestamp()
    assert 'tallystick_pipeline_lag_records{pipeline="q"}' not in found


def test_the_number_of_series_is_bounded() -> None:
    rows = [row(f"p{i:04}", records=Outcomes(1)) for i in range(MOST_PIPELINES + 5)]
    rows[0] = row("p0000", records=Outcomes(100), by_schema={f"v{i}": Outcomes(1) for i in range(100)})
    found = lines(*rows)
    assert found[f'tallystick_pipeline_records_total{{outcome="good",pipeline="{OTHERS}",schema="{OTHERS}"}}'] == 5
    of_first = [number for name, number in found.items() if 'good",pipeline="p0000"' in name]
    assert (len(of_first), sum(of_first)) == (50, 100)
    assert len({name for name in found if "records_total" in name}) == 3 * (MOST_PIPELINES + 50)


def test_a_store_that_does_not_answer_leaves_the_other_metrics() -> None:
    def fail() -> list[PipelineRow]:
        raise Unavailable("no")

    metrics = Metrics()
    metrics.also(PipelineMetrics(fail))
    assert b"tallystick_registrations" in metrics.text()
