"""explained: why records do not fit, as our own codec tells it.

The JVM says of a payload only that it does not fit. The codec knows where and why, and takes its time: give it the bad
rows alone.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_type

from tallystick.errors import InvalidRecord, InvalidSchema
from tallystick.finding import Finding
from tallystick.formats import catalogue
from tallystick.formats.key_value import KeyValueSchema
from tallystick.formats.protobuf.types import ProtobufSchema
from tallystick.model.definition import References, SchemaDefinition
from tallystick.spark.cluster import Cluster
from tallystick.spark.columns import FINDING, FINDING_TYPE, PAYLOAD
from tallystick.spark.decoding.decode import DOES_NOT_FIT, Branch, Plan, told_by
from tallystick.spark.decoding.schemas import LATEST, Known, Reader, Schemas, Writer
from tallystick.wire import confluent_frame

REFUSED_BY_SPARK = "RECORD_REFUSED_BY_SPARK_ALONE"

_NUMBER = "_tally_number"
_Frozen = tuple[tuple[Any, SchemaDefinition], ...]


def explained(rows: DataFrame, cluster: Cluster | Schemas, *, reader: Reader = LATEST) -> DataFrame:
    """The decoded rows; findings that only say that a record does not fit have made way for the reason and its place.

    Where our codec reads what Spark refused, the finding says so. Runs a job to see which schemas the rows have.
    """
    if isinstance(cluster, Schemas):
        return _explained(rows, cluster, reader)
    with Schemas(cluster) as schemas:
        return _explained(rows, schemas, reader)


def _explained(rows: DataFrame, schemas: Schemas, reader: Reader) -> DataFrame:
    told = told_by(rows.where(_is_unexplained()))
    target = schemas.reader(sorted({one.topic for one in told}), reader)
    writers = [writer for one in told if (writer := schemas.writer(one)).schema is not None]
    if not writers:
        return rows
    pairs = [_Pair.of(writer, target) for writer in writers]
    finding_type, names = to_arrow_type(FINDING_TYPE), rows.columns

    def explain(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            told = zip(*(columns[name].to_pylist() for name in (PAYLOAD, FINDING, _NUMBER)), strict=True)
            findings = [finding if n is None else pairs[n].finding(payload, finding) for payload, finding, n in told]
            columns[FINDING] = pa.array(findings, finding_type)
            yield pa.RecordBatch.from_arrays([columns[name] for name in names], names)

    numbered = rows.select("*", F.when(_is_unexplained(), _number(writers, target)).alias(_NUMBER))
    return numbered.mapInArrow(explain, rows.schema)


def _is_unexplained() -> Column:
    is_fit = F.coalesce(F.col(FINDING).getField("rule") != DOES_NOT_FIT, F.lit(True))
    return ~is_fit & F.col(PAYLOAD).isNotNull()


def _number(writers: list[Writer], target: Known) -> Column:
    """Which writer a row has."""
    plan = Plan(target, FINDING_TYPE, tuple(Branch(writer, None, _NOTHING) for writer in writers))
    number = F.lit(None).cast("int")
    for i, branch in enumerate(plan.branches):
        number = F.when(plan.is_one_of([branch]), i).otherwise(number)
    return number


@dataclass(frozen=True, slots=True)
class _Pair:
    writer: SchemaDefinition
    reader: SchemaDefinition
    references: _Frozen
    is_framed: bool

    @classmethod
    def of(cls, writer: Writer, reader: Known) -> "_Pair":
        assert writer.schema is not None
        references: References = {**writer.schema.references, **reader.references}
        return cls(writer.schema.definition, reader.definition, tuple(references.items()), writer.is_framed)

    def finding(self, payload: bytes, known: dict[str, Any]) -> dict[str, Any]:
        """The reason why a payload does not fit; what was known before where there is no better one."""
        read = _reading(self)
        if read is None:
            return known
        try:
            read(payload)
        except InvalidRecord as e:
            if not e.findings:
                return known
            found = e.findings[0]
            path = None if found.new is None else found.new.path
            return {"rule": found.rule, "message": found.message, "fix": found.fix, "path": path}
        return {
            "rule": REFUSED_BY_SPARK,
            "message": f"Spark cannot read the payload, though a client can: {known['message']}",
            "fix": "read it with a client, or see where Spark's values end: dates, decimals, lengths",
            "path": "",
        }


@lru_cache(maxsize=256)
def _reading(pair: _Pair) -> Callable[[bytes], Any] | None:
    references = dict(pair.references)
    try:
        writer = catalogue.parse(pair.writer, references, is_lenient=True)
        reader = catalogue.parse(pair.reader, references, is_lenient=True)
    except InvalidSchema:
        return None
    if isinstance(writer, KeyValueSchema):
        return None  # half of it may be in the record's key
    read = catalogue.decoder_of(writer, reader if pair.writer.type == pair.reader.type else None)
    if not (pair.is_framed and isinstance(writer, ProtobufSchema) and not writer.is_native):
        return read
    own = None if writer.root is None else writer.index_of(writer.root)
    return lambda payload: read(_without_path(payload, own))


def _without_path(payload: bytes, own: confluent_frame.MessagePath | None) -> bytes:
    path, start = confluent_frame.read_path(payload, 0)
    if path != own:
        raise InvalidRecord("it is another message", [])
    return payload[start:]


_NOTHING = Finding(rule=DOES_NOT_FIT, message="", fix="")
