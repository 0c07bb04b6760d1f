"""The cases of `conformance/compat` on Spark: the rules, our codec and the JVM agree on every pair of schemas.

Where there is no finding, the JVM reads every record; where there is one, it reads the records that the codec reads.
What parts them is in `disagreements.yaml`, with the reason, and is never silently another value.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tallystick.compat import reading
from tallystick.errors import Unsupported
from tallystick.finding import Direction
from tallystick.formats.avro.codec import encoder_of
from tallystick.formats.avro.types import AvroSchema, Field, Record
from tallystick.formats.json_schema import JsonSchema
from tallystick.formats.json_schema.validate import validate
from tallystick.model.schema_type import AVRO
from tallystick.spark.decoding import avro, json_schema
from tallystick.spark.types.json_schema import shape_of
from tests.conformance.cases import Case, compat_cases, load
from tests.properties.avro_values import values
from tests.spark.decoding.avro_agreement import REFUSED, Outcome, Pair, outcomes

KNOWN: dict[str, dict[str, str]] = load(Path(__file__).parent / "disagreements.yaml")
MOST_RECORDS = 5


def directed() -> Iterator[tuple[str, Case, AvroSchema, AvroSchema, Direction]]:
    """Each case both ways: id, writer, reader."""
    for case in compat_cases():
        if case.file.format == "avro" and "strategy" not in case.facts:
            old, new = case.schema("old"), case.schema("new")
            if isinstance(old, AvroSchema) and isinstance(new, AvroSchema) and old.definition.type == AVRO:
                a, b = whole(old), whole(new)
                yield f"{case.id} {Direction.BACKWARD}", case, a, b, Direction.BACKWARD
                yield f"{case.id} {Direction.FORWARD}", case, b, a, Direction.FORWARD


def whole(schema: AvroSchema) -> AvroSchema:
    """In a record, which takes no bytes: on Spark a root must not be null."""
    record = Record("Whole", (), None)
    record.fill((Field("value", schema.root, None, (), None, "ascending"),))
    return AvroSchema(schema.definition, record)


def reason_not_to_plan(spark: SparkSession, writer: AvroSchema, reader: AvroSchema) -> str | None:
    try:
        avro.type_of(spark.range(1), reader)
        avro.decoder(writer, reader)
    except Unsupported as e:
        return e.message
    return None


def problem(found: list[Outcome], *, has_findings: bool) -> str | None:
    """What is not as the rules and the codec have it."""
    refused = [outcome for outcome in found if outcome.jvm is REFUSED]
    if not has_findings and refused:
        return "refused without a finding"
    parted = [outcome for outcome in found if not outcome.is_same]
    if any(outcome.codec is REFUSED for outcome in parted):
        return "codec alone refuses"
    if any(outcome.jvm is not REFUSED for outcome in parted):
        return "another meaning"
    return "jvm alone refuses" if parted else None


@pytest.fixture(scope="module")
def verdicts(spark: SparkSession) -> dict[str, str]:
    """The pairs that are not read alike, and how."""
    pairs: dict[str, Pair] = {}
    found: dict[str, str] = {}
    has_findings: dict[str, bool] = {}
    for id_, case, writer, reader, way in directed():
        if reason_not_to_plan(spark, writer, reader) is not None:
            found[id_] = "not planned"
            continue
        payloads = [encoder_of(writer)(value) for value in values(writer.root)[:MOST_RECORDS]]
        pairs[id_] = Pair(writer, reader, payloads)
        has_findings[id_] = bool(list(reading.findings(case.schema("old"), case.schema("new"), way, case.options)))
    by_pair: dict[int, list[Outcome]] = {}
    for outcome in outcomes(spark, list(pairs.values())):
        by_pair.setdefault(id(outcome.pair), []).append(outcome)
    for id_, pair in pairs.items():
        if (said := problem(by_pair.get(id(pair), []), has_findings=has_findings[id_])) is not None:
            found[id_] = said
    return found


def test_avro_is_read_as_rules_and_codec_have_it(verdicts: dict[str, str]) -> None:
    expected = {id_: how for how, cases in KNOWN["avro"].items() for id_ in cases}
    assert verdicts == expected


def test_most_cases_are_read_alike(verdicts: dict[str, str]) -> None:
    assert len(list(directed())) > 300
    assert len(verdicts) < len(list(directed())) / 5


def witnesses() -> Iterator[tuple[str, JsonSchema, JsonSchema, Any]]:
    """Id, the schema that takes a value, the one that does not, and the value."""
    for case in compat_cases():
        if case.file.format == "json_schema":
            old, new = case.schema("old"), case.schema("new")
            assert isinstance(old, JsonSchema)
            assert isinstance(new, JsonSchema)
            for way, value in case.facts.get("witness", {}).items():
                both = (old, new) if way == Direction.BACKWARD else (new, old)
                yield f"{case.id} {way}", *both, value


def read_as_json(schema: JsonSchema, value: Any) -> Any:
    payloads = pa.array([json.dumps(value).encode()], pa.binary())
    decoder = json_schema.decoder(schema, shape_of(schema).type)
    return decoder.values(payloads, pa.nulls(1, pa.binary()))[0]


def test_json_is_taken_by_the_schemas_that_take_it_and_by_no_other() -> None:
    parted = {}
    for id_, taking, refusing, value in witnesses():
        if value is not None:
            verdict = (read_as_json(taking, value).is_valid, read_as_json(refusing, value).is_valid)
            wanted = (not validate(taking, value), not validate(refusing, value))
            if verdict != wanted:
                parted[id_] = f"{verdict} {wanted}"
    assert set(parted) == set(KNOWN["json_schema"]), parted
