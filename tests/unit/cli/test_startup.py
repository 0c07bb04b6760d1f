"""`tally --help` must not wait for what only some commands need."""

import subprocess
import sys

_HEAVY = (
    "asyncio",
    "confluent_kafka",
    "fastavro",
    "google.protobuf",
    "httpx",
    "rich",
    "ssl",
    "tallystick.connect",
    "yaml",
)


def test_commands_load_what_they_need_when_they_run() -> None:
    program = f"import sys, tallystick.cli.main; print([name for name in {_HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
