"""The scripts of the Go client in `go/`, built once for each version of their sources."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.maven import built_once
from tests.pulsar.java_client import digest_of, steps_in

_SOURCES = Path(__file__).parent / "go"


def missing_go() -> str | None:
    return None if shutil.which("go") else "no Go toolchain: `go` is not on the PATH"


def run_go(service_url: str, admin_url: str, prefix: str, *scripts: str, **environment: str) -> dict[str, list[Any]]:
    """For each script its steps, as pairs of a name and an outcome."""
    command = [str(_client()), service_url, admin_url, prefix, *scripts]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=300)
    return steps_in(done.stdout, done.stderr)


def _client() -> Path:
    return built_once(f"pulsar-go-scripts-{digest_of(_SOURCES)}", _build) / "scripts"


def _build(into: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="tallystick-go-") as scratch:
        project = Path(scratch, "project")
        shutil.copytree(_SOURCES, project)
        build = ["go", "build", "-trimpath", "-o", str(into / "scripts"), "."]
        done = subprocess.run(build, cwd=project, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
