"""The demo's last scene: a registry of its own, on free ports of this machine and in a folder that goes afterwards."""

import os
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from tallystick.errors import Unavailable

_TALLY = [sys.executable, "-c", "from tallystick.cli.main import main; main()"]
_START_SECONDS = 30
_FILES = ("order-v1.avsc", "order-v2.avsc", "order-v3.avsc", "order-v3-mended.avsc")
COMMANDS = (
    "tally schema config orders-value --strategy FULL",
    "tally schema register orders-value order-v1.avsc",
    "tally schema register orders-value order-v2.avsc",
    "tally schema register orders-value order-v3.avsc",
    "tally schema register orders-value order-v3-mended.avsc",
    "tally schema list orders-value",
)


def scene() -> Iterator[tuple[str, str]]:
    """Each command with what it prints."""
    with tempfile.TemporaryDirectory(prefix="tally-demo-") as name:
        folder = Path(name)
        for file in _FILES:
            content = resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
            (folder / file).write_text(content, encoding="utf-8")
        with _serving(folder) as url:
            for command in COMMANDS:
                yield command, _output(command, folder, url)


def _output(command: str, folder: Path, url: str) -> str:
    done = subprocess.run(  # noqa: S603  our own program, with arguments of our own
        [*_TALLY, *shlex.split(command)[1:]],
        cwd=folder,
        env={**os.environ, "TALLY_REGISTRY": url},
        capture_output=True,
        text=True,
        timeout=_START_SECONDS,
    )
    return (done.stdout + done.stderr).rstrip()


@contextmanager
def _serving(folder: Path) -> Iterator[str]:
    http, confluent = _free_ports()
    listen = [f"--http=127.0.0.1:{http}", f"--confluent=127.0.0.1:{confluent}", "--log-level=error"]
    server = subprocess.Popen(  # noqa: S603  as above
        [*_TALLY, "serve", "--data=data", *listen], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        if not server.stdout.readline():
            raise Unavailable("the demo's registry did not start")
        yield f"http://127.0.0.1:{http}"
    finally:
        server.terminate()
        server.wait(_START_SECONDS)
        server.stdout.close()


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        for probe in (one, other):
            probe.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
