"""pulsar_pb2 is what protoc makes of pulsar.proto."""

import pytest

from tallystick.wire.pulsar.pulsar_pb2 import BaseCommand
from tools.protocol import PROTO, ROOT, generated


def _without_version(text: str) -> str:
    """Another release of protoc writes its own number, and the same descriptors."""
    head, _, rest = text.partition("_sym_db = ")
    return rest or head


@pytest.mark.parametrize("suffix", [".py", ".pyi"])
def test_the_modules_are_fresh(suffix: str) -> None:
    path = PROTO.with_name(f"pulsar_pb2{suffix}")
    fresh = generated(PROTO)[path]
    assert _without_version((ROOT / path).read_text()) == _without_version(fresh), "run python -m tools.protocol"


def test_the_content_of_a_command_has_the_number_of_its_type() -> None:
    fields = BaseCommand.DESCRIPTOR.fields_by_number
    between_brokers = {number for name, number in BaseCommand.Type.items() if name.startswith("END_TXN_ON_")}
    assert set(BaseCommand.Type.values()) - between_brokers == set(fields) - {1}
