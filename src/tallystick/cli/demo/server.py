"""The demo's last scenes: a server of its own, on free ports of this machine and in a folder that goes afterwards."""

import os
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from tallystick.errors import Unavailable

_TALLY = [sys.executable, "-c", "from tallystick.cli.main import main; main()"]
_START_SECONDS = 30
_FILES = (
    "order-v1.avsc",
    "order-v2.avsc",
    "order-v3.avsc",
    "order-v3-mended.avsc",
    "orders-v1.ndjson",
    "orders-v2.ndjson",
)
REGISTRY = (
    "tally schema config orders-value --strategy FULL",
    "tally schema register orders-value order-v1.avsc",
    "tally schema register orders-value order-v2.avsc",
    "tally schema register orders-value order-v3.avsc",
    "tally schema register orders-value order-v3-mended.avsc",
    "tally schema list orders-value",
)
MESSAGES = (
    "tally topic produce orders orders-v1.ndjson --schema order-v1.avsc --key-field order_id",
    "tally topic produce orders orders-v2.ndjson --schema order-v2.avsc --key-field order_id",
    "tally topic produce orders orders-v1.ndjson --schema order-v3.avsc",
    "tally topic consume orders",
)

Run = Callable[[str], str]
"""A command → what it prints."""


@contextmanager
def serving() -> Iterator[Run]:
    with tempfile.TemporaryDirectory(prefix="tally-demo-") as name:
        folder = Path(name)
        for file in _FILES:
            content = resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
            (folder / file).write_text(content, encoding="utf-8")
        with _serving(folder) as (url, cluster):
            yield lambda command: _output(command, folder, {"TALLY_REGISTRY": url, "TALLY_CLUSTER": cluster})


def _output(command: str, folder: Path, settings: Mapping[str, str]) -> str:
    done = subprocess.run(  # noqa: S603  our own program, with arguments of our own
        [*_TALLY, *shlex.split(command)[1:]],
        cwd=folder,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=_START_SECONDS,
    )
    return (done.stdout + done.stderr).rstrip()


@contextmanager
def _serving(folder: Path) -> Iterator[tuple[str, str]]:
    """Where the server speaks HTTP, and where its broker is."""
    http, confluent, pulsar = _free_ports()
    ports = {"http": http, "confluent": confluent, "pulsar": pulsar}
    listen = [*(f"--{name}=127.0.0.1:{port}" for name, port in ports.items()), "--log-level=error"]
    server = subprocess.Popen(  # noqa: S603  as above
        [*_TALLY, "serve", "--data=data", *listen], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        if not server.stdout.readline():
            raise Unavailable("the demo's server did not start")
        yield f"http://127.0.0.1:{http}", f"pulsar://127.0.0.1:{pulsar}"
    finally:
        server.terminate()
        server.wait(_START_SECONDS)
        server.stdout.close()


def _free_ports() -> tuple[int, int, int]:
    with socket.socket() as one, socket.socket() as two, socket.socket() as three:
        for probe in (one, two, three):
            probe.bind(("127.0.0.1", 0))
        return one.getsockname()[1], two.getsockname()[1], three.getsockname()[1]
