"""The other cases of `conformance/compat` on Spark: Protobuf, primitives, pairs, and schemas that change their type.

As in `test_conformance`, where there is no finding, Spark reads every record; where there is one, it reads what the
codec reads. By a schema of another type clients refuse to read; Spark refuses too, or gives what was written.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_type

from tallystick.compat import reading
from tallystick.errors import IncompatibleSchema, InvalidRecord, Unsupported
from tallystick.finding import Direction
from tallystick.formats import Schema
from tallystick.formats.protobuf import ProtobufSchema
from tallystick.formats.protobuf.codec import decode
from tallystick.spark.decoding import protobuf
from tallystick.spark.decoding.arrays import array_of
from tallystick.spark.decoding.protobuf_values import for_arrow
from tallystick.spark.types.protobuf import type_of
from tests.conformance.cases import compat_cases, load
from tests.properties.protobuf_records import Writer
from tests.spark.decoding.agreement import Pair, payloads, plan, read
from tests.spark.decoding.avro_agreement import REFUSED

KNOWN: dict[str, dict[str, dict[str, str]]] = load(Path(__file__).parent / "disagreements.yaml")
FORMATS = ("key_value", "primitive", "type_change")
MOST_RECORDS = 200


def directed(*formats: str) -> Iterator[tuple[str, Schema, Schema, bool]]:
    """Each case both ways: id, writer, reader, whether the rules have a finding."""
    for case in compat_cases():
        if case.file.format in formats and "strategy" not in case.facts:
            old, new = case.schema("old"), case.schema("new")
            for way, both in ((Direction.BACKWARD, (old, new)), (Direction.FORWARD, (new, old))):
                yield f"{case.id} {way}", *both, bool(list(reading.findings(old, new, way, case.options)))


def problem(expected: list[Any], found: list[Any], *, has_findings: bool) -> str | None:
    """What is not as the rules and the codec have it."""
    if not has_findings and REFUSED in found:
        return "refused without a finding"
    parted = [(codec, spark) for codec, spark in zip(expected, found, strict=True) if repr(codec) != repr(spark)]
    if any(codec is REFUSED for codec, _ in parted):
        return "codec alone refuses"
    if any(spark is not REFUSED for _, spark in parted):
        return "another meaning"
    return "Spark alone refuses" if parted else None


def listed(*formats: str) -> dict[str, str]:
    return {id_: how for name in formats for how, cases in KNOWN[name].items() for id_ in cases}


def by_protobuf_codec(writer: ProtobufSchema, reader: ProtobufSchema, payload: bytes) -> Any:
    assert reader.root is not None
    try:
        value = for_arrow(reader.types, reader.root, decode(writer, payload, reader))
    except InvalidRecord:
        return REFUSED
    return in_order(array_of([value], to_arrow_type(type_of(reader))).to_pylist()[0])


def in_order(value: Any) -> Any:
    """The entries of maps have none."""
    match value:
        case None:
            return REFUSED
        case dict():
            return {name: inner if inner is None else in_order(inner) for name, inner in value.items()}
        case [tuple(), *_]:
            return sorted(((key, in_order(item)) for key, item in value), key=repr)
        case list():
            return [in_order(item) for item in value]
    return value


def test_protobuf_is_read_as_rules_and_codec_have_it() -> None:
    verdicts = {}
    cases = list(directed("protobuf"))
    for id_, writer, reader, has_findings in cases:
        assert isinstance(writer, ProtobufSchema)
        assert isinstance(reader, ProtobufSchema)
        try:
            decoder = protobuf.decoder(writer, type_of(reader), reader=reader)
        except (Unsupported, IncompatibleSchema):
            if not has_findings:
                verdicts[id_] = "not planned"
            continue
        assert writer.root is not None
        records = (record for record in Writer(writer.types).records(writer.root) if record.IsInitialized())
        rows = [record.SerializeToString() for record in islice(records, MOST_RECORDS)]
        values = decoder.values(pa.array(rows, pa.binary()), pa.nulls(len(rows), pa.binary())).to_pylist()
        expected = [by_protobuf_codec(writer, reader, row) for row in rows]
        said = problem(expected, [in_order(value) for value in values], has_findings=has_findings)
        if said is not None:
            verdicts[id_] = said
    assert len(cases) > 300
    assert verdicts == listed("protobuf")


@pytest.fixture(scope="module")
def verdicts(spark: SparkSession) -> dict[str, str]:
    found, planned = {}, []
    for id_, writer, reader, has_findings in directed(*FORMATS):
        pair = Pair(writer, reader)
        decoder = plan(spark, pair)
        if decoder is not None:
            planned.append((id_, pair, has_findings, decoder, payloads(writer)))
        elif not has_findings:
            found[id_] = "not planned"
    values = read(spark, [(decoder, rows) for *_, decoder, rows in planned])
    for (id_, pair, has_findings, _, rows), own in zip(planned, values, strict=True):
        assert rows, f"{id_}: no record to read"
        said = problem([pair.expected(row) for row in rows], own, has_findings=has_findings)
        is_refused_by_clients = has_findings and not pair.is_of_one_type and set(map(repr, own)) != {repr(REFUSED)}
        if said is not None or is_refused_by_clients:
            found[id_] = said or "read as it was written"
    return found


def test_pairs_primitives_and_changed_types_are_read_as_rules_and_codec_have_it(verdicts: dict[str, str]) -> None:
    assert len(list(directed(*FORMATS))) > 120
    assert verdicts == listed(*FORMATS)
