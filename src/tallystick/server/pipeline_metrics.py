"""Prometheus metrics of the pipelines that report here, taken from the store when somebody asks for them.

Every server of a database tells the same. A label is a series for ever, so their number is bounded: what is beyond a
limit is summed under the label `*`.
"""

from collections.abc import Callable, Iterable, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from tallystick.errors import Unavailable
from tallystick.model.pipeline import OTHERS, Outcomes, PipelineState, PipelineStatus, bounded
from tallystick.registry.ports import PipelineRow

MOST_PIPELINES = 200
_MOST_SCHEMAS = 50


class PipelineMetrics(Collector):
    def __init__(self, rows: Callable[[], Sequence[PipelineRow]]) -> None:
        self._rows = rows

    def collect(self) -> Iterable[Metric]:
        records = CounterMetricFamily(
            "tallystick_pipeline_records",
            f"Records since the pipeline's start. Beyond {MOST_PIPELINES} pipelines they are summed as pipeline "
            f"{OTHERS!r}, beyond {_MOST_SCHEMAS} schemas of one as schema {OTHERS!r}.",
            labels=["pipeline", "schema", "outcome"],
        )
        lag = _gauge("lag_records", "Records that are there and have not been read.")
        rate = _gauge("records_per_second", "Records in a second, of the last batch.")
        reported = _gauge("reported_seconds", "When the pipeline last said something, in seconds since 1970.")
        state = _gauge("state", "1 for the state that the pipeline is in, else 0.", "state")
        rows = self._known()
        for row in rows[:MOST_PIPELINES]:
            _count(records, row.name, row.status)
            reported.add_metric([row.name], row.updated_at.timestamp())
            for known in PipelineState:
                state.add_metric([row.name, known], float(known is row.status.state))
            if row.status.lag is not None:
                lag.add_metric([row.name], row.status.lag)
            if row.status.rate is not None:
                rate.add_metric([row.name], row.status.rate)
        if len(rows) > MOST_PIPELINES:
            _add(records, [OTHERS, OTHERS], sum((row.status.records for row in rows[MOST_PIPELINES:]), Outcomes()))
        yield from (records, lag, rate, reported, state)

    def _known(self) -> Sequence[PipelineRow]:
        try:
            return self._rows()
        except Unavailable:
            # What the process knows by itself is told also where its store does not answer.
            return []


def _gauge(name: str, told: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"tallystick_pipeline_{name}", told, labels=["pipeline", *labels])


def _count(records: CounterMetricFamily, name: str, status: PipelineStatus) -> None:
    by_schema = bounded(status.by_schema, _MOST_SCHEMAS)
    told = sum(by_schema.values(), Outcomes())
    # What the pipeline counted without a schema, so that the series of a pipeline add up.
    rest = Outcomes(
        *(max(0, whole - part) for whole, part in zip(_numbers(status.records), _numbers(told), strict=True))
    )
    if rest.seen or not by_schema:
        by_schema[OTHERS] = by_schema.get(OTHERS, Outcomes()) + rest
    for schema, counted in by_schema.items():
        _add(records, [name, schema], counted)


def _add(records: CounterMetricFamily, labels: list[str], counted: Outcomes) -> None:
    for outcome, number in zip(("good", "quarantined", "tombstone"), _numbers(counted), strict=True):
        records.add_metric([*labels, outcome], number)


def _numbers(counted: Outcomes) -> tuple[int, int, int]:
    return counted.good, counted.quarantined, counted.tombstones
