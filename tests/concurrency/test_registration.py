"""Many clients register the same and different schemas while servers are killed. Nothing acknowledged is lost.

The short form runs with the tests; `make soak` sets TALLYSTICK_SOAK for the full counts.
"""

import http.client
import json
import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.concurrency.history import Call, History, Listing, problems
from tests.concurrency.servers import MortalServer, call
from tests.postgres import own_database, running_postgres

SOAK = "TALLYSTICK_SOAK" in os.environ
KILLS, BETWEEN_KILLS = (50, 400) if SOAK else (3, 60)
"""How often a server is killed, and how many registrations are acknowledged in between."""
SUBJECTS = [f"subject-{n}" for n in range(4)]
_LOST = (OSError, http.client.HTTPException)


def definition(n: int) -> str:
    return json.dumps({"type": "record", "name": "R", "fields": [{"name": f"f{n}", "type": "int", "default": 0}]})


@contextmanager
def servers_on(kind: str, count: int, folder: Path) -> Iterator[list[MortalServer]]:
    with ExitStack() as stack:
        store = None
        if kind == "postgres":
            store = stack.enter_context(own_database(stack.enter_context(running_postgres())))
        servers = [MortalServer(folder / str(n), store) for n in range(count)]
        for server in servers:
            server.start()
            stack.callback(server.stop)
        yield servers


def client(servers: list[MortalServer], seed: int, history: History, over: threading.Event) -> None:
    choice = random.Random(seed)
    while not over.is_set():
        port = choice.choice(servers).ports[1]
        subject, text = choice.choice(SUBJECTS), definition(choice.randrange(120))
        started = time.monotonic()
        try:
            if choice.random() < 0.2:
                status, answer = call(port, "GET", f"/subjects/{subject}/versions")
                if status in (200, 404):
                    count = len(answer) if status == 200 else 0
                    history.listings.append(Listing(subject, count, started, time.monotonic()))
                continue
            status, answer = call(port, "POST", f"/subjects/{subject}/versions", {"schema": text})
        except _LOST:
            history.calls.append(Call(subject, text, started, float("inf")))
            time.sleep(0.05)
            continue
        ended = time.monotonic()
        if status == 200:
            history.calls.append(Call(subject, text, started, ended, answer["version"], answer["id"]))
        else:
            assert status == 503, answer
            history.calls.append(Call(subject, text, started, float("inf")))


@pytest.mark.parametrize(("kind", "servers_count", "clients"), [("sqlite", 1, 16), ("postgres", 4, 32)])
def test_registrations_are_linearizable_through_kills(
    kind: str, servers_count: int, clients: int, tmp_path: Path
) -> None:
    choice, history, over = random.Random(7), History(), threading.Event()
    with servers_on(kind, servers_count, tmp_path) as servers:
        call(servers[0].ports[1], "PUT", "/config", {"compatibility": "NONE"})
        threads = [threading.Thread(target=client, args=(servers, n, history, over)) for n in range(clients)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(KILLS):
                _wait_for_more(history, BETWEEN_KILLS)
                victim = choice.choice(servers)
                victim.die()
                victim.start()
            _wait_for_more(history, BETWEEN_KILLS)
        finally:
            over.set()
            for thread in threads:
                thread.join()
        final = {subject: _versions(servers[-1], subject) for subject in SUBJECTS}
    acknowledged = sum(call.version is not None for call in history.calls)
    unknown = len(history.calls) - acknowledged
    print(f"{kind}: {acknowledged} acknowledged, {unknown} without answer, {KILLS} kills")
    assert problems(history, final) == []


def _wait_for_more(history: History, count: int) -> None:
    """Waits until so many more registrations have been acknowledged."""
    before, limit = len(history.calls), time.monotonic() + 60
    while sum(call.version is not None for call in history.calls[before:]) < count:
        assert time.monotonic() < limit, "the servers do not answer"
        time.sleep(0.01)


def _versions(server: MortalServer, subject: str) -> list[tuple[str, int]]:
    port = server.ports[1]
    _, numbers = call(port, "GET", f"/subjects/{subject}/versions")
    assert numbers == list(range(1, len(numbers) + 1))
    answers = [call(port, "GET", f"/subjects/{subject}/versions/{n}")[1] for n in numbers]
    return [(answer["schema"], answer["id"]) for answer in answers]
