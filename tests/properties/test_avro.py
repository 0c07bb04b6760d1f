"""Avro's rules and codec against real decoders, on random schemas, changes and values."""

import contextlib
import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.compat.changes.avro import changes
from tallystick.compat.diff import diff
from tallystick.compat.options import DEFAULT_OPTIONS
from tallystick.compat.rule import CATALOGUE
from tallystick.compat.rules.avro import compare
from tallystick.errors import InvalidRecord, InvalidSchema
from tallystick.finding import Direction, Finding
from tallystick.formats.avro.codec import decode, encode
from tallystick.formats.avro.identity import normal_form
from tallystick.formats.avro.parse import _interned, parse
from tallystick.formats.avro.types import AvroSchema, Enum, Record, every_type
from tallystick.formats.avro.validate import validate
from tallystick.model.definition import NO_REFERENCES, SchemaDefinition
from tallystick.model.schema_type import AVRO
from tests.conformance.cases import Case, compat_cases
from tests.properties import avro_oracle
from tests.properties.avro_schemas import changed, pair, parsed, schema
from tests.properties.avro_values import bare, is_kept, is_same, values

# A seed instead of single draws: schemas take hundreds of them, and their seed is enough to see one again.
randoms = st.randoms(use_true_random=True)
CASES = [case for case in compat_cases() if case.file.format == "avro"]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


def of(factor: int) -> settings:
    """This many times the examples of the profile."""
    return settings(max_examples=settings().max_examples * factor)


def found(old: AvroSchema, new: AvroSchema, direction: Direction) -> list[Finding]:
    return list(compare(old, new, direction, DEFAULT_OPTIONS))


def readings(old: AvroSchema, new: AvroSchema) -> list[tuple[AvroSchema, AvroSchema, list[Finding]]]:
    """Reader, writer and findings, both ways."""
    return [
        (new, old, found(old, new, Direction.BACKWARD)),
        (old, new, found(old, new, Direction.FORWARD)),
    ]


def unread(reader: AvroSchema, writer: AvroSchema) -> list[Any]:
    """The values of the writer that the reader does not read."""
    refused = []
    for value in values(writer.root):
        payload = encode(writer, value)
        try:
            decode(writer, payload, reader)
        except InvalidRecord:
            refused.append(value)
    return refused


def assert_proven(reader: AvroSchema, writer: AvroSchema, findings: list[Finding]) -> None:
    if not findings:
        assert_reads(reader, writer)
    elif any(CATALOGUE[finding.rule].has_witness for finding in findings) and not is_ambiguous(findings):
        assert unread(reader, writer) != [] or holds_endless_records(writer)


def holds_endless_records(schema: AvroSchema) -> bool:
    """Whether a record must hold itself: it has no values, so none that shows what is wrong in it."""
    return any(isinstance(type_, Record) and not any(values(type_)) for type_ in every_type(schema.root))


def is_ambiguous(findings: list[Finding]) -> bool:
    """Whether readers disagree on what a field is read from, so that another finding may be about what one skips."""
    return any(finding.rule == "AVRO_FIELD_ALIAS_AMBIGUOUS" for finding in findings)


def assert_reads(reader: AvroSchema, writer: AvroSchema) -> None:
    symbols = frozenset(t.default for t in every_type(reader.root) if isinstance(t, Enum) and t.default is not None)
    for value in values(writer.root):
        payload = encode(writer, value)
        read = decode(writer, payload, reader)
        assert is_kept(decode(writer, payload), read, symbols), (value, read)


@of(5)
@given(randoms)
def test_findings_are_what_a_decoder_finds(random: Random) -> None:
    old, new = map(parsed, pair(random))
    for reader, writer, findings in readings(old, new):
        assert_proven(reader, writer, findings)


@each_case
def test_findings_of_the_cases_are_what_a_decoder_finds(case: Case) -> None:
    old, new = case.schema("old"), case.schema("new")
    assert isinstance(old, AvroSchema)
    assert isinstance(new, AvroSchema)
    if "fastavro" not in case.facts.get("oracle", ""):
        for reader, writer, findings in readings(old, new):
            assert_proven(reader, writer, findings)


@of(5)
@given(randoms)
def test_second_oracle_disagrees_for_known_causes_only(random: Random) -> None:
    old, new = map(parsed, pair(random))
    for reader, writer, findings in readings(old, new):
        verdict = avro_oracle.can_read(reader, writer)
        if verdict is not None and verdict is bool(findings):
            assert avro_oracle.cause(reader, writer, findings) is not None


@each_case
def test_second_oracle_disagrees_where_a_case_says_so(case: Case) -> None:
    old, new = case.schema("old"), case.schema("new")
    assert isinstance(old, AvroSchema)
    assert isinstance(new, AvroSchema)
    verdicts = [(avro_oracle.can_read(reader, writer), not findings) for reader, writer, findings in readings(old, new)]
    disagrees = any(verdict not in (None, ours) for verdict, ours in verdicts)
    assert disagrees is ("avro.compatibility" in case.facts.get("oracle", ""))


