"""A process that says on its output what it appends and what it was told is durable, for a tracer to see."""

import asyncio
import os
import sys
from pathlib import Path

from tallystick.broker.log.log import Log
from tallystick.broker.log.values import CursorState
from tests.unit.broker.log.appending import entries

GROUPS = (1, 1, 16, 1, 100)


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


async def append_groups(log: Log, topic: int) -> None:
    first = 0
    for size in GROUPS:
        over = asyncio.Event()
        waiting = [one.number for one in entries(size, first)]

        def done(failure: BaseException | None, over: asyncio.Event = over, waiting: list[int] = waiting) -> None:
            assert failure is None
            waiting.pop()
            if not waiting:
                over.set()

        say("appends")
        for one in entries(size, first):
            log.append(topic, one, done)
        await over.wait()
        say("done")
        first += size


def main(path: Path) -> None:
    log = Log.open(path)
    topic = log.create_topic("t").id
    asyncio.run(append_groups(log, topic))
    for number in range(3):
        say("appends")
        log.save_cursors({(topic, "sub"): CursorState(number)})
        say("done")
    log.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
