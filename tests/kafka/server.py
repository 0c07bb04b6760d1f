"""A real Kafka, one node in KRaft mode, from Maven Central.

`python -m tests.kafka.server` runs one until it is interrupted; with `--download` it only fills the cache.
"""

import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.kafka.maven import VERSION, kafka_jars
from tests.maven import missing
from tests.ports import free_ports

USER, PASSWORD = "alice", "secret-of-alice"
"""Of the listener that asks for them."""
_JVM = ("-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
_CLUSTER = "dGFsbHlzdGlja3Rlc3RzMQ"
_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
_SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT",
    "listener.name.sasl.sasl.enabled.mechanisms": "PLAIN",
    "listener.name.sasl.plain.sasl.jaas.config": f'{_LOGIN} required user_{USER}="{PASSWORD}";',
    # Everybody may do everything but what an ACL denies; those without a password are the administrators.
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "allow.everyone.if.no.acl.found": "true",
    # By default a wrong password is answered late.
    "connection.failed.authentication.delay.ms": "0",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "500",
    "group.consumer.min.session.timeout.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "200",
    "log.cleaner.enable": "false",
    "num.network.threads": "2",
    "num.io.threads": "2",
}


@dataclass(frozen=True, slots=True)
class Kafka:
    """Where it listens: `servers` for everybody, `sasl_servers` for those who know the password; `pid` its process."""

    servers: str
    sasl_servers: str
    pid: int


class KafkaNode:
    """A node that can be stopped and started again on the same folder and the same ports."""

    def __init__(self, folder: Path, settings: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        plain, sasl, controller = free_ports(3)
        self.servers, self.sasl_servers = f"127.0.0.1:{plain}", f"127.0.0.1:{sasl}"
        listeners = f"PLAINTEXT://{self.servers},SASL://{self.sasl_servers}"
        lines = {
            **_SETTINGS,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listeners": f"{listeners},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": listeners,
            "log.dirs": str(folder / "data"),
            **(settings or {}),
        }
        self._config = folder / "server.properties"
        self._config.write_text("".join(f"{key}={value}\n" for key, value in lines.items()))
        self._format()

    def start(self, seconds: float = 120) -> Kafka:
        with (self._folder / "log").open("ab") as stream:
            command = [*_java("kafka.Kafka"), str(self._config)]
            self._process = subprocess.Popen(command, cwd=self._folder, stdout=stream, stderr=stream)
        self._wait(self._process, seconds)
        return Kafka(self.servers, self.sasl_servers, self._process.pid)

    def stop(self, number: int = signal.SIGTERM) -> None:
        if self._process is None:
            return
        self._process.send_signal(number)
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(30)
        self._process = None

    def _format(self) -> None:
        command = [*_java("kafka.tools.StorageTool"), "format", "-t", _CLUSTER, "-c", str(self._config)]
        done = subprocess.run(command, cwd=self._folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr

    def _wait(self, process: "subprocess.Popen[bytes]", seconds: float) -> None:
        log, limit = self._folder / "log", time.monotonic() + seconds
        admin = AdminClient({"bootstrap.servers": self.servers, "log_level": 0, "reconnect.backoff.max.ms": 200})
        while time.monotonic() < limit:
            assert process.poll() is None, log.read_text(errors="replace")[-20_000:]
            try:
                if admin.list_topics(timeout=1).brokers:
                    return
            except KafkaException:
                continue
        raise AssertionError(f"Kafka was not ready within {seconds} s: {log.read_text(errors='replace')[-20_000:]}")


@contextmanager
def kafka_node(settings: Mapping[str, str] | None = None) -> Iterator[KafkaNode]:
    """A node that is not started yet, in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="tallystick-kafka-"))
    try:
        node = KafkaNode(folder, settings)
        try:
            yield node
        finally:
            node.stop(signal.SIGKILL)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running_kafka(settings: Mapping[str, str] | None = None) -> Iterator[Kafka]:
    """An empty node that lives as long as the context; `settings` are added to its configuration."""
    with kafka_node(settings) as node:
        yield node.start()


def _java(main: str) -> list[str]:
    return ["java", *_JVM, "-cp", f"{kafka_jars()}/*", main]


def _main() -> None:
    reason = missing()
    if reason is not None:
        sys.exit(reason)
    if "--download" in sys.argv:
        print(kafka_jars())
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    began = time.monotonic()
    with running_kafka() as kafka:
        started = f"{time.monotonic() - began:.1f} s"
        print(f"Kafka {VERSION}: {kafka.servers}, SASL {kafka.sasl_servers}, pid {kafka.pid}, {started}", flush=True)
        signal.pause()


if __name__ == "__main__":
    _main()