@of(3)
@given(randoms)
def test_values_come_back(random: Random) -> None:
    parsed_schema = parsed(schema(random))
    for value in values(parsed_schema.root):
        assert validate(parsed_schema, value) == []
        plain = bare(parsed_schema.root, value)
        assert validate(parsed_schema, plain) == []
        read = decode(parsed_schema, encode(parsed_schema, plain))
        assert is_same(parsed_schema.root, plain, read)
        assert decode(parsed_schema, encode(parsed_schema, read)) == read


@of(2)
@given(randoms)
def test_a_value_is_written_exactly_when_it_fits(random: Random) -> None:
    ours, theirs = map(parsed, pair(random))
    for value in values(theirs.root):
        for attempt in (value, bare(theirs.root, value)):
            findings = validate(ours, attempt)
            if findings:
                with pytest.raises(InvalidRecord) as refused:
                    encode(ours, attempt)
                assert list(refused.value.findings) == findings
            else:
                encode(ours, attempt)


@of(1)
@given(randoms)
def test_a_payload_that_breaks_off_or_goes_on_is_refused(random: Random) -> None:
    parsed_schema = parsed(schema(random))
    for value in values(parsed_schema.root)[:3]:
        payload = encode(parsed_schema, value)
        for cut in range(min(len(payload), 40)):
            with pytest.raises(InvalidRecord):
                decode(parsed_schema, payload[:cut])
        with pytest.raises(InvalidRecord, match="1 bytes are left over"):
            decode(parsed_schema, payload + b"\x00")


@of(2)
@given(randoms, st.binary(max_size=60))
def test_any_payload_is_read_or_refused(random: Random, payload: bytes) -> None:
    writer, reader = map(parsed, pair(random))
    with contextlib.suppress(InvalidRecord):
        decode(writer, payload, reader)


@of(10)
@given(randoms)
def test_any_text_is_a_schema_or_refused(random: Random) -> None:
    text = damaged(random, json.dumps(schema(random)))
    with contextlib.suppress(InvalidSchema):
        accepted = parse(SchemaDefinition(AVRO, text), NO_REFERENCES)
        normal_form(accepted)
        assert list(changes(accepted, accepted)) == []
        assert list(every_type(accepted.root))


def damaged(random: Random, text: str) -> str:
    """The text with a part cut out, doubled, moved, or replaced by another token."""
    start = random.randrange(len(text))
    end = random.randint(start, min(len(text), start + random.choice((1, 5, 40))))
    part = random.choice(("", text[start:end] * 2, *_TOKENS))
    if random.random() < 0.2:
        return text[:start]
    if random.random() < 0.6:
        tokens = text.split('"')
        tokens[random.randrange(len(tokens))] = random.choice(tokens)
        return '"'.join(tokens)
    return text[:start] + part + text[end:]


_TOKENS = (
    "{",
    "}",
    "[",
    "]",
    "null",
    "-1",
    "1e999",
    '""',
    '"int"',
    "true",
    "\ud800",
    '"\\ud800"',
    "NaN",
    ",",
    "{}",
    "[]",
)


@of(2)
@given(randoms)
def test_equal_texts_are_one_object(random: Random) -> None:
    raw = schema(random)
    once, again = parsed(raw), parsed({**raw, "unknown": 1} if isinstance(raw, dict) else raw)
    assert once.root is again.root
    assert {id(type_) for type_ in every_type(once.root)} == {id(type_) for type_ in every_type(again.root)}


@of(3)
@given(randoms)
def test_findings_do_not_depend_on_shared_objects(random: Random) -> None:
    raw_old, raw_new = pair(random)
    shared = readings(parsed(raw_old), parsed(raw_new))
    old = parsed(raw_old)
    _interned.clear()
    new = parsed(raw_new)
    assert [findings for _, _, findings in readings(old, new)] == [findings for _, _, findings in shared]


@of(3)
@given(randoms)
def test_there_are_changes_exactly_where_normal_forms_differ(random: Random) -> None:
    old, new = map(parsed, pair(random))
    assert (list(changes(old, new)) == []) is (normal_form(old) == normal_form(new))


@of(3)
@given(randoms)
def test_every_finding_belongs_to_a_change(random: Random) -> None:
    raw = schema(random)
    old, new = parsed(raw), parsed(changed(random, raw))
    listed = list(changes(old, new))
    explained = diff(old, new)
    assert [change.what for change in explained] == [change.what for change in listed]
    findings = [finding for _, _, findings in readings(old, new) for finding in findings]
    assert sorted(map(repr, findings)) == sorted(repr(f) for change in explained for f in change.findings)
