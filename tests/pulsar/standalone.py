"""A real Pulsar, standalone, from Maven Central: what the embedded broker is compared with.

`python -m tests.pulsar.standalone` runs one until it is interrupted; with `--download` it only fills the cache.
"""

import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.maven import missing
from tests.ports import free_ports
from tests.pulsar.maven import VERSION, pulsar_jars

_MAIN = "org.apache.pulsar.PulsarStandaloneStarter"
_OPENED = (
    *(f"java.base/{package}" for package in ("java.io", "java.lang", "java.nio", "java.util.zip", "sun.net")),
    *(f"java.base/jdk.internal.{package}" for package in ("misc", "platform")),
    "java.management/sun.management",
    "jdk.management/com.sun.management.internal",
)
_JVM = (
    "-Xmx512m",
    "-XX:MaxDirectMemorySize=512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dpulsar.allocator.exit_on_oom=true",
)
_SETTINGS = {
    "bindAddress": "127.0.0.1",
    "advertisedAddress": "127.0.0.1",
    "clusterName": "standalone",
    "webSocketServiceEnabled": "false",
    "brokerDeleteInactiveTopicsEnabled": "false",
    "replicationConnectionsPerBroker": "2",
    "managedLedgerDefaultEnsembleSize": "1",
    "managedLedgerDefaultWriteQuorum": "1",
    "managedLedgerDefaultAckQuorum": "1",
    # A message of the largest size in BookKeeper's own frame: without room for it one such message ends the bookie.
    "nettyMaxFrameSizeBytes": str(5 * 1024 * 1024 + 10 * 1024),
    "numHttpServerThreads": "8",
    "numIOThreads": "2",
}
_LOGGING = """<Configuration status="ERROR">
<Appenders><Console name="out"><PatternLayout pattern="%d{HH:mm:ss.SSS} %-5level %logger{1} %msg%n%throwable"/></Console></Appenders>
<Loggers><Root level="WARN"><AppenderRef ref="out"/></Root></Loggers>
</Configuration>"""  # noqa: E501


@dataclass(frozen=True, slots=True)
class Pulsar:
    """`service_url` for clients, `admin_url` for REST without a path; `pid` for CPU time and memory."""

    service_url: str
    admin_url: str
    pid: int
    started_in_s: float


@contextmanager
def running_pulsar(
    java_options: tuple[str, ...] = _JVM, settings: dict[str, str] | None = None, start_seconds: float = 180
) -> Iterator[Pulsar]:
    """An empty standalone that lives as long as the context; `settings` are added to its configuration."""
    jars, folder = pulsar_jars("pulsar-broker"), Path(tempfile.mkdtemp(prefix="tallystick-pulsar-"))
    ports = free_ports(3)
    command = _command(jars, folder, ports, java_options, settings or {})
    began = time.monotonic()
    with (folder / "log").open("wb") as stream:
        process = subprocess.Popen(command, cwd=folder, stdout=stream, stderr=stream, start_new_session=True)
    try:
        admin_url = f"http://127.0.0.1:{ports[1]}"
        _wait(admin_url, process, folder / "log", start_seconds)
        yield Pulsar(f"pulsar://127.0.0.1:{ports[0]}", admin_url, process.pid, time.monotonic() - began)
    finally:
        _stop(process)
        shutil.rmtree(folder, ignore_errors=True)


def _command(
    jars: Path, folder: Path, ports: list[int], java_options: tuple[str, ...], settings: dict[str, str]
) -> list[str]:
    service, web, bookie = ports
    lines = {"brokerServicePort": service, "webServicePort": web, **_SETTINGS, **settings}
    (folder / "standalone.conf").write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
    (folder / "log4j2.xml").write_text(_LOGGING)
    opened = [option for package in _OPENED for option in ("--add-opens", f"{package}=ALL-UNNAMED")]
    logging = f"-Dlog4j2.configurationFile={folder / 'log4j2.xml'}"
    places = ["--metadata-dir", str(folder / "metadata"), "--bookkeeper-dir", str(folder / "bookkeeper")]
    flags = ["--bookkeeper-port", str(bookie), "--no-functions-worker", "--no-stream-storage", "-a", "127.0.0.1"]
    java = ["java", *java_options, *opened, logging, "-cp", f"{jars}/*", _MAIN]
    return [*java, "--config", str(folder / "standalone.conf"), *places, *flags]


def _wait(admin_url: str, process: "subprocess.Popen[bytes]", log: Path, seconds: float) -> None:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        try:
            with urllib.request.urlopen(f"{admin_url}/admin/v2/namespaces/public", timeout=5) as answer:
                if b"public/default" in answer.read():
                    return
        except (urllib.error.URLError, OSError):
            assert process.poll() is None, log.read_text(errors="replace")[-20_000:]
        time.sleep(0.1)
    raise AssertionError(f"Pulsar was not ready within {seconds} s: {log.read_text(errors='replace')[-20_000:]}")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """A standalone takes long to say goodbye, and its data is thrown away: a short wait, then no more of it."""
    process.terminate()
    try:
        process.wait(3)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(30)


def _main() -> None:
    reason = missing()
    if reason is not None:
        sys.exit(reason)
    if "--download" in sys.argv:
        print(pulsar_jars("pulsar-broker"))
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with running_pulsar() as pulsar:
        started = f"{pulsar.started_in_s:.1f} s"
        print(f"Pulsar {VERSION}: {pulsar.service_url} {pulsar.admin_url} pid {pulsar.pid}, {started}", flush=True)
        signal.pause()


if __name__ == "__main__":
    _main()
