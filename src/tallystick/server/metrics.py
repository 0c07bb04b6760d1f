"""Prometheus metrics of the requests, the registry and its store."""

from collections.abc import Iterable, Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics, generate_latest
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from tallystick.finding import Finding
from tallystick.registry.registration import Registration
from tallystick.registry.service import Observer as RegistryObserver
from tallystick.server.app import Observer as HttpObserver
from tallystick.server.prepared import PreparedAnswers

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

disable_created_metrics()  # type: ignore[no-untyped-call]

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"}


class Metrics(HttpObserver, RegistryObserver):
    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "tallystick_http_requests",
            "Requests answered, without those from prepared bytes.",
            ["dialect", "route", "method", "status"],
            registry=self._registry,
        )
        self._request_seconds = Histogram(
            "tallystick_http_request_seconds",
            "Time to answer a request, without those from prepared bytes.",
            ["dialect", "route"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._registrations = Counter("tallystick_registrations", "New versions.", ["type"], registry=self._registry)
        self._refusals = Counter(
            "tallystick_refusals", "Findings for which a schema was refused.", ["rule"], registry=self._registry
        )
        self._warnings = Counter(
            "tallystick_warnings", "Findings that `enforce: warn` let pass.", ["rule"], registry=self._registry
        )
        self._store_seconds = Histogram(
            "tallystick_store_seconds",
            "Time of a transaction with what it waits for.",
            ["kind"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._stored = {kind: self._store_seconds.labels(kind) for kind in ("read", "change")}

    def count_prepared(self, prepared: PreparedAnswers) -> None:
        self._registry.register(_PreparedCollector(prepared))

    def also(self, collector: Collector) -> None:
        """Tells what another part of the process has to tell."""
        self._registry.register(collector)

    def answered(self, dialect: str, route: str, method: str, status: int, seconds: float) -> None:
        # A client can invent methods; each would be a series of its own.
        named = method if method in _METHODS else "other"
        self._requests.labels(dialect, route, named, str(status)).inc()
        self._request_seconds.labels(dialect, route).observe(seconds)

    def registered(self, registration: Registration) -> None:
        self._registrations.labels(registration.definition.type).inc()
        self.warned(registration.warnings)

    def refused(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            self._refusals.labels(finding.rule).inc()

    def warned(self, findings: Sequence[Finding]) -> None:
        for finding in findings:
            self._warnings.labels(finding.rule).inc()

    def stored(self, kind: str, seconds: float) -> None:
        self._stored[kind].observe(seconds)

    def text(self) -> bytes:
        return generate_latest(self._registry)


class _PreparedCollector(Collector):
    """Counted apart: the path of prepared answers does nothing that is not needed."""

    def __init__(self, prepared: PreparedAnswers) -> None:
        self._prepared = prepared

    def collect(self) -> Iterable[Metric]:
        family = CounterMetricFamily(
            "tallystick_http_prepared", "Requests answered from prepared bytes.", labels=["dialect", "route", "status"]
        )
        for (dialect, route), hits in list(self._prepared.hits.items()):
            family.add_metric([dialect, route, "200"], hits.whole)
            family.add_metric([dialect, route, "304"], hits.unchanged)
        yield family
