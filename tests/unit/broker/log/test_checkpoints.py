"""The write-ahead log of SQLite stays bounded under constant load, without help from pauses in it."""

import threading
from pathlib import Path

from tallystick.broker.log.log import Log
from tests.unit.broker.log.appending import Appending, entries

MIB = 2**20


def test_wal_stays_bounded_while_appends_and_reads_never_pause(log: Log, append: Appending, path: Path) -> None:
    topic, over = log.create_topic("t").id, threading.Event()
    wal, sizes = path.with_name(path.name + "-wal"), []

    def read_along() -> None:
        while not over.is_set():
            log.read(topic, 0, 100, MIB)
            sizes.append(wal.stat().st_size)

    reader = threading.Thread(target=read_along)
    reader.start()
    written = 0
    try:
        for first in range(0, 4096, 64):
            append(log, topic, entries(64, first, size=65_536))
            written += 4 * MIB
    finally:
        over.set()
        reader.join()
    print(f"{written // MIB} MiB appended, {max(sizes) // MIB} MiB of WAL at most")
    assert max(sizes) < 128 * MIB
    assert log.topics()[0].next == 4096
