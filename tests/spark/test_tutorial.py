"""The files of the tutorial, as they stand there, on a real Pulsar and a real Kafka: only the URL is another one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contracts.clusters import CLUSTERS, Cluster
from tests.maven import missing
from tools.examples import ROOT, File, examples

PAGE = ROOT / "docs" / "tutorial" / "spark.md"


@pytest.mark.parametrize("name", ["pulsar", "kafka"])
def test_the_job_of_the_tutorial_runs_on_other_clusters(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    reason = missing()
    if reason is not None:
        pytest.skip(f"Spark cannot run here: {reason}")
    cluster: Cluster = CLUSTERS[name](request)
    for file in examples(PAGE.read_text()):
        if isinstance(file, File):
            (tmp_path / file.name).write_text(file.text)
    registry = [cluster.settings["registry"]] if "registry" in cluster.settings else []
    where = [cluster.url, cluster.topic("tutorial", partitions=1 if name == "kafka" else None), *registry]
    assert _run(tmp_path, "fill.py", *where).count("sent ") == 3
    shown = _run(tmp_path, "job.py", *where)
    assert [line.split("|")[1].strip() for line in shown.splitlines() if "|" in line][1:4] == ["1", "2", "3"]
    assert shown in PAGE.read_text()


def _run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=600, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return done.stdout
