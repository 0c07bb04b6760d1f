"""decode: frames → frames with their values, each read by the schema that it was written with.

The driver looks which schemas a batch has, and plans one expression over them. What does not fit is a row with a
finding.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import DataType

from tallystick.errors import IncompatibleSchema, Unsupported
from tallystick.finding import Finding, Place
from tallystick.serde.records import described
from tallystick.spark.cluster import Cluster
from tallystick.spark.columns import (
    FINDING,
    FINDING_TYPE,
    KEY,
    PAYLOAD,
    SCHEMA_VERSION,
    VALUE,
)
from tallystick.spark.decoding import avro, formats
from tallystick.spark.decoding.decoder import ArrowDecoder, AvroDecoder, ColumnDecoder, Decoder
from tallystick.spark.decoding.schemas import LATEST, Known, Reader, Schemas, Told, Writer, shown
from tallystick.spark.decoding.telling import TELLING, Telling, literal

DOES_NOT_FIT = "RECORD_DOES_NOT_FIT"
CANNOT_READ = "RECORD_SCHEMA_CANNOT_BE_READ"

_READ, _GOOD = "_tally_read", "_tally_good"
_MOST_READINGS = 24
"""Of one projection: the JVM leaves methods over 8,000 bytes uncompiled."""


@dataclass(frozen=True, slots=True)
class Branch:
    """What is done with the records of one writer."""

    writer: Writer
    decoder: Decoder | None
    finding: Finding
    """Of each of its records that does not fit; of all of them where there is no decoder."""


@dataclass(frozen=True)
class Plan:
    """How the batches of some writers are decoded. Its columns are made once: each costs many calls to the JVM."""

    reader: Known
    target: DataType
    branches: tuple[Branch, ...]

    @cached_property
    def telling(self) -> Telling:
        return Telling([branch.writer.told for branch in self.branches])

    def is_one_of(self, branches: Sequence[Branch]) -> Column:
        return self.telling.is_one_of([branch.writer.told for branch in branches])

    @cached_property
    def steps(self) -> "Steps":
        return _steps(self)


@dataclass(frozen=True, slots=True)
class Steps:
    """The columns of a plan: read once, look whether it was read, tell."""

    read: tuple[Column, ...]
    """One after the other: each takes what those before have left."""
    is_good: Column
    value: Column
    finding: Column
    version: Column


def decode(frames: DataFrame, cluster: Cluster | Schemas, *, reader: Reader = LATEST) -> DataFrame:
    """The frames with `value`, of the reader's type, and `finding`: one of them is null, both for tombstones.

    `reader` is "latest", a version of the topic's subject, or a schema. `schema_version` is filled in where the subject
    knows the record's schema. Raises `Unsupported` for a stream, whose schemas are not known when it starts: see
    `for_each_decoded_batch`.
    """
    if frames.isStreaming:
        raise Unsupported(
            "decode looks at the schemas of the records, and a stream's plan is fixed before the first one comes; "
            "give the stream to for_each_decoded_batch, which decodes batch by batch"
        )
    if isinstance(cluster, Schemas):
        return apply(frames, plan(frames, cluster, reader))
    with Schemas(cluster) as schemas:
        return apply(frames, plan(frames, schemas, reader))


def told_by(frames: DataFrame) -> list[Told]:
    """What the records of a batch tell of their schemas, each once; those of tombstones too. Runs a job."""
    found = frames.select(*TELLING).distinct().collect()
    return sorted((Told(row[0], row[1], row[2], None if row[3] is None else bytes(row[3])) for row in found), key=repr)


def plan(frames: DataFrame, schemas: Schemas, reader: Reader, told: Sequence[Told] | None = None) -> Plan:
    """Runs a job where it is not told what the records tell. Raises `Unavailable` where nobody can be asked."""
    found = told_by(frames) if told is None else told
    known = schemas.reader(sorted({one.topic for one in found}), reader)
    writers = tuple(schemas.writer(one) for one in found)
    made = schemas.kept(("plan", known.definition, writers), lambda: _plan(frames, known, writers))
    assert isinstance(made, Plan)
    return made


def _plan(frames: DataFrame, reader: Known, writers: Sequence[Writer]) -> Plan:
    target = formats.type_of(frames, reader)
    return Plan(reader, target, tuple(_branch(frames, writer, reader, target) for writer in writers))


def apply(frames: DataFrame, planned: Plan) -> DataFrame:
    """The frames with value and finding. Runs nothing: the answer is a plan of Spark's."""
    steps, names, read = planned.steps, frames.columns, frames
    for column in steps.read:
        read = read.select(*names, column)
    kept = [steps.version if name == SCHEMA_VERSION else name for name in names]
    return read.select("*", steps.is_good).select(*kept, steps.value, steps.finding)


