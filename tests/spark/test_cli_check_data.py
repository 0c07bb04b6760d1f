"""`tally check --data`: a candidate is tried on the records that are there, on topics and on tables."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml
from pyspark.sql import SparkSession

from tallystick.spark import Cluster, Table, decode, land, read_topic
from tests.contracts.clusters import Served
from tests.e2e.topics import unused
from tests.spark.commands import Call, commands
from tests.spark.mixed import VERSIONS, Filled, fill

COUNT = 60


@pytest.fixture(scope="module")
def topic() -> str:
    return unused("tried")


@pytest.fixture(scope="module")
def filled(spark: SparkSession, served: Served, topic: str) -> Filled:
    return fill(spark, Cluster(served.pulsar), topic, COUNT, seed=4, bad=0.2)


@pytest.fixture
def tally(filled: Filled, spark: SparkSession, served: Served, capsys: pytest.CaptureFixture[str]) -> Call:
    return commands(capsys, "--cluster", served.pulsar)


def _file(folder: Path, text: str) -> str:
    file = folder / "order.avsc"
    file.write_text(text)
    return str(file)


def _with_text_id() -> str:
    return VERSIONS[2].replace('{"name": "id", "type": "long"}', '{"name": "id", "type": "string"}')


def test_counts_and_reasons_are_those_of_the_records(tally: Call, filled: Filled, topic: str, tmp_path: Path) -> None:
    said = tally("check", _file(tmp_path, VERSIONS[2]), "--data", topic, "--output", "json")
    assert said.code == 1
    report = said.json
    assert (report["records"], report["unreadable"], report["tombstones"]) == (
        COUNT,
        len(filled.bad),
        len(filled.deleted),
    )
    assert report["read"] == COUNT - len(filled.bad)
    versions = {each["version"]: each["records"] - each["unreadable"] for each in report["written"]}
    assert {number: list(filled.good.values()).count(number) for number in (1, 2, 3)} == {
        number: versions[number] for number in (1, 2, 3)
    }
    assert sum(finding["records"] for finding in report["findings"]) == len(filled.bad)
    for finding in report["findings"]:
        assert 1 <= len(finding["examples"]) <= min(finding["records"], 5)
        assert {example["topic"] for example in finding["examples"]} == {topic}


def test_a_candidate_that_reads_nothing_is_explained(tally: Call, filled: Filled, topic: str, tmp_path: Path) -> None:
    said = tally("check", _file(tmp_path, _with_text_id()), "--data", topic)
    assert said.code == 1
    assert said.out.startswith(f"✗ {tmp_path}/order.avsc does not read ")
    assert f"{topic} version 3: 0 of " in said.out
    assert "long" in said.out
    assert "string" in said.out


def test_a_table_of_frames_and_a_quarantine_can_be_tried(
    tally: Call, filled: Filled, topic: str, tmp_path: Path, spark: SparkSession, served: Served
) -> None:
    cluster = Cluster(served.pulsar)
    decoded = decode(read_topic(spark, cluster, topic), cluster)
    table = Table("parquet", str(tmp_path / "orders"))
    land(decoded, table, query="landing", batch_id=0)
    file = _file(tmp_path, VERSIONS[2])
    said = tally("check", file, "--data", table.quarantine.place, "--output", "json")
    assert (said.code, said.json["records"], said.json["unreadable"]) == (1, len(filled.bad), len(filled.bad))
    frames = str(tmp_path / "frames")
    good = decoded.where("finding is null").drop("value", "finding")
    good.write.format("delta").save(frames)
    said = tally("check", file, "--data", frames)
    count = len(filled.good) + len(filled.deleted)
    assert (said.code, f"reads all {count} records of {frames}" in said.out) == (0, True)
    said = tally("check", file, "--data", table.place)
    assert (said.code, "does not hold records as they came" in said.err) == (2, True)


def test_programs_get_their_forms(tally: Call, filled: Filled, topic: str, tmp_path: Path) -> None:
    file = _file(tmp_path, _with_text_id())

    def document(form: str) -> Any:
        said = tally("check", file, "--data", topic, "--limit", "3", "--output", form)
        assert said.code == 1
        return said.out

    assert yaml.safe_load(document("yaml"))["records"] == 3
    assert document("github").startswith("::error file=")
    [first, *_] = json.loads(document("gitlab"))
    assert {"description", "check_name", "fingerprint", "severity", "location"} == set(first)
    suites = ElementTree.fromstring(document("junit"))
    assert int(suites.attrib["failures"]) >= 1


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--strategy", "FULL"], "--strategy compares schemas, --data reads records"),
        (["--subject", "orders"], "--subject compares schemas, --data reads records"),
        (["--since", "soon"], "--since soon: this is no time"),
    ],
)
def test_what_does_not_go_together_is_refused(tally: Call, tmp_path: Path, more: list[str], reason: str) -> None:
    said = tally("check", _file(tmp_path, VERSIONS[0]), "--data", "orders", *more)
    assert (said.code, reason in said.err) == (2, True)


def test_only_one_schema_is_tried(tally: Call, tmp_path: Path) -> None:
    file = _file(tmp_path, VERSIONS[0])
    said = tally("check", file, file, "--data", "orders")
    assert (said.code, "name the new schema alone" in said.err) == (2, True)
