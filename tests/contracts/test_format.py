"""What every schema format promises, over one table of all of them."""

import random
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from tallystick.errors import InvalidRecord, InvalidSchema, UnknownSchemaType
from tallystick.finding import Finding
from tallystick.formats import (
    Format,
    Schema,
    decoder_of,
    encoder_of,
    format_of,
    guid,
    identity,
    is_same,
    parse,
    schema_types,
)
from tallystick.model.definition import Reference
from tests.contracts.backends import FORMATS, FormatSample

SECONDS = 20
"""CPU time that the worst text may take, whatever else the machine does. A quadratic format needs minutes for 5 MB."""

TAKES_ANY_BYTES = {"STRING", "BYTES", "NONE", "EXTERNAL"}
"""Types whose payloads have no end of their own: a shorter or longer one is another value."""


@pytest.fixture(params=FORMATS)
def sample(request: pytest.FixtureRequest) -> FormatSample:
    return FORMATS[request.param]


@pytest.fixture
def schema(sample: FormatSample) -> Schema:
    return parse(sample.definition)


@pytest.fixture
def format_(sample: FormatSample) -> Format:
    return format_of(sample.definition.type)


def test_every_installed_type_is_in_the_table() -> None:
    assert {sample.type for sample in FORMATS.values()} == set(schema_types())


def test_schema_keeps_its_definition(sample: FormatSample, schema: Schema) -> None:
    assert schema.definition == sample.definition
    assert schema.definition.properties == sample.definition.properties


def test_fitting_value_has_no_finding(sample: FormatSample, schema: Schema, format_: Format) -> None:
    assert format_.validate(schema, sample.value) == []


def test_value_comes_back_from_its_bytes(sample: FormatSample, schema: Schema, format_: Format) -> None:
    payload = format_.encode(schema, sample.value)
    assert isinstance(payload, bytes)
    assert format_.decode(schema, payload) == sample.value


def test_schema_reads_as_its_own_reader(sample: FormatSample, schema: Schema, format_: Format) -> None:
    payload = format_.encode(schema, sample.value)
    assert format_.decode(schema, payload, parse(sample.definition_of(sample.spaced))) == sample.value


def test_bound_functions_do_the_same(sample: FormatSample, schema: Schema, format_: Format) -> None:
    encode, decode = encoder_of(schema), decoder_of(schema)
    as_its_own_reader = decoder_of(schema, parse(sample.definition_of(sample.spaced)))
    for _ in range(2):
        payload = encode(sample.value)
        assert payload == format_.encode(schema, sample.value)
        assert decode(payload) == as_its_own_reader(payload) == sample.value
    with pytest.raises(InvalidRecord) as refused:
        encode(sample.wrong)
    _assert_explained(refused.value.findings)


def test_wrong_value_is_found(sample: FormatSample, schema: Schema, format_: Format) -> None:
    findings = format_.validate(schema, sample.wrong)
    _assert_explained(findings)
    assert all(finding.new is not None for finding in findings)


def test_wrong_value_is_refused_before_a_byte_is_written(sample: FormatSample, schema: Schema, format_: Format) -> None:
    with pytest.raises(InvalidRecord) as refused:
        format_.encode(schema, sample.wrong)
    _assert_explained(refused.value.findings)


def test_value_of_no_kind_is_refused(schema: Schema, format_: Format) -> None:
    with pytest.raises(InvalidRecord) as refused:
        format_.encode(schema, {1, 2})
    _assert_explained(refused.value.findings)


@pytest.mark.parametrize("cut", ["truncated", "trailing"])
@pytest.mark.parametrize("name", [name for name, sample in FORMATS.items() if sample.type not in TAKES_ANY_BYTES])
def test_payload_that_is_not_whole_is_refused(cut: str, name: str) -> None:
    sample = FORMATS[name]
    schema, format_ = parse(sample.definition), format_of(sample.definition.type)
    payload = format_.encode(schema, sample.value)
    with pytest.raises(InvalidRecord) as refused:
        format_.decode(schema, payload[:-1] if cut == "truncated" else payload + b"\x00")
    _assert_explained(refused.value.findings)