def _branch(frames: DataFrame, writer: Writer, reader: Known, target: DataType) -> Branch:
    if writer.finding is not None or writer.schema is None:
        assert writer.finding is not None
        return Branch(writer, None, writer.finding)
    try:
        decoder = formats.decoder(frames, writer.schema, reader, target, is_framed=writer.is_framed)
    except (IncompatibleSchema, Unsupported) as e:
        return Branch(writer, None, _cannot(writer, reader, e))
    return Branch(writer, decoder, _does_not_fit(writer, reader))


def _steps(planned: Plan) -> Steps:
    readings = [*_avro_readings(planned), *_other_readings(planned)]
    is_in_batches = any(isinstance(branch.decoder, ArrowDecoder) for branch in planned.branches)
    read = [_in_batches(planned).alias(_READ)] if is_in_batches else []
    for start in range(0, len(readings), _MOST_READINGS):
        before = F.col(_READ) if read else F.lit(None).cast(planned.target)
        read.append(_once(_case(readings[start : start + _MOST_READINGS], planned, before)).alias(_READ))
    # What reads one type is wrong about the same things, whichever schema it reads.
    check = next((found for reading in readings if (found := reading.wrong(F.col(_READ))) is not None), None)
    is_read = F.col(_READ).isNotNull()
    is_good = F.col(PAYLOAD).isNull() | (is_read if check is None else is_read & ~check)
    return Steps(
        read=tuple(read or [F.lit(None).cast(planned.target).alias(_READ)]),
        is_good=_once(is_good).alias(_GOOD),
        value=F.when(F.col(_GOOD), F.col(_READ)).alias(VALUE),
        finding=F.when(~F.col(_GOOD), _finding(planned)).cast(FINDING_TYPE).alias(FINDING),
        version=_version(planned),
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """What one expression of the JVM reads."""

    is_of: Column | None
    """Which records; None for all that there are."""
    value: Column
    wrong: Callable[[Column], Column | None]


def _avro_readings(planned: Plan) -> Iterator[_Reading]:
    found = [(branch, branch.decoder) for branch in planned.branches if isinstance(branch.decoder, AvroDecoder)]
    if not found:
        return
    decoders = list(dict.fromkeys(decoder for _, decoder in found))
    joints = avro.joints(decoders)
    is_alone = len(joints) == 1 and len(found) == len([b for b in planned.branches if b.decoder is not None])
    reader = decoders[0].reader
    for joint in joints:
        heads = {decoders[member]: head for member, head in joint.heads().items()}
        head = planned.telling.as_bytes({b.writer.told: heads[d] for b, d in found if d in heads})
        # Without a head nothing is read: nobody has to ask where there is no other reading.
        is_of = None if is_alone else head.isNotNull()
        value = avro.read(joint, head, F.col(PAYLOAD))
        yield _Reading(is_of, value, lambda column: avro.wrong(column, reader))


def _other_readings(planned: Plan) -> Iterator[_Reading]:
    groups: dict[Hashable, tuple[ColumnDecoder, list[Branch]]] = {}
    for number, branch in enumerate(planned.branches):
        if isinstance(branch.decoder, ColumnDecoder):
            key = number if branch.decoder.key is None else branch.decoder.key
            groups.setdefault(key, (branch.decoder, []))[1].append(branch)
    for decoder, branches in groups.values():
        value = decoder.value(F.col(PAYLOAD), F.col(KEY))
        yield _Reading(planned.is_one_of(branches), value, decoder.wrong or (lambda column: None))


def _case(readings: Sequence[_Reading], planned: Plan, before: Column) -> Column:
    column = before
    for reading in readings:
        value = reading.value.cast(planned.target)
        column = value if reading.is_of is None else F.when(reading.is_of, value).otherwise(column)
    return column


def _once(column: Column) -> Column:
    """Kept from being worked out again wherever it is used: Spark copies into filters what always gives the same."""
    return F.when(F.spark_partition_id() >= 0, column)


def _version(planned: Plan) -> Column:
    """The column, filled in for records that tell an id."""
    known = {
        branch.writer.told: branch.writer.version
        for branch in planned.branches
        if branch.writer.told.schema_version is None and branch.writer.version is not None
    }
    column = F.col(SCHEMA_VERSION)
    return (F.coalesce(column, planned.telling.numbered(known)) if known else column).alias(SCHEMA_VERSION)


def _finding(planned: Plan) -> Column:
    findings = list(dict.fromkeys([*(branch.finding for branch in planned.branches), _NOT_SEEN]))
    places = {branch.writer.told: findings.index(branch.finding) for branch in planned.branches}
    place = F.coalesce(planned.telling.numbered(places), F.lit(len(findings) - 1))
    # As one text: a column for each literal would be thousands of calls to the JVM.
    return F.get(F.expr(f"array({','.join(map(_struct, findings))})"), place.cast("int"))


def _struct(finding: Finding) -> str:
    path = None if finding.new is None else finding.new.path
    texts = {"rule": finding.rule, "message": finding.message, "fix": finding.fix, "path": path}
    parts = (f"'{name}',cast({literal(text)} as string)" for name, text in texts.items())
    return f"named_struct({','.join(parts)})"


def _in_batches(planned: Plan) -> Column:
    """What Python workers read, all records of one writer in a batch at a time. Only payloads and keys go there."""
    decoders = {i: b.decoder for i, b in enumerate(planned.branches) if isinstance(b.decoder, ArrowDecoder)}
    number = planned.telling.numbered({planned.branches[i].writer.told: i for i in decoders}).cast("int")
    value_type = to_arrow_type(planned.target)

    def read(numbers: pa.Array, payloads: pa.Array, keys: pa.Array) -> pa.Array:
        return _read(numbers, payloads, keys, decoders, value_type)

    asked = F.when(F.col(PAYLOAD).isNotNull(), number)
    function: Any = arrow_udf(read, planned.target)  # type: ignore[call-overload]  # any type will do
    # Not deterministic, so that Spark works it out once, wherever it is used.
    column: Column = function.asNondeterministic()(asked, F.col(PAYLOAD), F.col(KEY))
    return column


def _read(
    numbers: pa.Array, payloads: pa.Array, keys: pa.Array, decoders: dict[int, ArrowDecoder], value_type: pa.DataType
) -> pa.Array:
    present = pc.unique(numbers).to_pylist()
    if len(present) == 1 and present[0] is not None:
        return decoders[present[0]].values(payloads, keys).cast(value_type)
    parts, places = [], []
    for number in present:
        is_chosen = pc.is_null(numbers) if number is None else pc.fill_null(pc.equal(numbers, number), False)
        chosen = pc.indices_nonzero(is_chosen)
        places.append(chosen)
        if number is None:
            parts.append(pa.nulls(len(chosen), value_type))
        else:
            parts.append(decoders[number].values(payloads.take(chosen), keys.take(chosen)).cast(value_type))
    if not parts:
        return pa.nulls(0, value_type)
    order = pc.sort_indices(pa.concat_arrays([place.cast(pa.uint64()) for place in places]))
    return pa.chunked_array(parts, value_type).combine_chunks().take(order)


def _does_not_fit(writer: Writer, reader: Known) -> Finding:
    assert writer.schema is not None
    message = (
        f"the payload does not fit {shown(writer.told)} ({described(writer.schema.definition)}), by which topic "
        f"{writer.told.topic} says it was written: it is cut off, goes on after its end, or has values of other types"
    )
    fix = "find out which producer wrote it, and send the record again with the schema that it has"
    return Finding(rule=DOES_NOT_FIT, message=message, fix=fix, new=Place(""))


def _cannot(writer: Writer, reader: Known, error: IncompatibleSchema | Unsupported) -> Finding:
    assert writer.schema is not None
    found = error.findings if isinstance(error, IncompatibleSchema) else ()
    if found:
        return found[0]
    message = f"records of {shown(writer.told)} cannot be read as {described(reader.definition)}: {error.message}"
    return Finding(rule=CANNOT_READ, message=message, fix="read them by another schema", new=Place(""))


_NOT_SEEN = Finding(
    rule=DOES_NOT_FIT,
    message="the record came after the schemas of its batch were looked up",
    fix="read the topic again; give the frames an end, so that all stages see the same records",
    new=Place(""),
)
