"""A process whose disk is full for a while: a limit on the size of its files stands in for the end of the disk."""

import json
import resource
import sys
from pathlib import Path

from tallystick.broker.log.log import Log
from tests.unit.broker.log.appending import appending, entries


def main(path: Path) -> None:
    with appending() as append:
        log = Log.open(path)
        topic = log.create_topic("t").id
        before = append(log, topic, entries(10, size=8192))
        used = path.with_name(path.name + "-wal").stat().st_size
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (used + 20_000, hard))
        during = append(log, topic, entries(10, first=10, size=8192))
        catalogue = _failure_of_a_change(log)
        pending = log.pending_bytes
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        after = append(log, topic, entries(10, first=10, size=8192))
        log.close()
        again = Log.open(path)
        (row,) = again.topics()
        told = {
            "before": [failure is None for failure in before],
            "during": [type(failure).__name__ for failure in during],
            "text": str(during[0]),
            "catalogue": catalogue,
            "pending": pending,
            "after": [failure is None for failure in after],
            "row": [row.next, row.bytes, row.messages],
            "is_whole": again.read(topic, 0, 100, 2**30) == entries(20, size=8192),
        }
        again.close()
    print(json.dumps(told))


def _failure_of_a_change(log: Log) -> str:
    try:
        log.put_document("kind", "large", "x" * 100_000)
    except Exception as e:  # noqa: BLE001
        return type(e).__name__
    return ""


if __name__ == "__main__":
    main(Path(sys.argv[1]))
