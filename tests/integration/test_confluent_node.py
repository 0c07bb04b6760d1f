"""The two registry clients for Node.js, unmodified, against our server."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.servers import running_registry

_SCRIPTS = Path(__file__).parent / "clients" / "node"
_REFUSED = "Schema being registered is incompatible with an earlier schema"


@pytest.fixture(scope="module")
def modules() -> Path:
    """The installed packages, kept between runs in the user's cache folder, by the hash of their lock file."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("Node.js is not installed, so its clients cannot be run")
    lock = (_SCRIPTS / "package-lock.json").read_bytes()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tallystick"
    installed = cache / f"node-{hashlib.sha256(lock).hexdigest()[:16]}"
    if not installed.exists():
        cache.mkdir(parents=True, exist_ok=True)
        _install(cache, installed)
    return installed / "node_modules"


def _install(cache: Path, installed: Path) -> None:
    folder = Path(tempfile.mkdtemp(dir=cache))
    for name in ("package.json", "package-lock.json"):
        shutil.copy(_SCRIPTS / name, folder)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    try:
        folder.rename(installed)
    except OSError:
        # Another run was faster; its packages are the same.
        shutil.rmtree(folder)


def _run(script: str, modules: Path, tmp_path: Path) -> Any:
    with running_registry(tmp_path) as server:
        done = subprocess.run(
            ["node", _SCRIPTS / script, server.confluent],
            env={**os.environ, "NODE_PATH": str(modules)},
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_confluentinc_schemaregistry(modules: Path, tmp_path: Path) -> None:
    seen = _run("confluentinc.cjs", modules, tmp_path)
    refused = seen.pop("refused")
    assert seen == {
        "id": 1,
        "version": 1,
        "lookedUp": 1,
        "latest": 1,
        "subjects": ["orders-value"],
        "versions": [1],
        "compatible": False,
        "level": "FULL",
        "levelRead": "FULL",
        "avroStart": [0, 0, 0, 0, 1],
        "avro": {"id": 7},
        "json": {"id": 8},
        "protobuf": 9,
        "deleted": [1],
        "gone": [1],
    }
    assert (refused["status"], refused["code"]) == (409, 409)
    assert _REFUSED in refused["message"]


def test_kafkajs_confluent_schema_registry(modules: Path, tmp_path: Path) -> None:
    seen = _run("kafkajs.cjs", modules, tmp_path)
    refused, unknown = seen.pop("refused"), seen.pop("unknown")
    assert seen == {
        "id": 1,
        "again": 1,
        "lookedUp": 1,
        "latest": 1,
        "byVersion": 1,
        "start": [0, 0, 0, 0, 1],
        "avro": {"id": 7},
        "json": {"id": 8},
        "protobuf": 9,
    }
    assert _REFUSED in refused["message"]
    assert (unknown["name"], unknown["status"]) == ("ResponseError", 404)
