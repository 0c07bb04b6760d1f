"""decode_each: topics with records of several types, each type as a DataFrame of its own."""

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType

from tallystick.errors import InvalidArgument, NotFound, Unsupported
from tallystick.finding import Finding, Place
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import BYTES
from tallystick.spark.cluster import Cluster
from tallystick.spark.columns import SCHEMA_ID, SCHEMA_MARK, SCHEMA_VERSION, TOPIC
from tallystick.spark.decoding.decode import CANNOT_READ, Branch, Plan, apply, plan, told_by
from tallystick.spark.decoding.schemas import Known, Schemas, Told, Writer

UNKNOWN = ""
"""Where the rows are that tell no schema that is known."""

_AS_BYTES = SchemaDefinition(BYTES)
_TELLING = (TOPIC, SCHEMA_ID, SCHEMA_VERSION, SCHEMA_MARK)


def decode_each(frames: DataFrame, cluster: Cluster | Schemas) -> dict[str, DataFrame]:
    """The rows by the full name of their record (JSON Schema: its title; the schema's type where it has no name).

    Each type is read by the latest version of its own subject or, where that is of another type, by the newest of its
    schemas in the frames. Rows that tell no known schema are at the key "", with their findings. Every row is in one
    of the frames, once.
    """
    if frames.isStreaming:
        raise Unsupported(
            "decode_each looks at the schemas of the records, and a stream's plan is fixed before the first one comes; "
            "call it for each batch, in foreachBatch"
        )
    if isinstance(cluster, Schemas):
        return _each(frames, cluster)
    with Schemas(cluster) as schemas:
        return _each(frames, schemas)


def _each(frames: DataFrame, schemas: Schemas) -> dict[str, DataFrame]:
    told = told_by(frames)
    groups: dict[str, list[Writer]] = {}
    for one in told:
        writer = schemas.writer(one)
        groups.setdefault(_name(writer), []).append(writer)
    unknown = [writer.told for writer in groups.pop(UNKNOWN, [])]
    differing = [name for name in _TELLING if len({getattr(one, name) for one in told}) > 1]
    found = {}
    for name, writers in sorted(groups.items()):
        rows = frames.where(_is_one_of([writer.told for writer in writers], differing))
        found[name] = apply(rows, _plan(frames, schemas, name, writers))
    known = [writer.told for writers in groups.values() for writer in writers]
    # Whatever came since the look at the batch is here too: no row is in none.
    rest = frames.where(~_is_one_of(known, differing)) if known else frames
    found[UNKNOWN] = apply(rest, plan(frames, schemas, _AS_BYTES, unknown))
    return found


def _name(writer: Writer) -> str:
    if writer.schema is None:
        return UNKNOWN
    return writer.schema.name or writer.schema.definition.type


def _is_one_of(told: Sequence[Told], columns: Sequence[str]) -> Column:
    each = [
        reduce(and_, (F.col(name).eqNullSafe(F.lit(getattr(one, name))) for name in columns), F.lit(True))
        for one in told
    ]
    return reduce(or_, each)


def _plan(frames: DataFrame, schemas: Schemas, name: str, writers: Sequence[Writer]) -> Plan:
    reader = _reader(schemas, name, writers)
    told = [writer.told for writer in writers]
    try:
        return plan(frames, schemas, reader.definition, told)
    except Unsupported as e:
        # One type that Spark has no columns for must not keep the others from being read.
        message = f"records of {name} cannot be read on Spark: {e.message}"
        finding = Finding(rule=CANNOT_READ, message=message, fix="read them with a client", new=Place(""))
        branches = tuple(Branch(writer, None, finding) for writer in writers)
        return Plan(schemas.reader([], _AS_BYTES), BinaryType(), branches)


def _reader(schemas: Schemas, name: str, writers: Sequence[Writer]) -> Known:
    """The latest of the type's subject; the newest of the batch where the subject has another type, or is not there."""
    latest = {
        known.definition: known
        for topic in sorted({writer.told.topic for writer in writers})
        if (known := _latest(schemas, topic, name)) is not None
    }
    if len(latest) == 1:
        return next(iter(latest.values()))
    newest = max(writers, key=lambda writer: (writer.told.schema_id or 0, writer.version or 0))
    assert newest.schema is not None
    return newest.schema


def _latest(schemas: Schemas, topic: str, name: str) -> Known | None:
    try:
        known = schemas.of_record(topic, name)
    except (NotFound, InvalidArgument):
        return None
    return known if (known.name or known.definition.type) == name else None
