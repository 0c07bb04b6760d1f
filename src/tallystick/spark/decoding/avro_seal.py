"""A seal behind each payload: bytes that only the right reading of the payload ends before.

Only the writer's schema, as we write it for Spark, has a field for the seal. Avro's library passes over it, but only if
the bytes there are the right ones. So a payload that is too short or too long does not fit, and nothing is compared for
it.
"""

import secrets
from dataclasses import dataclass
from typing import Any

NAME = "tally.Seal"
IMPOSSIBLE_BYTES = 2**26
"""More than any payload has, and no more than our sessions let the library read at all."""
_BYTES = 4
_CHOICES = 32


@dataclass(frozen=True, slots=True)
class Seal:
    data: bytes
    type: dict[str, Any]
    """Takes exactly these bytes."""


def new_seal() -> Seal:
    """A union for each byte, of which one branch is empty and the others never end: no other byte will do.

    Drawn anew by each driver, so that no producer has its records end like that.
    """
    places = _places()
    locks = [{"name": f"s{i}", "type": _lock(place, is_first=i == 0)} for i, place in enumerate(places)]
    return Seal(bytes(2 * place for place in places), {"type": "record", "name": NAME, "fields": locks})


def _places() -> list[int]:
    """The first is not nought, which would be taken for the end of a longer number that a payload leaves open; and no
    beginning is an end, or else bytes between the payload and the seal could stand for the beginning.
    """
    while True:
        places = [1 + secrets.randbelow(_CHOICES - 1), *(secrets.randbelow(_CHOICES) for _ in range(_BYTES - 1))]
        if all(places[:-shift] != places[shift:] for shift in range(1, _BYTES)):
            return places


def _lock(place: int, *, is_first: bool) -> list[Any]:
    """The branches before and behind the right one have the same types in each lock: a name is defined once."""
    names = [f"{NAME}{i}" for i in range(_CHOICES - 1)]
    never: list[Any] = [endless(name) for name in names] if is_first else list(names)
    return [*never[:place], "null", *never[place:]]


def endless(name: str) -> dict[str, Any]:
    """A type that no bytes fit."""
    return {"type": "fixed", "name": name, "size": IMPOSSIBLE_BYTES}
