"""The parts of third-party registries' schemas: what is made once, what is shared and who closes it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from tallystick.connect.external.failures import About, asking, told
from tallystick.connect.external.once import Once
from tallystick.connect.external.shared import GivenRegistry, OwnRegistry
from tallystick.errors import Closed, InvalidArgument, SchemaSerializationError, TimedOut
from tallystick.finding import Finding, Place
from tallystick.rest import RegistryClient


class _Client(RegistryClient):
    is_closed = False

    def close(self) -> None:
        self.is_closed = True
        super().close()


@pytest.fixture
def opened() -> list[_Client]:
    return []


@pytest.fixture
def registry(opened: list[_Client]) -> OwnRegistry:
    def connect() -> RegistryClient:
        opened.append(_Client("http://127.0.0.1:9/", "confluent"))
        return opened[-1]

    return OwnRegistry(connect)


def test_a_registry_is_open_while_somebody_uses_it(registry: OwnRegistry, opened: list[_Client]) -> None:
    registry.take()
    registry.take()
    registry.give_back()
    assert (registry.lookup(), [client.is_closed for client in opened]) == (opened[0], [False])
    registry.give_back()
    assert [client.is_closed for client in opened] == [True]
    with pytest.raises(Closed, match="are closed; make new ones from a new factory"):
        registry.lookup()


def test_a_registry_that_was_given_back_opens_again(registry: OwnRegistry, opened: list[_Client]) -> None:
    for _ in range(2):
        registry.take()
        assert registry.lookup() is opened[-1]
        registry.give_back()
    assert [client.is_closed for client in opened] == [True, True]


def test_a_registry_that_is_closed_stays_so(registry: OwnRegistry, opened: list[_Client]) -> None:
    registry.take()
    registry.close()
    assert [client.is_closed for client in opened] == [True]
    registry.give_back()
    with pytest.raises(Closed):
        registry.take()
    assert len(opened) == 1


def test_a_given_registry_is_never_closed() -> None:
    with closing(_Client("http://127.0.0.1:9", "confluent")) as client:
        registry = GivenRegistry(client, client.url)
        registry.take()
        registry.give_back()
        assert (registry.lookup(), client.is_closed) == (client, False)


def test_a_value_is_made_once_for_all_threads() -> None:
    once: Once[str, object] = Once()
    made, start = [], threading.Barrier(8)

    def make() -> object:
        made.append(object())
        return made[-1]

    def get(_: int) -> object:
        start.wait(30)
        return once.get("key", make)

    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(get, range(8)))
    assert found == set(made)
    assert len(made) == 1


def test_what_could_not_be_made_is_made_next_time() -> None:
    once: Once[str, int] = Once()
    with pytest.raises(ZeroDivisionError):
        once.get("key", lambda: 1 // 0)
    assert once.get("key", lambda: 7) == once.get("key", lambda: 8) == 7


def test_only_so_many_values_are_kept() -> None:
    once: Once[int, int] = Once(most=2)
    for key in (1, 2, 3):
        once.get(key, lambda key=key: key)  # type: ignore[misc]
    assert [once.get(key, lambda: 0) for key in (3, 2)] == [3, 2]
    assert once.get(1, lambda: 0) == 0


ABOUT = About("orders", "http://r", "orders-value")


def test_errors_of_programs_keep_their_class() -> None:
    with (
        pytest.raises(TimedOut, match="topic orders, subject orders-value: the registry at http://r: slow") as caught,
        asking(ABOUT, "-"),
    ):
        raise TimedOut("slow")
    assert caught.value.__dict__["url"] == "http://r"


def test_other_errors_become_one_of_serialization() -> None:
    with (
        pytest.raises(SchemaSerializationError, match=r"topic orders, subject orders-value: .*no such thing"),
        asking(ABOUT, "-"),
    ):
        raise InvalidArgument("thing", "no such thing")


def test_findings_are_told_up_to_five() -> None:
    findings = [Finding(rule=f"R{i}", message="m", fix="f", new=Place("/id")) for i in range(7)]
    assert told(findings[:1]) == "[R0] /id m (fix: f)"
    assert told(findings).endswith("[R4] /id m (fix: f); and 2 more")
