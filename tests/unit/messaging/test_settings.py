"""Settings that are given as texts."""

import pytest

from tallystick.errors import InvalidArgument
from tallystick.messaging.settings import Compression, ConsumerSettings, ProducerSettings, Subscription


def test_a_choice_may_be_given_by_its_text() -> None:
    assert ProducerSettings(compression="zstd").compression is Compression.ZSTD  # type: ignore[arg-type]
    assert ConsumerSettings(topics=["t"], kind="shared").kind is Subscription.SHARED  # type: ignore[arg-type]


def test_what_is_no_choice_is_told_with_those_that_are() -> None:
    with pytest.raises(InvalidArgument, match="compression: 'gzip' is none; use one of none, lz4, zlib, zstd, snappy"):
        ProducerSettings(compression="gzip")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="key_shared"):
        ConsumerSettings(topics=["t"], kind="both")  # type: ignore[arg-type]
