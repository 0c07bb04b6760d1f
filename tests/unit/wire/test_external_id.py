"""Ids of third-party registries in a message's metadata."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InvalidArgument
from tallystick.model.subject import SchemaId
from tallystick.wire import external_id
from tallystick.wire.external_id import ExternalId

IDS = st.integers(1, 2**32 - 1).map(SchemaId)
PATHS = st.lists(st.integers(0, 300), min_size=1, max_size=5).map(tuple)


@pytest.mark.parametrize(
    ("id_", "written"),
    [
        (ExternalId(SchemaId(7)), "00000007"),
        (ExternalId(SchemaId(2**31 - 1)), "7fffffff"),
        (ExternalId(SchemaId(2**31)), "0000000080000000"),
        (ExternalId(SchemaId(7), (1,)), "00000007 02 02"),
        (ExternalId(SchemaId(7), (0, 2)), "00000007 04 00 04"),
        (ExternalId(SchemaId(2**31), (1,)), "0000000080000000 02 02"),
    ],
)
def test_the_bytes_of_an_id(id_: ExternalId, written: str) -> None:
    assert external_id.write(id_) == bytes.fromhex(written)


@given(st.builds(ExternalId, IDS, PATHS))
def test_what_is_written_is_read(id_: ExternalId) -> None:
    assert external_id.read(external_id.write(id_)) == id_


@given(IDS)
def test_eight_bytes_of_other_clients_are_read(number: SchemaId) -> None:
    assert external_id.read(number.to_bytes(8)) == ExternalId(number)


@pytest.mark.parametrize("number", [0, -1, 2**32])
def test_an_id_that_does_not_fit_is_refused(number: int) -> None:
    with pytest.raises(InvalidArgument, match=f"{number} does not fit into 32 bits"):
        external_id.write(ExternalId(SchemaId(number)))


@pytest.mark.parametrize(
    "data",
    [
        "",
        "07",
        "000007",
        "00000000",
        "00000000000000",
        "0000000000000000",
        "00000007 02",
        "00000007 00 00",
        "0707070707",
    ],
)
def test_other_bytes_are_no_id(data: str) -> None:
    with pytest.raises(InvalidArgument, match="not the number of a schema"):
        external_id.read(bytes.fromhex(data))
