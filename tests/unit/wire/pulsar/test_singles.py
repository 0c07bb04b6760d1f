"""What is written and read by hand is what the protobuf library writes and reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.wire.pulsar.batches import join, split
from tallystick.wire.pulsar.faults import MalformedFrame
from tallystick.wire.pulsar.pulsar_pb2 import SingleMessageMetadata
from tallystick.wire.pulsar.singles import fields, join_singles, split_singles, varint

SEQUENCES = st.one_of(st.integers(0, 300), st.integers(16_300, 16_500), st.integers(0, 2**63 - 2000))
TEXTS = st.text(max_size=20)
DETAILS = st.fixed_dictionaries(
    {},
    optional={
        "is_null": st.just(True),
        "key": st.binary(max_size=20),
        "properties": st.dictionaries(TEXTS, TEXTS, max_size=3),
        "event_time_ms": st.integers(0, 2**63),
        "ordering_key": st.binary(max_size=200),
    },
)


def metadata_of(sequence_id: int | None = None, **details: object) -> SingleMessageMetadata:
    """The same through the library."""
    metadata = SingleMessageMetadata(payload_size=0)
    if sequence_id is not None:
        metadata.sequence_id = sequence_id
    if details.get("is_null"):
        metadata.null_value = True
    for name, value in details.get("properties", {}).items():  # type: ignore[attr-defined]
        metadata.properties.add(key=name, value=value)
    if "event_time_ms" in details:
        metadata.event_time = details["event_time_ms"]  # type: ignore[assignment]
    if "ordering_key" in details:
        metadata.ordering_key = details["ordering_key"]  # type: ignore[assignment]
    return metadata


@given(st.lists(st.binary(max_size=400), max_size=300), SEQUENCES)
def test_plain_messages_are_written_as_the_library_writes_them(payloads: list[bytes], first: int) -> None:
    numbers = range(first, first + len(payloads))
    by_library = join((metadata_of(number), payload) for number, payload in zip(numbers, payloads, strict=True))
    assert join_singles(payloads, first, {}) == by_library


@given(st.lists(st.tuples(st.binary(max_size=200), DETAILS), min_size=1, max_size=20), SEQUENCES)
def test_all_fields_mean_what_the_library_means(messages: list[tuple[bytes, dict[str, object]]], first: int) -> None:
    payloads = [payload for payload, _ in messages]
    more = {index: fields(is_key_text=False, **details) for index, (_, details) in enumerate(messages) if details}  # type: ignore[arg-type]
    read = list(split(join_singles(payloads, first, more), len(messages)))
    for index, ((payload, details), (metadata, body)) in enumerate(zip(messages, read, strict=True)):
        assert bytes(body) == payload
        expected = metadata_of(first + index, **details)
        expected.payload_size = len(payload)
        if "key" in details:
            assert metadata.partition_key_b64_encoded
            expected.partition_key, expected.partition_key_b64_encoded = metadata.partition_key, True
        assert metadata == expected


def test_a_key_that_is_text_travels_as_it_is() -> None:
    metadata = SingleMessageMetadata.FromString(fields(key="clé".encode()) + b"\x18\x00")
    assert (metadata.partition_key, metadata.partition_key_b64_encoded) == ("clé", False)


@given(
    st.lists(st.tuples(st.binary(max_size=300), st.one_of(st.none(), SEQUENCES), DETAILS | st.just({})), max_size=40)
)
def test_any_batch_is_read_as_the_library_reads_it(
    messages: list[tuple[bytes, int | None, dict[str, object]]],
) -> None:
    batch = [(metadata_of(sequence_id, **details), payload) for payload, sequence_id, details in messages]
    data = join(batch)
    found = split_singles(data, len(batch))
    assert [data[start:end] for start, end, _, _ in found] == [payload for _, payload in batch]
    assert [sequence_id for _, _, sequence_id, _ in found] == [sequence_id for _, sequence_id, _ in messages]
    for (_, _, _, own), (metadata, _) in zip(found, batch, strict=True):
        plain = {field.name for field, _ in metadata.ListFields()} <= {"payload_size", "sequence_id"}
        assert (own is None) == plain
        assert own is None or own == metadata


@given(st.lists(st.binary(max_size=300), max_size=300), SEQUENCES)
def test_what_is_written_is_read(payloads: list[bytes], first: int) -> None:
    data = join_singles(payloads, first, {})
    found = split_singles(data, len(payloads))
    assert [data[start:end] for start, end, _, _ in found] == payloads
    assert [number for _, _, number, _ in found] == list(range(first, first + len(payloads)))
    assert all(own is None for *_, own in found)


@given(st.lists(st.binary(max_size=50), min_size=1, max_size=5), st.data())
def test_a_batch_that_is_cut_off_is_malformed(payloads: list[bytes], data: st.DataObject) -> None:
    whole = join_singles(payloads, 7, {})
    with pytest.raises(MalformedFrame):
        split_singles(whole[: data.draw(st.integers(0, len(whole) - 1))], len(payloads))
    with pytest.raises(MalformedFrame):
        split_singles(whole, len(payloads) + 1)


@given(st.binary(max_size=200), st.integers(0, 10))
def test_any_bytes_are_read_or_malformed(data: bytes, count: int) -> None:
    try:
        found = split_singles(data, count)
    except MalformedFrame:
        return
    assert [bytes(body) for _, body in split(data, count)] == [data[start:end] for start, end, _, _ in found]


@pytest.mark.parametrize(("number", "data"), [(0, b"\x00"), (127, b"\x7f"), (128, b"\x80\x01"), (300, b"\xac\x02")])
def test_numbers_of_the_wire(number: int, data: bytes) -> None:
    assert varint(number) == data
