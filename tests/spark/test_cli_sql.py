"""`tally sql` on the embedded broker: topics as tables, what does not fit told apart, reasons in one line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from tallystick.spark import Cluster
from tests.contracts.clusters import Served
from tests.e2e.topics import unused
from tests.spark.commands import Call, commands
from tests.spark.mixed import Filled, fill

COUNT = 60


@pytest.fixture(scope="module")
def topic() -> str:
    return unused("sql.orders")


@pytest.fixture(scope="module")
def filled(spark: SparkSession, served: Served, topic: str) -> Filled:
    made = fill(spark, Cluster(served.pulsar), topic, COUNT, seed=4, bad=0.2)
    assert made.bad
    assert made.deleted
    return made


@pytest.fixture
def tally(filled: Filled, spark: SparkSession, served: Served, capsys: pytest.CaptureFixture[str]) -> Call:
    return commands(capsys, "--cluster", served.pulsar)


def test_fields_are_columns_and_every_version_is_read_by_the_latest(tally: Call, filled: Filled, topic: str) -> None:
    query = f"select id, note, tags, _key, _schema_version, _position p, _topic t from `{topic}` where id is not null"
    said = tally("sql", query, "--output", "json")
    assert said.code == 0, said.err
    rows = [json.loads(line) for line in said.out.splitlines()]
    assert {row["_key"]: row["_schema_version"] for row in rows} == filled.good
    assert all(row["_key"] == f"{row['id']:06}" and row["t"] == topic for row in rows)
    assert {type(row["tags"]) for row in rows} == {list}
    assert len({tuple(row["p"].values()) for row in rows}) == len(rows)


def test_what_does_not_fit_is_counted_and_can_be_asked_for(tally: Call, filled: Filled, topic: str) -> None:
    said = tally("sql", f"select rule, count(*) n from `{topic}__quarantine` group by rule", "--output", "json")
    assert sum(json.loads(line)["n"] for line in said.out.splitlines()) == len(filled.bad)
    assert said.err == (
        f"{topic}: {len(filled.bad)} records do not fit and are left out; --findings shows them, and so does the table"
        f" {topic}__quarantine\n"
    )
    shown = tally("sql", f"select count(*) from `{topic}`", "--findings")
    assert shown.out.split() == ["count(1)", str(len(filled.good) + len(filled.deleted))]
    assert shown.err.count("RECORD_DOES_NOT_FIT") + shown.err.count("RECORD_SCHEMA_") == len(filled.bad)


def test_people_see_a_table_and_programs_what_they_ask_for(
    tally: Call, topic: str, tmp_path: Path, spark: SparkSession
) -> None:
    query = "select id, cast(id as decimal(5,2)) d, timestamp'2026-01-31 12:00:00' at from o where id > 50 order by id"
    name = f"--from={topic}=o"
    table = tally("sql", query, name, "--limit", "2")
    first, second, *rest = table.out.splitlines()
    assert first.split() == ["id", "d", "at"]
    assert second.split()[1:] == [f"{second.split()[0]}.00", "2026-01-31T12:00:00Z"]
    assert len(rest) == 1
    documents = list(yaml.safe_load_all(tally("sql", query, name, "--output", "yaml", "--limit", "2").out))
    assert [str(document["id"]) for document in documents] == [second.split()[0], rest[0].split()[0]]
    target = str(tmp_path / "out")
    assert tally("sql", query, name, "--output", "parquet", "--to", target).out == ""
    assert spark.read.parquet(target).columns == ["id", "d", "at"]
    again = tally("sql", query, name, "--output", "parquet", "--to", target)
    assert (again.code, "there is something already" in again.err) == (2, True)


def test_versions_and_times_can_be_chosen(tally: Call, topic: str) -> None:
    first = tally("sql", f"select * from `{topic}` limit 1", "--reader", "1", "--output", "json")
    assert list(json.loads(first.out))[:4] == ["id", "customer", "total", "_topic"]
    none = tally("sql", f"select count(*) n from `{topic}`", "--since", "2090-01-01", "--output", "json")
    assert json.loads(none.out) == {"n": 0}


@pytest.mark.parametrize(
    ("query", "more", "code", "reason"),
    [
        ("select id frm {}", [], 2, "Syntax error at or near"),
        ("select idd from `{}`", [], 2, "with name `idd` cannot be resolved. Did you mean one of the following? [`id`"),
        ("select id / 0 from `{}` where id is not null", [], 2, "Division by zero"),
        ("select * from some.orders", [], 2, "a topic whose name has dots stands in backticks: `"),
        ("select * from `{}x`", [], 1, "there is no topic "),
        ("select id, id from `{}`", ["--output", "json"], 2, "two columns are called id"),
        ("select 1", ["--since", "soon"], 2, "--since soon: this is no time"),
        ("select 1", ["--output", "parquet"], 2, "where is the Parquet to be written?"),
        ("select 1", ["--reader", "zero"], 2, "--reader zero: versions are 1, 2, 3"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(
    tally: Call, topic: str, query: str, more: list[str], code: int, reason: str
) -> None:
    said = tally("sql", query.format(topic), *more)
    assert said.code == code
    [line] = [line for line in said.err.splitlines() if not line.startswith("  fix")]
    assert reason in line


def test_topics_of_nearly_the_same_name_are_named(tally: Call, topic: str) -> None:
    said = tally("sql", f"select * from `{topic}x`")
    assert f"did you mean {topic}" in said.err


def test_a_cluster_that_is_away_is_told(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    said = commands(capsys, "--cluster", "pulsar://127.0.0.1:1")("sql", "select * from orders")
    assert (said.code, "127.0.0.1:1" in said.err) == (3, True)


def test_what_is_not_installed_is_named(tmp_path: Path) -> None:
    program = "import sys; sys.modules['pyspark'] = None; from tallystick.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "sql", "select 1"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, "pip install 'tallystick[spark]'" in done.stderr) == (1, True)
    environment = {"PATH": str(tmp_path), "HOME": os.environ["HOME"]}
    program = "from tallystick.cli.main import main; main()"
    arguments = [sys.executable, "-c", program, "sql", "select 1"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, env=environment)
    assert (done.returncode, "Spark needs Java 17 or newer" in done.stderr) == (1, True)


def test_a_process_of_its_own_shows_nothing_of_sparks(served: Served, filled: Filled, topic: str) -> None:
    program = "from tallystick.cli.main import main; main()"
    query = f"select max(id) biggest from `{topic}` having 1 / 0 > max(id)"
    arguments = ["sql", query, "--cluster", served.pulsar, "--master", "local[1]", "--conf", "spark.driver.memory=512m"]
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith("tally: error: Spark could not finish: Division by zero.")
