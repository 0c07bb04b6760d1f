"""explained: why records do not fit, as our own codec tells it.

The JVM says of a payload only that it does not fit. The codec knows where and why, and takes its time: give it the bad
rows alone.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_type

from tallystick.errors import InvalidRecord, InvalidSchema
from tallystick.formats import catalogue
from tallystick.formats.key_value import KeyValueSchema
from tallystick.formats.key_value.codec import decode_parts, parted
from tallystick.formats.protobuf.types import ProtobufSchema
from tallystick.model.definition import References, SchemaDefinition
from tallystick.model.key_value import KeyValueEncoding
from tallystick.spark.cluster import Cluster
from tallystick.spark.columns import FINDING, FINDING_TYPE, KEY, PAYLOAD
from tallystick.spark.decoding.decode import DOES_NOT_FIT, told_by
from tallystick.spark.decoding.schemas import LATEST, Known, Reader, Schemas, Writer
from tallystick.spark.decoding.telling import TELLING
from tallystick.wire import confluent_frame

REFUSED_BY_SPARK = "RECORD_REFUSED_BY_SPARK_ALONE"

_FINDINGS = to_arrow_type(FINDING_TYPE)
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
    told = told_by(rows.where(F.col(FINDING).getField("rule") == DOES_NOT_FIT))
    target = schemas.reader(sorted({one.topic for one in told}), reader)
    return Explanation.of((schemas.writer(one) for one in told), target).applied(rows)


@dataclass(frozen=True, slots=True)
class Explanation:
    """What workers need to know to ask the codec why a record does not fit. Pickles."""

    pairs: Mapping[Hashable, "_Pair"]

    @classmethod
    def of(cls, writers: Iterable[Writer], reader: Known) -> "Explanation":
        return cls({_key(writer): _Pair.of(writer, reader) for writer in writers if writer.schema is not None})

    def applied(self, rows: DataFrame) -> DataFrame:
        """Decoded rows with better findings."""
        if not self.pairs:
            return rows
        names = rows.columns

        def explain(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                columns = dict(zip(batch.schema.names, batch.columns, strict=True))
                columns[FINDING] = self.findings(columns)
                yield pa.RecordBatch.from_arrays([columns[name] for name in names], names)

        return rows.mapInArrow(explain, rows.schema)

    def findings(self, columns: Mapping[str, pa.Array]) -> pa.Array:
        """The findings of decoded rows, which are given by their columns."""
        told = zip(*(columns[name].to_pylist() for name in (*TELLING, PAYLOAD, KEY, FINDING)), strict=True)
        return pa.array([self._finding(by, payload, key, known) for *by, payload, key, known in told], _FINDINGS)

    def _finding(
        self, told: Sequence[Any], payload: bytes | None, key: bytes | None, known: dict[str, Any] | None
    ) -> dict[str, Any] | None:
        pair = self.pairs.get(tuple(told))
        if known is None or known["rule"] != DOES_NOT_FIT or payload is None or pair is None:
            return known
        return pair.finding(payload, key, known)


def _key(writer: Writer) -> Hashable:
    """What its decoded rows tell: with the version, where the subject has it."""
    told = writer.told
    version = writer.version if told.schema_version is None else told.schema_version
    return told.topic, told.schema_id, version, told.schema_mark


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

    def finding(self, payload: bytes, key: bytes | None, known: dict[str, Any]) -> dict[str, Any]:
        """The reason why a payload does not fit; what was known before where there is no better one."""
        read = _reading(self)
        if read is None:
            return known
        try:
            read(payload, key)
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


_Read = Callable[[bytes, bytes | None], Any]
"""Of a payload and its record's key. Raises `InvalidRecord`."""


@lru_cache(maxsize=256)
def _reading(pair: _Pair) -> _Read | None:
    references = dict(pair.references)
    try:
        writer = catalogue.parse(pair.writer, references, is_lenient=True)
        reader = catalogue.parse(pair.reader, references, is_lenient=True)
    except InvalidSchema:
        return None
    if isinstance(writer, KeyValueSchema):
        return _reading_pairs(writer, reader if isinstance(reader, KeyValueSchema) else None)
    read = catalogue.decoder_of(writer, reader if pair.writer.type == pair.reader.type else None)
    if not (pair.is_framed and isinstance(writer, ProtobufSchema) and not writer.is_native):
        return lambda payload, key: read(payload)
    own = None if writer.root is None else writer.index_of(writer.root)
    return lambda payload, key: read(_without_path(payload, own))


def _reading_pairs(writer: KeyValueSchema, reader: KeyValueSchema | None) -> _Read:
    is_inline = writer.encoding is KeyValueEncoding.INLINE
    return lambda payload, key: decode_parts(writer, parted(payload) if is_inline else (key, payload), reader)


def _without_path(payload: bytes, own: confluent_frame.MessagePath | None) -> bytes:
    path, start = confluent_frame.read_path(payload, 0)
    if path != own:
        raise InvalidRecord("it is another message", [])
    return payload[start:]
