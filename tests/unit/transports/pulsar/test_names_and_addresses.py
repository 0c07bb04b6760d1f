import asyncio

import pytest

from tallystick.errors import InvalidArgument, Unauthenticated
from tallystick.transports.pulsar.outlet import key_hash
from tallystick.transports.pulsar.settings import Address, PulsarSettings, address_of
from tallystick.transports.pulsar.topics import topic_name


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("orders", "persistent://public/default/orders"),
        ("a/b/orders", "persistent://a/b/orders"),
        ("persistent://a/b/orders", "persistent://a/b/orders"),
        ("non-persistent://a/b/orders", "non-persistent://a/b/orders"),
        ("orders-partition-2", "persistent://public/default/orders-partition-2"),
    ],
)
def test_names(text: str, whole: str) -> None:
    assert str(topic_name(text)) == whole


@pytest.mark.parametrize("text", ["", "a/b", "a/b/c/d", "http://a/b/c", "a/b/", "a b/c/d", "a\nb", "persistent://x"])
def test_what_is_no_name(text: str) -> None:
    with pytest.raises(InvalidArgument):
        topic_name(text)


def test_partitions() -> None:
    name = topic_name("a/b/orders")
    assert str(name.of_partition(3)) == "persistent://a/b/orders-partition-3"
    assert name.of_partition(3).given == "a/b/orders"
    partition = topic_name("a/b/orders-partition-12")
    assert (partition.partition, partition.given, partition.local) == (12, "a/b/orders", "orders")
    assert str(partition.of_partition(-1)) == str(name)


def test_addresses() -> None:
    assert address_of("pulsar://host") == Address("host", 6650)
    assert address_of("pulsar+ssl://host") == Address("host", 6651, True)
    assert str(address_of("pulsar://[::1]:7")) == "pulsar://[::1]:7"
    assert PulsarSettings(url="pulsar://a:1,b,c:3/").addresses() == [
        Address("a", 1),
        Address("b", 6650),
        Address("c", 3),
    ]


@pytest.mark.parametrize(
    "url",
    ["http://host", "host:6650", "pulsar://", "pulsar://host:x", "pulsar://host/path", "pulsar://u@host", "kafka:"],
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(InvalidArgument, match="url"):
        PulsarSettings(url=url).addresses()


def test_tokens() -> None:
    def missing() -> str:
        raise KeyError("TOKEN")

    def refused() -> str:
        raise Unauthenticated("expired")

    def token(given: object) -> str | None:
        return asyncio.run(PulsarSettings(url="pulsar://a", token=given).current_token())  # type: ignore[arg-type]

    assert token(None) is None
    assert token("t") == "t"
    assert token(lambda: "fresh") == "fresh"
    with pytest.raises(Unauthenticated, match="TOKEN"):
        token(missing)
    with pytest.raises(Unauthenticated, match=r"^expired$"):
        token(refused)
    assert "secret" not in repr(PulsarSettings(url="pulsar://a", token="secret"))


def test_keys_are_hashed_as_they_travel() -> None:
    # Java's String.hashCode; of the two bytes it is that of their Base64, "//4=".
    assert key_hash(b"hello", True) == 99162322
    assert key_hash(b"\xff\xfe", False) == 1447017
    assert key_hash("clé".encode(), True) == 98720
    with pytest.raises(InvalidArgument):
        key_hash(b"\xff", True)