def test_damaged_payload_is_read_or_refused(sample: FormatSample, schema: Schema, format_: Format) -> None:
    payload = format_.encode(schema, sample.value)
    for damaged in _damaged(payload, 150):
        try:
            format_.decode(schema, damaged)
        except InvalidRecord as e:
            _assert_explained(e.findings)


def _damaged(payload: bytes, count: int) -> list[bytes]:
    chance = random.Random(44)
    found = []
    for _ in range(count):
        part = bytearray(payload or b"\x00")
        for _ in range(chance.randint(1, 4)):
            part[chance.randrange(len(part))] = chance.randrange(256)
        found.append(bytes(part[: chance.randint(0, len(part))] if chance.random() < 0.3 else part))
    return found


def test_white_space_does_not_count(sample: FormatSample, schema: Schema) -> None:
    spaced = sample.definition_of(sample.spaced)
    assert identity(spaced) == identity(sample.definition)
    assert guid(spaced) == guid(sample.definition)
    assert is_same(parse(spaced), schema)


def test_properties_do_not_count(sample: FormatSample) -> None:
    changed = replace(sample.definition, properties={**(sample.properties or {}), "owner": "shop"})
    assert identity(changed) == identity(sample.definition)
    assert is_same(parse(changed), parse(sample.definition))


@pytest.mark.parametrize(
    "change",
    [
        {"references": (Reference("a", "b", 1),)},
        {"metadata": '{"owner": "shop"}'},
        {"rule_set": '{"rules": []}'},
    ],
    ids=["references", "metadata", "rule set"],
)
def test_everything_else_counts(sample: FormatSample, change: dict[str, Any]) -> None:
    changed = replace(sample.definition, **change)
    assert identity(changed) != identity(sample.definition)
    assert guid(changed) != guid(sample.definition)


def test_guid_is_a_uuid_of_version_8(sample: FormatSample) -> None:
    assert guid(sample.definition).version == 8
    assert guid(sample.definition) == guid(sample.definition_of(sample.text))


def test_all_guids_differ() -> None:
    assert len({guid(sample.definition) for sample in FORMATS.values()}) == len(FORMATS)


@pytest.mark.parametrize("text", ["}{", "\x00", "{", "[[", '{"type":', "\ud800", "null", "12", "\ufeff{}", "[]", "{}"])
def test_garbage_is_refused_or_parsed(sample: FormatSample, text: str) -> None:
    _parse_or_refuse(sample, text)


def test_garbage_is_refused(sample: FormatSample) -> None:
    with pytest.raises(InvalidSchema) as refused:
        parse(sample.definition_of("}{"))
    assert refused.value.reason


def test_text_of_10_000_levels_is_refused(sample: FormatSample) -> None:
    started = time.process_time()
    with pytest.raises(InvalidSchema):
        parse(sample.definition_of(sample.nested))
    assert time.process_time() - started < SECONDS


def test_text_of_5_mb_ends_within_seconds(sample: FormatSample) -> None:
    text = sample.large()
    started = time.process_time()
    _parse_or_refuse(sample, text)
    assert time.process_time() - started < SECONDS


def test_cut_off_text_is_refused(sample: FormatSample) -> None:
    for end in range(1, len(sample.text), 10):
        _parse_or_refuse(sample, sample.text[:end])


def test_mixed_up_text_is_refused_or_parsed(sample: FormatSample) -> None:
    for text in _mixed_up(sample.text or "x", 60):
        _parse_or_refuse(sample, text)


def _mixed_up(text: str, count: int) -> list[str]:
    chance = random.Random(44)
    found = []
    for _ in range(count):
        characters = list(text)
        for _ in range(chance.randint(1, 3)):
            characters[chance.randrange(len(characters))] = chance.choice('{}[]":,;=\\ 0aé\x00\ud800')
        found.append("".join(characters))
    return found


def test_missing_reference_is_refused_or_unused(sample: FormatSample) -> None:
    with suppress(InvalidSchema):
        parse(replace(sample.definition, references=(Reference("a", "b", 1),)))


def _parse_or_refuse(sample: FormatSample, text: str) -> None:
    with suppress(InvalidSchema, UnknownSchemaType):
        parse(sample.definition_of(text))


def _assert_explained(findings: Any) -> None:
    assert findings
    for finding in findings:
        assert isinstance(finding, Finding)
        assert finding.rule
        assert finding.message
        assert finding.fix
