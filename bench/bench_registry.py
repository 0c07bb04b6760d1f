"""The registry over HTTP, against Apicurio with its memory store and against a bare handler on the same HTTP server.

Ours writes to SQLite and answers when the disk has it; Apicurio keeps everything in memory.
"""

import itertools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import servers
from bench.bench_avro import growing
from bench.benchmark import Benchmark, Contest, Work, once_ms, told
from bench.history import FIELDS, VERSIONS
from bench.load import Load, require_wrk
from bench.servers import Ask, Server, asking
from tests.apicurio import running_apicurio

APICURIO = "Apicurio 3.3.3, in memory"
BARE = "bare handler on Granian"
_SECONDS, _QUICK_SECONDS = 2, 1
_WARMING = 8
"""How many times as long as a measurement a load lasts before it is measured: a JVM needs its time to become fast."""


def _register(seconds: int) -> Contest:
    return _against_apicurio(Load.register, connections=16, seconds=seconds)


def _register_on_postgres(seconds: int) -> Contest:
    require_wrk()
    load = Load(servers.ours_on_postgres(), 16, seconds)
    return Contest(load.register, remark=lambda: f"p99 {load.p99_ms:.3g} ms")


def _get(seconds: int) -> Contest:
    return _against_apicurio(Load.get, connections=32, seconds=seconds)


def _get_per_cpu_second(seconds: int) -> Contest:
    return _against_apicurio(Load.gets_per_cpu_second, connections=32, seconds=seconds)


def _get_and_bare(seconds: int, figure: Callable[[Load], float]) -> Contest:
    require_wrk()
    loads = [Load(server, 32, seconds) for server in (servers.ours(), servers.bare())]
    return _measuring(loads, figure)


def _against_apicurio(figure: Callable[[Load], float], *, connections: int, seconds: int) -> Contest:
    require_wrk()
    peer = servers.apicurio()
    loads = [Load(server, connections, seconds) for server in (servers.ours(), peer) if server is not None]
    if peer is not None:
        figure(Load(peer, connections, _WARMING * seconds))
    return _measuring(loads, figure)


def _measuring(loads: list[Load], figure: Callable[[Load], float]) -> Contest:
    return _contest(
        [partial(figure, load) for load in loads],
        lambda: "p99 " + " against ".join(f"{load.p99_ms:.3g} ms" for load in loads),
    )


def _contest(works: Sequence[Work], remark: Callable[[], str] = str) -> Contest:
    """Ours, and the peer where it is there."""
    if len(works) == 1:
        return Contest(works[0], remark=lambda: "; ".join(filter(None, [remark(), servers.NO_APICURIO])))
    return Contest(works[0], works[1], remark=remark)


def _next_version() -> Contest:
    """Every call registers one version more; the first after the warm-up is version 52."""
    return _contest([_registering(server) for server in _both()])


def _registering(server: Server) -> Callable[[], None]:
    ask = asking(server)
    subject, bodies = _grown(ask)

    def work() -> None:
        ask("POST", f"/subjects/{subject}/versions", next(bodies))

    return work


def _check() -> Contest:
    return _contest([_checking(server) for server in _both()])


def _checking(server: Server) -> Callable[[], None]:
    ask = asking(server)
    subject, bodies = _grown(ask)
    candidate = next(bodies)

    def work() -> None:
        found = ask("POST", f"/compatibility/subjects/{subject}/versions", candidate)
        assert found["is_compatible"] is True, found

    return work


_subjects = (f"grown-{os.getpid()}-{number}" for number in itertools.count())


def _grown(ask: Ask) -> tuple[str, Iterator[dict[str, str]]]:
    """A subject with fifty versions of the record, and the bodies of those that may follow."""
    subject = next(_subjects)
    bodies = ({"schema": text} for text in growing(FIELDS, VERSIONS + 40))
    ask("PUT", f"/config/{subject}", {"compatibility": "FULL_TRANSITIVE"})
    for body in itertools.islice(bodies, VERSIONS):
        ask("POST", f"/subjects/{subject}/versions", body)
    return subject, bodies


def _both() -> list[Server]:
    peer = servers.apicurio()
    return [servers.ours()] if peer is None else [servers.ours(), peer]


def _ready() -> Contest:
    return _contest([_starting] if servers.apicurio() is None else [_starting, _starting_apicurio])


def _starting() -> float:
    with TemporaryDirectory(prefix="tallystick-bench-") as folder:
        start = time.perf_counter()
        with servers.serving(Path(folder)):
            return time.perf_counter() - start


def _starting_apicurio() -> float:
    start = time.perf_counter()
    with running_apicurio():
        return time.perf_counter() - start


def _memory(seconds: int) -> Contest:
    """After a while of both kinds of load."""
    require_wrk()
    both = _both()
    for server in both:
        Load(server, 16, seconds).register()
        Load(server, 32, seconds).get()
    return _contest([server.resident_mib for server in both])


def _rate(row: str, prepare: Callable[[int], Contest], **more: Any) -> Benchmark:
    return Benchmark(
        row=row,
        prepare=partial(prepare, _SECONDS),
        prepare_quick=partial(prepare, _QUICK_SECONDS),
        measure=told,
        is_rate=True,
        least_rounds=5,
        **{"unit": "/s", "peer_name": APICURIO, **more},
    )


BENCHMARKS = [
    _rate("registry_register", _register, goal=1.5, note="16 connections; ours durable, on SQLite"),
    _rate("registry_register_on_postgres", _register_on_postgres, peer_name=None, note="16 connections"),
    _rate("registry_get_by_id", _get, goal=10.0, note="32 connections; our p99 is to stay under 5 ms"),
    _rate(
        "registry_get_by_id_per_cpu_second",
        _get_per_cpu_second,
        goal=10.0,
        unit="/CPU-s",
        note="32 connections; CPU of the server's process",
    ),
    _rate(
        "registry_get_by_id_and_a_bare_handler",
        partial(_get_and_bare, figure=Load.get),
        goal=0.6,
        peer_name=BARE,
        note="32 connections",
    ),
    _rate(
        "registry_get_by_id_and_a_bare_handler_per_cpu_second",
        partial(_get_and_bare, figure=Load.gets_per_cpu_second),
        goal=0.6,
        unit="/CPU-s",
        peer_name=BARE,
        note="32 connections; CPU of the server's process",
    ),
    Benchmark(
        row="registry_register_version_51",
        prepare=_next_version,
        measure=once_ms,
        peer_name=APICURIO,
        goal=3.0,
        least_rounds=7,
        note="record of 200 fields under FULL_TRANSITIVE; rounds go on with the versions after it",
    ),
    Benchmark(
        row="registry_check_version_51",
        prepare=_check,
        measure=once_ms,
        peer_name=APICURIO,
        goal=3.0,
        least_rounds=7,
        note="record of 200 fields against all 50 versions under FULL_TRANSITIVE",
    ),
    Benchmark(
        row="registry_ready",
        prepare=_ready,
        measure=told,
        unit="s",
        peer_name=APICURIO,
        note="from the start of the process; ours is to stay under 1.5 s",
    ),
    Benchmark(
        row="registry_memory",
        prepare=partial(_memory, 10),
        prepare_quick=partial(_memory, _QUICK_SECONDS),
        measure=told,
        unit="MiB",
        peer_name=APICURIO,
        note="resident after the load; ours is to stay under 120 MiB",
    ),
]
