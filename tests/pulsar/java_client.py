"""The scripts of the Java client in `java/`, built once for each version of their sources."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.maven import built_once, maven

_SOURCES = Path(__file__).parent / "java"
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
_JVM = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED")


def java_client() -> Path:
    """A folder of jars."""
    return built_once(f"pulsar-java-scripts-{digest_of(_SOURCES)}", _build)


def java_scripts() -> list[str]:
    done = subprocess.run([*_command(), "list"], capture_output=True, text=True, check=True)
    return done.stdout.split()


def run_java(service_url: str, admin_url: str, prefix: str, *scripts: str, **environment: str) -> dict[str, list[Any]]:
    """For each script its steps, as pairs of a name and an outcome."""
    command = [*_command(), service_url, admin_url, prefix, *scripts]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=600)
    return steps_in(done.stdout, done.stderr)


def exchange_with_java(service_url: str, admin_url: str, prefix: str) -> dict[str, list[Any]]:
    """What it has "read" of the topics `<prefix>-theirs-…`, and "written" to `<prefix>-java-…`: pairs as above."""
    command = [*_command("scripts.Interop"), service_url, admin_url, prefix]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    return steps_in(done.stdout, done.stderr)


def steps_in(output: str, errors: str) -> dict[str, list[Any]]:
    steps: dict[str, list[Any]] = {}
    for line in output.splitlines():
        assert line.startswith("{"), f"{line}\n{errors}"
        step = json.loads(line)
        steps.setdefault(step["script"], []).append([step["step"], step["outcome"]])
    assert steps, errors
    return steps


def digest_of(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _command(main: str = "scripts.Main") -> list[str]:
    return ["java", *_JVM, "-cp", f"{java_client()}/*", main]


def _build(into: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="tallystick-java-") as scratch:
        project = Path(scratch, "project")
        shutil.copytree(_SOURCES, project)
        maven(project, "package", _COPY, "-DincludeScope=runtime", f"-DoutputDirectory={into}")
        shutil.copy(next((project / "target").glob("*.jar")), into)
