"""`tally topic` as a process of its own: it follows a topic, and ends when its user or its reader goes away."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests.e2e.topics import ORDERS, Call, Folder, unused, values
from tests.servers import RunningRegistry

_LIMIT_S = 60
# A shell that runs the tests in the background lets them ignore interrupts; a user's does not.
_INTERRUPTED = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
_TALLY = f"{_INTERRUPTED}; from tallystick.cli.main import main; main()"


@contextmanager
def process(
    server: RunningRegistry,
    *arguments: str,
    stdout: int | IO[Any] = subprocess.PIPE,
    stderr: int | IO[Any] = subprocess.PIPE,
) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", _TALLY, "topic", *arguments]
    environment = {**os.environ, "TALLY_CLUSTER": server.pulsar}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=stdout, stderr=stderr, text=True, env=environment
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def ended(running: "subprocess.Popen[str]") -> tuple[int, str]:
    """Its exit code, and what it said of errors."""
    _, errors = running.communicate(timeout=_LIMIT_S)
    return running.returncode, errors


def next_value(running: "subprocess.Popen[str]") -> Any:
    assert running.stdout is not None
    return json.loads(running.stdout.readline())


def test_a_topic_is_followed_until_somebody_interrupts(
    server: RunningRegistry, tally: Call, topic: str, tmp_path: Path
) -> None:
    with process(server, "consume", topic, "--follow", "--show", "value", "--output", "json") as following:
        assert [next_value(following) for _ in ORDERS] == ORDERS
        late = {**ORDERS[0], "id": "late"}
        assert tally("produce", topic, Folder(tmp_path).lines(late)).code == 0
        assert next_value(following) == late
        following.send_signal(signal.SIGINT)
        assert ended(following) == (130, "")


def test_following_ends_after_a_count(server: RunningRegistry, topic: str) -> None:
    with process(server, "consume", topic, "--follow", "--count", "2", "--output", "json") as following:
        assert ended(following) == (0, "2 messages\n")


def test_what_nobody_has_read_is_not_acknowledged(server: RunningRegistry, tally: Call, topic: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with (
        os.fdopen(writing, "w") as nowhere,
        process(server, "consume", topic, "--subscription", "s", stdout=nowhere) as consuming,
    ):
        assert ended(consuming) == (141, "")
    shown = tally("consume", topic, "--subscription", "s", "--output", "json")
    assert (shown.code, values(shown)) == (0, ORDERS)


def test_lines_are_sent_as_they_come(server: RunningRegistry, tally: Call, topic: str) -> None:
    later = unused()
    with (
        process(server, "produce", later, "--type", "string") as producing,
        process(server, "consume", later, "--follow", "--show", "value", "--output", "json") as following,
    ):
        assert producing.stdin is not None
        for word in ("one", "two"):
            producing.stdin.write(f"{word}\n")
            producing.stdin.flush()
            assert next_value(following) == word
        following.send_signal(signal.SIGINT)
        assert ended(following)[0] == 130
        output, errors = producing.communicate(timeout=_LIMIT_S)
    assert output.startswith(f"2 messages sent to {later} in ")
    assert (producing.returncode, errors) == (0, "")


def test_an_interrupted_run_says_what_was_sent(server: RunningRegistry, tally: Call) -> None:
    topic = unused()
    with (
        process(server, "produce", topic, "--type", "string") as producing,
        process(server, "consume", topic, "--follow", "--count", "1", "--output", "json") as following,
    ):
        assert producing.stdin is not None
        producing.stdin.write("one\n")
        producing.stdin.flush()
        assert next_value(following)["value"] == "one"
        producing.send_signal(signal.SIGINT)
        code, errors = ended(producing)
    assert code == 130
    assert errors == "tally: interrupted; 1 message sent before\n"


def test_a_bar_on_a_terminal(server: RunningRegistry) -> None:
    topic = unused()
    screen, terminal = os.openpty()
    try:
        with process(server, "produce", topic, "--type", "string", stderr=terminal) as producing:
            os.close(terminal)
            shown = b""
            while f"to {topic}".encode() not in shown:
                shown += os.read(screen, 10_000)
            output, _ = producing.communicate("one\n", timeout=_LIMIT_S)
    finally:
        os.close(screen)
    assert (producing.returncode, output.split()[0]) == (0, "1")
