"""What workers do for a Parquet table: whole Arrow batches into files, the good rows apart from the others.

Spark's own writer takes most of a landing's time; Arrow's takes a part of it. One pass writes both kinds of rows and
counts them, so that nothing is decoded twice.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as fs
import pyarrow.parquet as pq
from pyspark import TaskContext

from tallystick.model.pipeline import Outcomes
from tallystick.spark.columns import FINDING, SCHEMA_ID, SCHEMA_VERSION, TOPIC, VALUE
from tallystick.spark.decoding.explaining import Explanation
from tallystick.spark.landing.counts import SchemaKey
from tallystick.spark.landing.rows import IS_DELETED, PREFIX
from tallystick.spark.quarantine import FINDING_JSON

BAD = "tally_bad"
"""The column with the whole record, null for rows that fit."""
WRITTEN = "kind string, file string, bytes long, counts string"
DATA, QUARANTINE, COUNTS = "data", "quarantine", "counts"

_ROWS_OF_GROUP = 512 * 1024
_MOST_OPEN = 64
_MOST_PARTITIONS = 10_000
_KEY = [PREFIX + TOPIC, PREFIX + SCHEMA_ID, PREFIX + SCHEMA_VERSION]

Outcome = tuple[SchemaKey, str]


@dataclass(frozen=True, slots=True)
class FileWriting:
    """Called with the batches of one task; yields a row for each file, and one with the counts. Pickles."""

    data: str
    """Where files of good rows go."""
    quarantine: str
    about: dict[str, Any] = field(default_factory=dict)
    """What rows of the quarantine have beside the record."""
    partition_by: tuple[str, ...] = ()
    is_record: bool = True
    explanation: Explanation | None = None
    """Of the rows that do not fit."""

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = TaskContext.get()
        assert task is not None
        # An attempt that fails leaves files of its own name, which nobody reports.
        name = f"part-{task.partitionId():05d}-{task.taskAttemptId()}"
        counts: Counter[Outcome] = Counter()
        with ExitStack() as closing:
            data = _opened(self.data, name, self.partition_by)
            quarantine = _opened(self.quarantine, name)
            closing.push(data)
            closing.push(quarantine)
            for batch in batches:
                is_bad = batch.column(BAD).is_valid()
                _count(counts, batch, is_bad)
                found = is_bad.true_count
                if found:
                    quarantine.write(self._kept(batch.column(BAD).filter(is_bad)))
                    batch = batch.filter(pc.invert(is_bad))
                if batch.num_rows:
                    data.write(self._flat(batch))
        rows = [(kind, *file) for kind, files in ((DATA, data), (QUARANTINE, quarantine)) for file in files.written()]
        yield _reported([(*row, None) for row in rows] + [(COUNTS, None, None, _as_text(counts))])

    def _flat(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The record's fields side by side with ours."""
        value = batch.column(VALUE)
        others = [name for name in batch.schema.names if name not in (VALUE, BAD)]
        if self.is_record:
            names, columns = [f.name for f in value.type], value.flatten()
        else:
            names, columns = [VALUE], [value]
        return pa.RecordBatch.from_arrays([*columns, *(batch.column(name) for name in others)], names=[*names, *others])

    def _kept(self, records: pa.StructArray) -> pa.RecordBatch:
        columns = dict(zip([f.name for f in records.type], records.flatten(), strict=True))
        if self.explanation is not None:
            columns[FINDING] = self.explanation.findings(columns)
            columns[FINDING_JSON] = pa.array(
                [_as_json(finding) for finding in columns[FINDING].to_pylist()], pa.string()
            )
        columns |= {name: pa.repeat(value, len(records)) for name, value in self.about.items()}
        return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _as_json(finding: dict[str, Any]) -> str:
    """As Spark writes it: without what is null."""
    known = {name: value for name, value in finding.items() if value is not None}
    return json.dumps(known, ensure_ascii=False, separators=(",", ":"))


def _count(counts: Counter[Outcome], batch: pa.RecordBatch, is_bad: pa.BooleanArray) -> None:
    columns = [batch.column(name) for name in (*_KEY, IS_DELETED)]
    named = pa.table([*columns, is_bad], names=["t", "i", "v", "d", "b"])
    for row in named.group_by(["t", "i", "v", "d", "b"], use_threads=False).aggregate([([], "count_all")]).to_pylist():
        outcome = "quarantined" if row["b"] else "tombstones" if row["d"] else "good"
        counts[SchemaKey(row["t"], row["i"], row["v"]), outcome] += row["count_all"]


