"""A receipt means: on the disk. A kill cannot show that: the system keeps what was only written."""

import shutil
import threading
from pathlib import Path

import pytest

from tallystick.wire.pulsar import pulsar_pb2 as pb
from tests.concurrency.brokers import broker_on
from tests.concurrency.system_calls import answered_before_synced, traced
from tests.pulsar.raw import connected, entry

LOG, MARK = "broker.db-wal", "marked"
PRODUCERS, SENDS = 4, 25


def producer(url: str, number: int, everybody: threading.Barrier) -> None:
    with connected(url) as raw:
        raw.request("PRODUCER", pb.CommandProducer(topic=f"t-{number % 2}", producer_id=1))
        everybody.wait(20)
        everybody.wait(20)
        for sequence in range(SENDS):
            body = entry(f"{MARK}-{number}-{sequence}".encode(), f"p-{number}", sequence)
            raw.command("SEND", pb.CommandSend(producer_id=1, sequence_id=sequence), body)
            assert raw.pushes("SEND_RECEIPT", 20, 1)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_a_receipt_comes_after_the_sync(tmp_path: Path) -> None:
    record, everybody = tmp_path / "calls", threading.Barrier(PRODUCERS + 1)
    with broker_on(tmp_path / "data") as broker:
        threads = [threading.Thread(target=producer, args=(broker.url, n, everybody)) for n in range(PRODUCERS)]
        for thread in threads:
            thread.start()
        everybody.wait(20)
        try:
            with traced(broker.process_id, record):
                everybody.wait(20)
                for thread in threads:
                    thread.join()
        except PermissionError as e:
            everybody.abort()
            pytest.skip(f"strace may not look at processes here: {e}")
    lines = record.read_text().splitlines()
    sent, problems = answered_before_synced(lines, port=broker.port, log=LOG, mark=MARK)
    assert problems == []
    assert sent == PRODUCERS * SENDS


CONNECTION = "<TCP:[127.0.0.1:6650->127.0.0.1:50000]>"
OTHER = "<TCP:[127.0.0.1:6650->127.0.0.1:50001]>"
ASKED = f'1 read(9{CONNECTION}, "\\0marked", 256000) = 7'
STORED = "2 fdatasync(7</data/broker.db-wal>) = 0"
BEGUN, ENDED = "2 fdatasync(7</data/broker.db-wal> <unfinished ...>", "2 <... fdatasync resumed>) = 0"
ANSWERED = f'1 write(9{CONNECTION}, "\\0", 1) = 1'


@pytest.mark.parametrize(
    "lines",
    [
        [ASKED, STORED, ANSWERED],
        [ASKED, BEGUN, f'1 write(9{OTHER}, "\\0", 1) = 1', ENDED, ANSWERED],
        [f"1 read(9{CONNECTION},  <unfinished ...>", '1 <... read resumed>"marked", 256000) = 6', STORED, ANSWERED],
    ],
)
def test_answers_after_the_sync_are_fine(lines: list[str]) -> None:
    assert answered_before_synced(lines, port=6650, log=LOG, mark=MARK) == (1, [])


@pytest.mark.parametrize(
    "lines",
    [
        [ASKED, ANSWERED],
        [ASKED, ANSWERED, STORED],
        [STORED, ASKED, ANSWERED],
        [BEGUN, ASKED, ENDED, ANSWERED],
        [ASKED, BEGUN, ANSWERED, ENDED],
        [ASKED, STORED.replace("broker", "registry"), ANSWERED],
        [ASKED, STORED.replace("= 0", "= -1 EIO (Input/output error)"), ANSWERED],
        [ASKED, STORED],
    ],
)
def test_answers_before_the_sync_are_found(lines: list[str]) -> None:
    sent, problems = answered_before_synced(lines, port=6650, log=LOG, mark=MARK)
    assert (sent, len(problems)) == (1, 1)
