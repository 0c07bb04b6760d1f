"""A process that appends to several topics, saves cursors and trims, says what it was promised, and waits to be killed.

Each line on its output is one promise: `entry TOPIC NUMBER`, `cursor TOPIC ACKED_BEFORE`, `trim TOPIC BEFORE`.
"""

import asyncio
import os
import random
import sys
from pathlib import Path

from tallystick.broker.log.log import Log
from tallystick.broker.log.values import CursorState, Entry

TOPICS = 4
IN_FLIGHT = 16
SIZES = (8, 200, 200, 200, 4_000, 5_000, 70_000)


def made(run: int, topic: int, number: int) -> Entry:
    """What this run appends under this number: whoever reads it can tell whether it is whole."""
    chance = random.Random(f"{run} {topic} {number}")
    data = run.to_bytes(4) + chance.randbytes(chance.choice(SIZES))
    return Entry(number, number, chance.randint(1, 5), data)


def say(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


class Load:
    def __init__(self, log: Log, run: int) -> None:
        self.log = log
        self.run = run
        self.next = {row.id: row.next for row in log.topics()}

    def append(self, topic: int) -> None:
        number = self.next[topic]
        self.next[topic] += 1

        def done(failure: BaseException | None) -> None:
            if failure is not None:
                os._exit(1)
            say("entry", topic, number)
            self.append(topic)

        self.log.append(topic, made(self.run, topic, number), done, ("producer", number))

    def keep_cursors(self) -> None:
        chance = random.Random(self.run)
        while True:
            states = {topic: CursorState(number, ((number + 2, number + 3),)) for topic, number in self.next.items()}
            self.log.save_cursors({(topic, "sub"): state for topic, state in states.items()})
            for topic, state in states.items():
                say("cursor", topic, state.acked_before)
            topic = chance.choice(list(states))
            before = max(0, states[topic].acked_before - 500)
            self.log.trim(topic, before)
            say("trim", topic, before)


async def main(path: Path, run: int) -> None:
    log = Log.open(path)
    for number in range(len(log.topics()), TOPICS):
        log.create_topic(f"persistent://public/default/t{number}")
    load = Load(log, run)
    for topic in load.next:
        for _ in range(IN_FLIGHT // TOPICS):
            load.append(topic)
    await asyncio.to_thread(load.keep_cursors)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
