"""A broker that is killed under load and started again: what was answered is there, in order, and nobody hangs."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tallystick.messaging.pending import Pending
from tallystick.messaging.settings import EARLIEST
from tallystick.model.position import Position
from tests.integration.pulsar_loop import SECONDS, client_of, put, wait_until
from tests.integration.servers import Served, start
from tests.ports import free_port, free_ports

_MESSAGES_BETWEEN = 2000


class Restarted:
    """`tally serve` on the same folder and ports, again and again."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._port = free_port()
        self._ports = free_ports(2)
        self._served = self._start()

    @property
    def url(self) -> str:
        return f"pulsar://127.0.0.1:{self._port}"

    def _start(self) -> Served:
        served = start(
            self._data,
            f"--pulsar=127.0.0.1:{self._port}",
            "--log-level=warning",
            ports=(self._ports[0], self._ports[1]),
        )
        assert served.process.poll() is None, "".join(served.errors)
        return served

    def kill(self, number: int) -> None:
        self.stop(number)
        self._served = self._start()

    def stop(self, number: int = signal.SIGTERM) -> None:
        self._served.stop(number)
        self._served.close()


@contextmanager
def restarted(data: Path) -> Iterator[Restarted]:
    broker = Restarted(data)
    try:
        yield broker
    finally:
        broker.stop()


def _have_answers(sents: list[Pending[Position]], count: int) -> bool:
    return sum(sent.done() for sent in sents) >= count


def test_nothing_that_was_answered_is_lost(tmp_path: Path) -> None:
    with restarted(tmp_path / "data") as broker, client_of(broker.url) as client:
        box = client.inbox("load", subscription="s", start=EARLIEST)
        reader = client.inbox("load", start=EARLIEST)
        outlet = client.outlet("load", batch_messages=20, batch_delay_s=0.001)
        sents: list[Pending[Position]] = []
        is_done = threading.Event()

        def produce() -> None:
            while not is_done.is_set():
                # Not more than the broker takes, so that kills hit messages at every stage.
                wait_until(lambda: outlet.pending < 500)
                sents.extend(put(outlet, str(number).encode()) for number in range(len(sents), len(sents) + 50))

        producing = threading.Thread(target=produce)
        producing.start()
        try:
            for kill in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
                answered = sum(sent.done() for sent in sents)
                wait_until(partial(_have_answers, sents, answered + _MESSAGES_BETWEEN))
                broker.kill(kill)
        finally:
            is_done.set()
            producing.join()
        outlet.flush()
        for sent in sents:
            sent.result(SECONDS)
        assert outlet.pending == 0
        wanted = [str(number).encode() for number in range(len(sents))]
        for each in (box, reader):
            seen: dict[bytes | None, None] = {}
            while len(seen) < len(wanted):
                for message in each.take(1):
                    seen.setdefault(message.payload)
                    each.inlet.acknowledge(message)
            assert list(seen) == wanted
