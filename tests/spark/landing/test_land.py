"""Landing, on every table format: each good row once in the table, each bad one once in the quarantine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType

from tallystick.errors import IncompatibleSchema, InvalidArgument, Unsupported
from tallystick.model.pipeline import Outcomes
from tallystick.spark.columns import FRAMES
from tallystick.spark.landing import delta, iceberg, parquet
from tallystick.spark.landing.counts import Counts, SchemaKey
from tallystick.spark.landing.land import land
from tallystick.spark.landing.table import Table
from tallystick.spark.quarantine import opened, quarantined, replayable
from tests.spark.landing.records import AT, ORDER, REASON, TOPIC, decoded, order

FORMATS = ["parquet", "delta", "iceberg"]
V1, V2 = SchemaKey(TOPIC, None, 1), SchemaKey(TOPIC, None, 2)
Tables = Callable[..., Table]


@pytest.fixture(params=FORMATS)
def tables(request: pytest.FixtureRequest, tmp_path: Path) -> Tables:
    def table(name: str = "orders", **settings: Any) -> Table:
        place = f"tables.{tmp_path.name.replace('-', '_')}.{name}" if request.param == "iceberg" else tmp_path / name
        return Table(request.param, str(place), **settings)

    return table


@pytest.fixture
def rows(spark: SparkSession) -> DataFrame:
    good = [(order(n, "de" if n % 3 else "fr"), 1 + n % 2) for n in range(10)]
    return decoded(spark, ORDER, [*good, ("bad", 1), ("bad", 2), ("bad", 2), (None, None)]).cache()


def ids(spark: SparkSession, table: Table) -> list[int]:
    return sorted(row.id for row in opened(spark, table).where("not tally_is_deleted").select("id").collect())


def test_rows_land_and_the_others_are_in_quarantine(spark: SparkSession, tables: Tables, rows: DataFrame) -> None:
    table = tables()
    counts = land(rows, table, query="q", batch_id=0, schemas=[V1, V2])
    assert counts.records == Outcomes(good=10, quarantined=3, tombstones=1)
    assert counts.by_schema["orders v1"] == Outcomes(5, 1, 0)
    assert counts.by_schema["orders v2"] == Outcomes(5, 2, 0)
    landed = opened(spark, table)
    assert ids(spark, table) == list(range(10))
    (first,) = landed.where("id = 0").collect()
    assert (first.country, first.tags, [line.sku for line in first.lines]) == ("fr", {"a": 0}, ["sku", None])
    assert (first.tally_topic, first.tally_position.entry, bytes(first.tally_key)) == (TOPIC, 0, b"key 0")
    assert (first.tally_schema_version, first.tally_schema_id, first.tally_batch) == (1, None, "q.0")
    assert first.tally_publish_time.timestamp() == AT.timestamp()
    (gone,) = landed.where("tally_is_deleted").collect()
    assert (gone.id, gone.lines, bytes(gone.tally_key)) == (None, None, b"key 13")
    kept = quarantined(spark, table)
    for row in kept.collect():
        assert (tuple(row.finding), row.query, row.batch_id, row.replayed_at) == (REASON, "q", 0, None)
        assert '"rule":"RECORD_DOES_NOT_FIT"' in row.finding_json
        assert row.quarantined_at.timestamp() > AT.timestamp()
    bad = rows.where("finding is not null").select(*FRAMES.names)
    assert replayable(kept).schema.simpleString() == FRAMES.simpleString()
    assert sorted(map(str, replayable(kept).collect())) == sorted(map(str, bad.collect()))


def test_a_batch_lands_once_whatever_happens_between_the_two_writes(
    spark: SparkSession, tables: Tables, rows: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tables()
    first = land(rows, table, query="q", batch_id=1)
    module = {"parquet": parquet, "delta": delta, "iceberg": iceberg}[table.format]
    name = "_commit" if module is parquet else "append"
    write = getattr(module, name)
    calls = []

    def failing(*arguments: Any, **named: Any) -> None:
        calls.append(name)
        if len(calls) == 2:
            raise ConnectionError("the driver is gone")
        write(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(module, name, failing)
        with pytest.raises(ConnectionError):
            land(rows, table, query="q", batch_id=2)
    assert (len(ids(spark, table)), quarantined(spark, table).count()) == (20, 3)
    again = land(rows, table, query="q", batch_id=2)
    repeated = land(rows, table, query="q", batch_id=2)
    assert again.records == repeated.records == first.records == Outcomes(10, 3, 1)
    assert (first.is_repeated, repeated.is_repeated) == (False, True)
    # Another query has batches of its own.
    assert not land(rows, table, query="other", batch_id=2).is_repeated
    assert ids(spark, table) == sorted([*range(10)] * 3)
    assert quarantined(spark, table).count() == 9


def test_a_table_grows_with_its_schema(spark: SparkSession, tables: Tables) -> None:
    table = tables()
    land(decoded(spark, "id int, a struct<x:int>, n float", [((1, (1,), 0.5), 1)]), table, query="q", batch_id=0)
    newer = "id int, a struct<x:int,y:string>, l array<struct<z:int>>, n float"
    land(decoded(spark, newer, [((2, (2, "y"), [(5,)], None), 2)]), table, query="q", batch_id=1)
    # An old reader goes on, and a smaller type fits into a larger one.
    land(
        decoded(spark, "id short, a struct<x:byte>, l array<struct<z:int>>", [((3, (3,), None), 1)]),
        table,
        query="q",
        batch_id=2,
    )
    found = opened(spark, table).orderBy("id").select("id", "a.x", "a.y", "l", "n").collect()
    assert [tuple(row) for row in found] == [
        (1, 1, None, None, 0.5),
        (2, 2, "y", [(5,)], None),
        (3, 3, None, None, None),
    ]


def test_a_table_that_cannot_take_the_rows_is_left_alone(spark: SparkSession, tables: Tables) -> None:
    table = tables()
    land(decoded(spark, "id int, a struct<x:int>", [((1, (1,)), 1)]), table, query="q", batch_id=0)
    changed = decoded(spark, "id int, a struct<x:string>, b long", [((1, ("1",), 2), 1), ("bad", 1)])
    with pytest.raises(IncompatibleSchema, match=r"column a\.x is int, the rows have string") as refused:
        land(changed, table, query="q", batch_id=1)
    assert refused.value.findings[0].rule == "TABLE_COLUMN_TYPE_CHANGED"
    assert "b" not in opened(spark, table).columns
    assert (ids(spark, table), quarantined(spark, table).count()) == ([1], 0)


def test_tables_are_partitioned_by_columns(spark: SparkSession, tables: Tables, rows: DataFrame) -> None:
    table = tables(partition_by=("country", "tally_topic"))
    assert land(rows, table, query="q", batch_id=0).records == Outcomes(10, 3, 1)
    landed = opened(spark, table)
    assert ids(spark, table) == list(range(10))
    files = {row[0].rpartition("/")[0] for row in landed.select(F.input_file_name()).collect()}
    assert len({file for file in files if "country=de" in file}) >= 1
    assert landed.where("country = 'fr'").count() == 4
    assert landed.where("tally_is_deleted and country is null").count() == 1


def test_values_that_are_no_records_are_one_column(spark: SparkSession, tables: Tables) -> None:
    table = tables()
    counts = land(decoded(spark, LongType(), [(5, 1), (6, 1), ("bad", 1), (None, 1)]), table, query="q", batch_id=0)
    assert counts.records == Outcomes(2, 1, 1)
    assert sorted(row.value for row in opened(spark, table).where("not tally_is_deleted").collect()) == [5, 6]


def test_a_batch_without_good_rows(spark: SparkSession, tables: Tables) -> None:
    table = tables()
    counts = land(decoded(spark, "id int", [("bad", 1)]), table, query="q", batch_id=0)
    assert counts.records == Outcomes(0, 1, 0)
    assert land(decoded(spark, "id int", []), table, query="q", batch_id=1).records == Outcomes()
    assert opened(spark, table).count() == 0
    assert quarantined(spark, table).count() == 1


def test_there_may_be_no_quarantine(spark: SparkSession, tables: Tables) -> None:
    assert quarantined(spark, tables("none")).count() == 0
    assert replayable(quarantined(spark, tables("none"))).schema.names == FRAMES.names


@pytest.mark.parametrize(
    ("kind", "told"), [("id int, tally_TOPIC int", "tally_TOPIC"), ("id int, ID int", "upper and lower case")]
)
def test_columns_of_one_name_are_refused(spark: SparkSession, tmp_path: Path, kind: str, told: str) -> None:
    with pytest.raises(IncompatibleSchema) as refused:
        land(decoded(spark, kind, [((1, 2), 1)]), Table("parquet", str(tmp_path / "t")), query="q", batch_id=0)
    assert told in refused.value.findings[0].message
    assert not (tmp_path / "t").exists()


def test_what_cannot_be_landed_is_told(spark: SparkSession, tmp_path: Path, rows: DataFrame) -> None:
    table = Table("parquet", str(tmp_path / "t"))
    with pytest.raises(InvalidArgument, match="land what `decode` gives"):
        land(rows.drop("finding"), table, query="q", batch_id=0)
    with pytest.raises(InvalidArgument, match="is no name"):
        land(rows, table, query="a/b", batch_id=0)
    with pytest.raises(InvalidArgument, match="counted from 0"):
        land(rows, table, query="q", batch_id=-1)
    with pytest.raises(InvalidArgument, match="no column 'nowhere'"):
        land(rows, Table("parquet", table.place, ("nowhere",)), query="q", batch_id=0)
    with pytest.raises(InvalidArgument, match="'orc' is none"):
        Table("orc", "t")
    with pytest.raises(Unsupported, match="use Delta or Iceberg"):
        land(rows, Table("parquet", "nowhere://bucket/t"), query="q", batch_id=0)


def test_readers_of_parquet_see_nothing_of_a_batch_that_failed(
    spark: SparkSession, tmp_path: Path, rows: DataFrame
) -> None:
    table = Table("parquet", str(tmp_path / "t"))
    land(rows, table, query="q", batch_id=0)
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        land(
            rows.withColumn("value", F.col("value").withField("id", F.expr("value.id / (value.id - 5)").cast("long"))),
            table,
            query="q",
            batch_id=1,
        )
    staged = [path.name for path in (tmp_path / "t" / "_tally" / "staging").rglob("*.parquet")]
    assert spark.read.parquet(table.place).count() == 11
    assert land(rows, table, query="q", batch_id=1) == Counts(land(rows, table, query="r", batch_id=1).by_schema)
    assert spark.read.parquet(table.place).count() == 33, staged
    assert list((tmp_path / "t" / "_tally" / "staging").iterdir()) == []
