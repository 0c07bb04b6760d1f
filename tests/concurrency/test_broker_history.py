"""The checker of the broker's history itself: it must find what is wrong."""

import pytest

from tests.concurrency.broker_history import (
    Delivery,
    Message,
    Place,
    comes_back,
    delivery_problems,
    in_key,
    in_partition,
    log_problems,
    redelivered,
)


def at(entry: int, number: int | None = None, consumer: str = "c", key: str = "k", producer: str = "p") -> Delivery:
    return Delivery(consumer, Place("t", entry, -1), Message(producer, entry if number is None else number, key))


LOG = [at(n) for n in range(4)]
SENT = [delivery.message for delivery in LOG]


def test_a_log_with_everything_in_order_is_fine() -> None:
    assert log_problems(SENT, LOG, restarts=0, is_deduplicating=True) == []


def test_what_was_not_acknowledged_may_be_stored_and_sent_again() -> None:
    log = [at(0), at(1), at(2), at(3, 1), at(4, 2), at(5, 3)]
    assert log_problems(SENT[:2], log, restarts=1, is_deduplicating=False) == []


def test_a_producer_of_batches_by_key_keeps_the_order_of_keys() -> None:
    log = [at(0, 1, key="a"), at(1, 3, key="a"), at(2, 2, key="b")]
    assert log_problems([], log, restarts=0, by_key=["p"]) == []
    assert "out of order" in log_problems([], log, restarts=0)[0]
    assert "out of order" in log_problems([], [log[1], log[0]], restarts=0, by_key=["p"])[0]


@pytest.mark.parametrize(
    ("log", "restarts", "is_deduplicating", "words"),
    [
        (LOG[:3], 0, False, "lost: 1"),
        ([at(0), at(1), at(2, 3), at(3, 2)], 9, False, "out of order"),
        ([at(0), at(1), at(2, 1), at(3, 2), at(4, 3)], 0, False, "went back 1 times"),
        ([at(0), at(1, 0), at(2, 1), at(3, 2), at(4, 3)], 9, True, "stored twice: 1"),
        ([at(0), at(1), at(2, 3), at(3, 2)], 9, True, "out of order"),
    ],
)
def test_a_log_that_is_wrong(log: list[Delivery], restarts: int, is_deduplicating: bool, words: str) -> None:
    assert words in " ".join(log_problems(SENT, log, restarts=restarts, is_deduplicating=is_deduplicating))


def test_starting_over_once_is_fine() -> None:
    again = [at(0), at(1), at(2), at(1), at(2), at(3)]
    assert delivery_problems(again, LOG, restarts=1, order=in_partition) == []
    assert redelivered(again) == 2


def test_another_consumer_may_start_over_while_the_first_one_is_ahead() -> None:
    two = [at(0), at(1), at(2), at(1, consumer="d"), at(3), at(2, consumer="d"), at(3, consumer="d")]
    assert delivery_problems(two, LOG, restarts=0, order=in_partition) == []


def test_a_shared_subscription_has_no_order() -> None:
    assert delivery_problems(LOG[::-1], LOG, restarts=0, order=None) == []


def test_keys_are_ordered_by_themselves() -> None:
    log = [at(0, key="a"), at(1, key="b"), at(2, key="a"), at(3, key="b")]
    assert delivery_problems([log[1], log[0], log[3], log[2]], log, restarts=0, order=in_key) == []


@pytest.mark.parametrize(
    ("deliveries", "restarts", "words"),
    [
        (LOG[:3], 0, "missing: 1"),
        ([*LOG, at(4)], 0, "strange: 1"),
        ([*LOG[:3], at(3, 7)], 0, "strange: 1"),
        ([at(0), at(2), at(1), at(3)], 9, "came before"),
        ([at(1), at(0), at(2), at(3)], 9, "came before"),
        ([at(0), at(1), at(2), at(1), at(2), at(3)], 0, "went back 1 times"),
        ([at(0), at(0), at(1), at(2), at(3)], 0, "went back 1 times"),
        ([at(0), at(1, consumer="d"), at(3), at(2, consumer="d")], 0, "came before"),
    ],
)
@pytest.mark.parametrize("order", [in_partition, in_key])
def test_deliveries_that_are_wrong(deliveries: list[Delivery], restarts: int, words: str, order: object) -> None:
    assert callable(order)
    assert words in " ".join(delivery_problems(deliveries, LOG, restarts=restarts, order=order))


@pytest.mark.parametrize("deliveries", [LOG[1:], [at(0, key="other"), *LOG[1:]]])
def test_shared_deliveries_that_are_wrong(deliveries: list[Delivery]) -> None:
    assert delivery_problems(deliveries, LOG, restarts=9, order=None) != []


def test_what_comes_back_is_found() -> None:
    assert comes_back([at(4)], [delivery.place for delivery in LOG]) == []
    assert "came back: 1" in comes_back([at(3), at(4)], [delivery.place for delivery in LOG])[0]