def _as_text(counts: Counter[Outcome]) -> str:
    by_schema: dict[str, Outcomes] = {}
    for (key, outcome), number in counts.items():
        by_schema[str(key)] = by_schema.get(str(key), Outcomes()) + Outcomes(**{outcome: number})
    return json.dumps({name: counted.as_dict() for name, counted in by_schema.items()})


def _reported(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    types = [pa.string(), pa.string(), pa.int64(), pa.string()]
    columns = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(types)]
    return pa.RecordBatch.from_arrays(columns, names=["kind", "file", "bytes", "counts"])


def _opened(folder: str, name: str, partition_by: tuple[str, ...] = ()) -> "_Files | _PartitionedFiles":
    system, path = fs.FileSystem.from_uri(folder)
    return _PartitionedFiles(system, path, name, partition_by) if partition_by else _Files(system, path, name)


def _encoding(schema: pa.Schema, but: Collection[str] = ()) -> dict[str, Any]:
    """Dictionaries for texts alone, which come again; to look for them among numbers and keys takes longer than all
    the rest, and makes files larger."""
    fields = (field for field in schema if field.name not in but)
    texts = [".".join(path) for field in fields for path in _texts(field, ())]
    return {"compression": "zstd", "compression_level": 1, "use_dictionary": texts or False}


def _texts(field: pa.Field, around: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The paths of texts in a column, as Parquet names them."""
    path, kind = (*around, field.name), field.type
    if pa.types.is_string(kind):
        yield path
    elif pa.types.is_struct(kind):
        for inner in kind:
            yield from _texts(inner, path)
    elif pa.types.is_list(kind):
        yield from _texts(kind.value_field.with_name("element"), (*path, "list"))
    elif pa.types.is_map(kind):
        yield from _texts(kind.key_field.with_name("key"), (*path, "key_value"))
        yield from _texts(kind.item_field.with_name("value"), (*path, "key_value"))


class _Files:
    """One file for a task, made by its first rows."""

    def __init__(self, system: fs.FileSystem, folder: str, name: str) -> None:
        self._system, self._folder = system, folder
        self._file = f"{name}.parquet"
        self._writer: pq.ParquetWriter | None = None

    def __enter__(self) -> "_Files":
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def write(self, batch: pa.RecordBatch) -> None:
        if self._writer is None:
            self._system.create_dir(self._folder, recursive=True)
            path = f"{self._folder}/{self._file}"
            self._writer = pq.ParquetWriter(path, batch.schema, filesystem=self._system, **_encoding(batch.schema))
        self._writer.write_batch(batch, _ROWS_OF_GROUP)

    def written(self) -> list[tuple[str, int]]:
        if self._writer is None:
            return []
        return [(self._file, self._system.get_file_info(f"{self._folder}/{self._file}").size)]


class _PartitionedFiles:
    """A file for each value of the columns that a table is partitioned by, in folders as Hive names them."""

    def __init__(self, system: fs.FileSystem, folder: str, name: str, columns: tuple[str, ...]) -> None:
        self._system, self._folder, self._name, self._columns = system, folder, name, columns
        self._number = 0
        self._batches: list[pa.RecordBatch] = []
        self._rows = 0
        self._files: list[tuple[str, int]] = []

    def __enter__(self) -> "_PartitionedFiles":
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._flush()

    def write(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)
        self._rows += batch.num_rows
        if self._rows >= _ROWS_OF_GROUP:
            self._flush()

    def written(self) -> list[tuple[str, int]]:
        return self._files

    def _flush(self) -> None:
        if not self._batches:
            return
        table = pa.Table.from_batches(self._batches)
        wanted = pa.schema([table.schema.field(name) for name in self._columns])
        ds.write_dataset(
            table,
            self._folder,
            basename_template=f"{self._name}-{self._number}-{{i}}.parquet",
            format="parquet",
            file_options=ds.ParquetFileFormat().make_write_options(**_encoding(table.schema, self._columns)),
            filesystem=self._system,
            partitioning=ds.partitioning(wanted, flavor="hive"),
            max_partitions=_MOST_PARTITIONS,
            max_open_files=_MOST_OPEN,
            max_rows_per_group=_ROWS_OF_GROUP,
            existing_data_behavior="overwrite_or_ignore",
            file_visitor=lambda file: self._files.append((file.path.removeprefix(f"{self._folder}/"), file.size)),
        )
        self._number += 1
        self._batches, self._rows = [], 0
