"""Parquet: a folder for each batch, which is there whole or not at all.

    <table>/tally_batch=<query>.<n>/part-….parquet     what readers see
    <table>/tally_batch=<query>.<n>/_tally.json        its files and counts
    <table>/_tally/schema.json                         all columns of the table
    <table>/_tally/staging/<query>.<n>/                what is being written; readers pass over names that begin with _

Both the rows that fit and those for the quarantine are staged by one job, each as a folder with the list of its files.
Then the folder of the rows is renamed, then that of the quarantine. A crash before a rename leaves only staging, which
the retry writes anew; a crash between the two leaves the rows, and the retry adds the quarantine alone. Renames are
atomic on the file systems that are taken here; object stores have none, for those there are Delta and Iceberg.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.fs as fs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from tallystick.errors import Unavailable, Unsupported
from tallystick.model.pipeline import Outcomes
from tallystick.spark.columns import FINDING, VALUE
from tallystick.spark.decoding.explaining import Explanation
from tallystick.spark.landing.arrow_files import BAD, COUNTS, DATA, QUARANTINE, WRITTEN, FileWriting
from tallystick.spark.landing.counts import Counts, counts_of
from tallystick.spark.landing.evolution import additions, conformed, merged
from tallystick.spark.landing.rows import BATCH, BATCH_FIELD, batch_name, fields_of, landed_type, origin_columns
from tallystick.spark.landing.table import Table
from tallystick.spark.quarantine import (
    BATCH_ID,
    QUARANTINED_AT,
    QUERY,
    REPLAYED_AT,
    record_columns,
)
from tallystick.spark.quarantine import QUARANTINE as QUARANTINE_TYPE

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
    rows: DataFrame, table: Table, query: str, batch_id: int, at: datetime, explanation: Explanation | None
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
    for folder in (good, bad):
        folder.system.delete_dir_contents(folder.staged(batch), missing_dir_ok=True)
    about = {
        QUERY: pa.scalar(query),
        BATCH_ID: pa.scalar(batch_id, pa.int64()),
        QUARANTINED_AT: pa.scalar(at, pa.timestamp("us", "UTC")),
        REPLAYED_AT: pa.scalar(None, pa.timestamp("us", "UTC")),
    }
    writing = FileWriting(
        good.staged_uri(batch), bad.staged_uri(batch), about, table.partition_by, _is_record(rows), explanation
    )
    counts, files = _stage(_sent(rows, whole), writing)
    if landed is None:
        if whole != known:
            _keep(good, whole)
        if files[DATA]:
            _commit(good, batch, files[DATA], counts)
    if files[QUARANTINE]:
        if _schema(bad) is None:
            _keep(bad, QUARANTINE_TYPE)
        _commit(bad, batch, files[QUARANTINE], counts)
    for folder in (good, bad):
        if folder.system.get_file_info(folder.staged(batch)).type != fs.FileType.NotFound:
            folder.system.delete_dir(folder.staged(batch))
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


def _is_record(rows: DataFrame) -> bool:
    return isinstance(rows.schema[VALUE].dataType, StructType)


def _sent(rows: DataFrame, table: StructType) -> DataFrame:
    """What workers get: the value whole, where it came from, and the record of rows that do not fit."""
    have, value = fields_of(rows), F.col(VALUE)
    if _is_record(rows):
        wanted = StructType([table[name] for name in have.names])
        value = conformed(value, have, wanted)
    else:
        value = conformed(value, have[VALUE].dataType, table[VALUE].dataType)
    bad = F.when(F.col(FINDING).isNotNull(), F.struct(*record_columns()))
    return rows.select(value.alias(VALUE), *origin_columns(), bad.alias(BAD))


def _stage(sent: DataFrame, writing: FileWriting) -> tuple[dict[str, Outcomes], dict[str, dict[str, int]]]:
    counts: dict[str, Outcomes] = {}
    files: dict[str, dict[str, int]] = {DATA: {}, QUARANTINE: {}}
    for row in sent.mapInArrow(writing, WRITTEN).collect():
        if row["kind"] == COUNTS:
            for name, counted in counts_of(json.loads(row["counts"])).items():
                counts[name] = counts.get(name, Outcomes()) + counted
        else:
            files[row["kind"]][row["file"]] = row["bytes"]
    return counts, files


def _commit(folder: _Folder, batch: str, files: dict[str, int], counts: dict[str, Outcomes]) -> None:
    staged, final = folder.staged(batch), folder.final(batch)
    for found in folder.system.get_file_info(fs.FileSelector(staged, recursive=True)):
        # Of attempts that failed, whose rows are in the files of others.
        if found.is_file and found.path.removeprefix(f"{staged}/") not in files:
            folder.system.delete_file(found.path)
    told = {"files": files, "counts": Counts(counts).as_dict()}
    _write(folder, f"{staged}/{_LIST}", told)
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
