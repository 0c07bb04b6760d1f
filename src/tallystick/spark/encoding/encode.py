"""encode: values → frames, by a schema that is registered where the topic's readers look for it.

A value that does not fit is a row with a finding. Whether a row without payload is a tombstone or a misfit, its finding
tells: `write_topic` takes the rows where it is null.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StringType, StructField, StructType

from tallystick.errors import InvalidArgument, Unsupported
from tallystick.finding import Finding, Place
from tallystick.formats.avro.types import AvroSchema
from tallystick.formats.key_value import KeyValueSchema
from tallystick.messaging.stamping import BARE, WITHOUT_SCHEMA
from tallystick.model.key_value import KeyValueEncoding
from tallystick.model.schema_type import AVRO
from tallystick.serde.records import described
from tallystick.serde.subjects import Naming
from tallystick.spark.cluster import Cluster
from tallystick.spark.columns import (
    FINDING,
    FINDING_TYPE,
    FRAMES,
    KEY,
    PARTITION,
    PAYLOAD,
    POSITION,
    SCHEMA_ID,
    SCHEMA_MARK,
    SCHEMA_VERSION,
    TOPIC,
    VALUE,
)
from tallystick.spark.decoding.schemas import Known, Reader, Schemas
from tallystick.spark.encoding import avro, by_codec, key_value
from tallystick.spark.encoding.encoder import ArrowEncoder, ColumnEncoder, Encoder, Misfit

DOES_NOT_FIT = "VALUE_DOES_NOT_FIT"
_PAIR_KEY, _REASON, _PATH = "_tally_key", "_tally_reason", "_tally_path"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells readers the schema of the records."""

    schema_id: int | None = None
    schema_version: int | None = None
    schema_mark: bytes | None = None


def encode(
    rows: DataFrame, cluster: Cluster | Schemas, topic: str, schema: Reader, *, subject: str | None = None
) -> DataFrame:
    """Frames of the column `value`, and `finding`; null where all is well. What is null in `value` is a tombstone.

    `schema` is a schema, which is registered unless it is there, or "latest" or a version of the topic's. `subject` is
    the one that the cluster's naming has for the topic, unless it is said. Columns of FRAMES that the rows have are
    kept, but for those that tell schemas. Raises `IncompatibleSchema` with findings where the registry refuses the
    schema, or where the values are of another type.
    """
    if isinstance(cluster, Schemas):
        return _encoded(rows, cluster, topic, schema, subject)
    with Schemas(cluster) as schemas:
        return _encoded(rows, schemas, topic, schema, subject)


def _encoded(rows: DataFrame, schemas: Schemas, topic: str, schema: Reader, subject: str | None) -> DataFrame:
    if VALUE not in rows.columns:
        raise InvalidArgument("rows", f"they have no column {VALUE!r} to encode; select one, as struct(…)")
    known = schemas.reader([topic], schema)
    # Before anything is registered: values of another type must not leave a schema behind.
    encoder, keys = _encoders(rows, known, rows.schema[VALUE].dataType, is_framed=schemas.cluster.is_framed)
    frames = _stamped(rows, topic, stamp(schemas, topic, known, subject))
    return _written(frames, encoder, keys, _does_not_fit(known, topic))


def stamp(schemas: Schemas, topic: str, known: Known, subject: str | None = None) -> Stamp:
    """Get or create: what the records of a schema are to tell. Raises `IncompatibleSchema` with findings."""
    if not schemas.cluster.is_framed:
        is_untold = known.definition.type in WITHOUT_SCHEMA
        return Stamp(schema_version=None if is_untold else schemas.attached(topic, known))
    if known.definition.type in BARE:
        return Stamp(schema_mark=b"")
    naming = Naming(schemas.cluster.naming)
    name = subject or str(naming.subject(topic, known.name if naming.needs_record else None))
    registered = schemas.registered(name, known.definition)
    return Stamp(registered.id, registered.version)


def _encoders(
    rows: DataFrame, known: Known, source: DataType, *, is_framed: bool
) -> tuple[Encoder, ArrowEncoder | None]:
    """Of the payloads, and of the keys where they are a part of the value."""
    parsed = known.parsed
    if isinstance(parsed, KeyValueSchema):
        if is_framed:
            raise Unsupported("a pair has two ids in frames; encode its key and its value one by one")
        if not isinstance(source, StructType):
            raise InvalidArgument("rows", "a pair is a struct with the fields key and value")
        key, value = (
            by_codec.encoder(half, source[name].dataType, references=known.references, is_framed=is_framed)
            for half, name in ((parsed.key, "key"), (parsed.value, "value"))
        )
        is_separated = parsed.encoding is KeyValueEncoding.SEPARATED
        return key_value.encoder(parsed.encoding, key, value), key_value.keys(key) if is_separated else None
    if isinstance(parsed, AvroSchema) and known.definition.type == AVRO:
        on_jvm = avro.encoder(rows, parsed, source)
        if on_jvm is not None:
            return on_jvm, None
    return by_codec.encoder(parsed, source, references=known.references, is_framed=is_framed), None


