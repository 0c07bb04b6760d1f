"""The checker itself: it must find what is wrong."""

import pytest

from tests.concurrency.history import Call, History, Listing, problems

FINAL = {"s": [("A", 1), ("B", 2)]}
GOOD = [Call("s", "A", 0, 1, 1, 1), Call("s", "B", 2, 3, 2, 2)]


def test_one_call_after_the_other_is_fine() -> None:
    assert problems(History(GOOD, [Listing("s", 1, 1.1, 1.9), Listing("s", 2, 3.1, 3.2)]), FINAL) == []


def test_a_call_without_answer_may_have_happened() -> None:
    assert problems(History([GOOD[0], Call("s", "B", 2, 3)]), FINAL) == []


@pytest.mark.parametrize(
    ("calls", "listings", "final", "words"),
    [
        ([*GOOD, Call("s", "C", 4, 5, 3, 3)], [], FINAL, "acknowledged"),
        ([Call("s", "A", 2, 3, 1, 1), Call("s", "B", 0, 1, 2, 2)], [], FINAL, "before it can"),
        (GOOD, [Listing("s", 0, 1.5, 1.6)], FINAL, "before it can"),
        (GOOD, [Listing("s", 2, 0.5, 1.5)], FINAL, "before it can"),
        (GOOD, [], {"s": [("A", 1), ("B", 1)]}, "id 1 has 2 definitions"),
        (GOOD, [], {"s": [("A", 1), ("B", 2)], "t": [("A", 3)]}, "A has the ids"),
        ([GOOD[0]], [], FINAL, "nobody asked"),
        ([GOOD[0], Call("s", "A", 2, 3, 2, 1)], [], {"s": [("A", 1), ("A", 1)]}, "two versions"),
    ],
)
def test_what_cannot_have_happened_is_found(
    calls: list[Call], listings: list[Listing], final: dict[str, list[tuple[str, int]]], words: str
) -> None:
    assert words in " ".join(problems(History(calls, listings), final))
