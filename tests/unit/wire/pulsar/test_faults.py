"""The errors of the protocol survive pickling, as all errors do."""

import pickle

import pytest

from tallystick.errors import TallystickError
from tallystick.wire.pulsar.faults import ChecksumMismatch, MalformedFrame


@pytest.mark.parametrize("error", [MalformedFrame("no frame"), ChecksumMismatch(1, 2)], ids=lambda e: e.code)
def test_errors_survive_pickling_whole(error: TallystickError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.__dict__) == (type(error), str(error), error.__dict__)
