"""Parquet: a folder for each batch, which is there whole or not at all.

    <table>/tally_batch=<query>.<n>/part-….parquet     what readers see
    <table>/tally_batch=<query>.<n>/_tally.json        its counts
    <table>/_tally/schema.json                         all columns of the table
    <table>/_tally/staging/<query>.<n>/                what is being written; readers pass over names that begin with _

The rows that fit are staged by one job, which counts all of them, and their folder is renamed; then, if there are some,
the others the same way. A crash before a rename leaves only staging, which the retry writes anew; a crash between the
two leaves the rows, and the retry adds the quarantine alone. Renames are atomic on the file systems that are taken
here; object stores have none, for those there are Delta and Iceberg.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.fs as fs
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql.types import StructType

from tallystick.errors import Unavailable, Unsupported
from tallystick.model.pipeline import Outcomes
from tallystick.spark.landing import catalog
from tallystick.spark.landing.counts import Counts, SchemaKey, counted, counts_of, fitting
from tallystick.spark.landing.evolution import additions, merged
from tallystick.spark.landing.rows import BATCH, BATCH_FIELD, as_landed, batch_name, landed_type
from tallystick.spark.landing.table import Table
from tallystick.spark.quarantine import QUARANTINE as QUARANTINE_TYPE
from tallystick.spark.quarantine import AsQuarantine

_OURS = "_tally"
_LIST = "_tally.json"
_RENAMING = {"local", "hdfs"}


@dataclass(frozen=True, slots=True)
class _Folder:
    """A table's folder."""

    uri: str
    system: fs.FileSystem
    path: str

    def final(self, batch: str) -> str:
        return f"{self.path}/{BATCH}={batch}"

    def staged(self, batch: str) -> str:
        return f"{self.path}/{_OURS}/staging/{batch}"

    def staged_uri(self, batch: str) -> str:
        return f"{self.uri}/{_OURS}/staging/{batch}"

    @property
    def schema(self) -> str:
        return f"{self.path}/{_OURS}/schema.json"


def land(
    rows: DataFrame,
    table: Table,
    query: str,
    batch_id: int,
    as_quarantine: AsQuarantine,
    schemas: tuple[SchemaKey, ...],
) -> Counts:
    batch = batch_name(query, batch_id)
    good, bad = _folder(table), _folder(table.quarantine)
    landed = _committed(good, batch)
    if landed is not None and (not _quarantined(landed) or _committed(bad, batch) is not None):
        return Counts(landed, is_repeated=True)
    wanted = landed_type(rows)
    known = _schema(good)
    if known is not None:
        additions(known, wanted, table.place)
    whole = wanted if known is None else merged(known, wanted)
    counts = landed
    if counts is None:
        watch = Observation()
        _stage(good, batch, fitting(catalog.shaped(as_landed(rows), whole), watch, schemas), table.partition_by)
        counts = counted(watch.get, schemas)
        if whole != known:
            _keep(good, whole)
        _commit(good, batch, counts)
    if _quarantined(counts):
        _stage(bad, batch, as_quarantine(rows))
        if _schema(bad) is None:
            _keep(bad, QUARANTINE_TYPE)
        _commit(bad, batch, counts)
    return Counts(counts)


def read(spark: SparkSession, table: Table) -> DataFrame:
    """The table with all columns that it ever had."""
    schema = _schema(_folder(table))
    assert schema is not None
    return spark.read.schema(StructType([*schema.fields, BATCH_FIELD])).parquet(table.place)


def is_there(table: Table) -> bool:
    return _schema(_folder(table)) is not None


def _folder(table: Table) -> _Folder:
    try:
        system, path = fs.FileSystem.from_uri(table.place)
    except (pa.ArrowInvalid, OSError) as e:
        raise Unsupported(f"no Parquet table can be at {table.place}: {e}; use Delta or Iceberg there") from e
    if system.type_name not in _RENAMING:
        raise Unsupported(
            f"{table.place}: a batch becomes visible by a rename, and {system.type_name} has none that is atomic; "
            "use Delta or Iceberg there"
        )
    return _Folder(table.place, system, path)


def _stage(folder: _Folder, batch: str, rows: DataFrame, partition_by: Sequence[str] = ()) -> None:
    writer = rows.write.mode("overwrite")
    if partition_by:
        writer = writer.partitionBy(*partition_by)
    writer.parquet(folder.staged_uri(batch))


def _commit(folder: _Folder, batch: str, counts: dict[str, Outcomes]) -> None:
    staged, final = folder.staged(batch), folder.final(batch)
    _write(folder, f"{staged}/{_LIST}", {"counts": Counts(counts).as_dict()})
    if folder.system.get_file_info(final).type != fs.FileType.NotFound:
        folder.system.delete_dir(final)
    folder.system.move(staged, final)


def _committed(folder: _Folder, batch: str) -> dict[str, Outcomes] | None:
    """The counts of a batch that is there whole."""
    told = _read(folder, f"{folder.final(batch)}/{_LIST}")
    return None if told is None else counts_of(told["counts"])


def _quarantined(counts: dict[str, Outcomes]) -> int:
    return sum(counted.quarantined for counted in counts.values())


def _schema(folder: _Folder) -> StructType | None:
    told = _read(folder, folder.schema)
    return None if told is None else StructType.fromJson(told)


def _keep(folder: _Folder, schema: StructType) -> None:
    # Before the rows that need it: a table that says it has a column that no file has reads it as null.
    folder.system.create_dir(f"{folder.path}/{_OURS}", recursive=True)
    _write(folder, f"{folder.schema}.new", json.loads(schema.json()))
    folder.system.move(f"{folder.schema}.new", folder.schema)


def _read(folder: _Folder, path: str) -> Any:
    try:
        with folder.system.open_input_stream(path) as stream:
            return json.loads(stream.read())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as e:
        raise Unavailable(f"{path} cannot be read: {e}") from e


def _write(folder: _Folder, path: str, value: Any) -> None:
    with folder.system.open_output_stream(path) as stream:
        stream.write(json.dumps(value).encode())