def _stamped(rows: DataFrame, topic: str, told: Stamp) -> DataFrame:
    """The columns of FRAMES but the payload, and the value."""
    is_tombstone = F.col(VALUE).isNull()
    fixed: dict[str, Column] = {
        TOPIC: F.lit(topic),
        SCHEMA_ID: F.when(~is_tombstone, F.lit(told.schema_id)),
        SCHEMA_VERSION: F.when(~is_tombstone, F.lit(told.schema_version)),
        SCHEMA_MARK: F.when(~is_tombstone, F.lit(told.schema_mark)),
    }
    missing: dict[str, Column] = {PARTITION: F.lit(-1), POSITION: F.struct(F.lit(0), F.lit(-1), F.lit(-1))}
    columns = []
    for field in FRAMES.fields:
        if field.name != PAYLOAD:
            own = F.col(field.name) if field.name in rows.columns else missing.get(field.name, F.lit(None))
            columns.append(fixed.get(field.name, own).cast(field.dataType).alias(field.name))
    return rows.select(*columns, F.col(VALUE))


def _written(frames: DataFrame, encoder: Encoder, keys: ArrowEncoder | None, misfit: Finding) -> DataFrame:
    if isinstance(encoder, ColumnEncoder):
        # Kept from being worked out again for the finding.
        once = F.when(F.spark_partition_id() >= 0, encoder.payload(F.col(VALUE)))
        written = frames.select("*", F.when(F.col(VALUE).isNotNull(), once).alias(PAYLOAD))
        reason, path = F.lit(""), encoder.misfit(F.col(VALUE))
    else:
        written = _by_batches(frames, encoder, keys)
        reason, path = F.col(_REASON), F.col(_PATH)
    fits = F.col(VALUE).isNull() | F.col(PAYLOAD).isNotNull()
    columns = [F.col(field.name) for field in FRAMES.fields]
    if keys is not None:
        columns = [F.col(_PAIR_KEY).alias(KEY) if field.name == KEY else F.col(field.name) for field in FRAMES.fields]
    finding = F.when(~fits, _finding(misfit, reason, F.coalesce(path, F.lit(""))))
    return written.select(*columns, finding.alias(FINDING))


def _finding(misfit: Finding, reason: Column, path: Column) -> Column:
    """A reason that is not known is empty: the place is told all the same."""
    place = F.concat(F.lit("`"), F.when(path == "", "/").otherwise(path), F.lit("`"))
    unknown = F.concat(place, F.lit(" is null and must not be, or is none of the values that the schema has"))
    why = F.coalesce(F.when(reason != "", reason), unknown, F.lit(""))
    texts = {"rule": F.lit(misfit.rule), "message": F.concat(F.lit(f"{misfit.message}: "), why)}
    texts |= {"fix": F.lit(misfit.fix), "path": path}
    return F.struct(*(text.alias(name) for name, text in texts.items())).cast(FINDING_TYPE)


def _by_batches(frames: DataFrame, encoder: ArrowEncoder, keys: ArrowEncoder | None) -> DataFrame:
    names = [PAYLOAD] if keys is None else [PAYLOAD, _PAIR_KEY]
    encoders = [encoder] if keys is None else [encoder, keys]
    payload, text = FRAMES[PAYLOAD].dataType, StringType()
    added = [*(StructField(name, payload) for name in names), StructField(_REASON, text), StructField(_PATH, text)]
    out = StructType([*frames.schema.fields, *added])

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            values = batch.column(VALUE)
            parts = [_payloads(one, values) for one in encoders]
            columns = [*batch.columns, *parts, *_misfits(encoder, values, parts[0])]
            yield pa.RecordBatch.from_arrays(columns, out.names)

    return frames.mapInArrow(write, out)


def _payloads(encoder: ArrowEncoder, values: pa.Array) -> pa.Array:
    if values.null_count == 0:
        return encoder.payloads(values)
    payloads = iter(encoder.payloads(values.drop_null()).to_pylist())
    return pa.array([next(payloads) if there else None for there in values.is_valid().to_pylist()], pa.binary())


def _misfits(encoder: ArrowEncoder, values: pa.Array, payloads: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Reasons and paths, of the values that have no payload."""
    wrong = pc.indices_nonzero(pc.and_(values.is_valid(), payloads.is_null()))
    found: list[Misfit | None] = [None] * len(values)
    for place, misfit in zip(wrong.to_pylist(), encoder.misfits(values.take(wrong)) if len(wrong) else [], strict=True):
        found[place] = misfit
    reasons = pa.array([None if one is None else one.reason for one in found], pa.string())
    return reasons, pa.array([None if one is None else one.path for one in found], pa.string())


def _does_not_fit(known: Known, topic: str) -> Finding:
    message = f"the value does not fit {described(known.definition)}, by which topic {topic} is written"
    return Finding(rule=DOES_NOT_FIT, message=message, fix="correct the value, or change the schema", new=Place(""))
