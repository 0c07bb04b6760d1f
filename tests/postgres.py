"""A real PostgreSQL for the tests: started on a free loopback port, with its data in a folder of its own."""

import functools
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ports import free_port

_FAST = ["-c", "max_connections=300", "-c", "shared_buffers=64MB", "-c", "logging_collector=off"]


@functools.cache
def binaries() -> Path | None:
    """The folder of `initdb` and `postgres`: Debian's newest, or what is on the PATH."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda p: int(p.parts[-3]))
    if installed:
        return installed[-1].parent
    found = shutil.which("initdb")
    return Path(found).parent if found else None


@contextmanager
def running_postgres() -> Iterator[str]:
    """The URL of an empty database cluster that lives as long as the context."""
    folder = binaries()
    assert folder is not None, "PostgreSQL is not installed: apt-get install postgresql"
    home = Path(tempfile.mkdtemp(prefix="tallystick-postgres-"))
    data, port, user = home / "data", free_port(), _user()
    if user is not None:
        shutil.chown(home, user)
    try:
        _run([folder / "initdb", "-D", data, "-U", "tally", "--auth=trust", "--encoding=UTF8", "--no-sync"], user)
        command = [folder / "postgres", "-D", data, "-p", str(port), "-k", home, "-h", "127.0.0.1", *_FAST]
        with (home / "log").open("wb") as log:
            server = subprocess.Popen(_as(user, command), stdout=subprocess.DEVNULL, stderr=log, cwd=home)
        try:
            _wait(folder, port, server, home / "log")
            yield f"postgresql://tally@127.0.0.1:{port}/postgres"
        finally:
            server.terminate()
            server.wait(30)
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def own_database(server_url: str) -> Iterator[str]:
    """A database that nobody else uses."""
    import psycopg

    name = f"test_{os.urandom(6).hex()}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        yield server_url.rsplit("/", 1)[0] + f"/{name}"
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def _user() -> str | None:
    """PostgreSQL does not run as root; Debian's package brings a user for it."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def _as(user: str | None, command: list[object]) -> list[str]:
    words = [str(word) for word in command]
    # exec: so that ending the process ends PostgreSQL, not a shell around it.
    return words if user is None else ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *words]


def _run(command: list[object], user: str | None) -> None:
    subprocess.run(_as(user, command), check=True, capture_output=True)


def _wait(folder: Path, port: int, server: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(300):
        ready = subprocess.run([folder / "pg_isready", "-h", "127.0.0.1", "-p", str(port)], capture_output=True)
        if ready.returncode == 0:
            return
        if server.poll() is not None:
            raise AssertionError(log.read_text())
        time.sleep(0.1)
    raise AssertionError("PostgreSQL did not become ready")
