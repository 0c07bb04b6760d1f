"""What records tell of their schemas, as columns: tables by which Spark looks up what is known of a record's schema.

Only what differs between the schemas of a batch is compared. Numbers that lie close together are places in an array, so
that a hundred schemas are found as fast as three.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from tallystick.spark.columns import SCHEMA_ID, SCHEMA_MARK, SCHEMA_VERSION, TOPIC
from tallystick.spark.decoding.schemas import Told

TELLING = (TOPIC, SCHEMA_ID, SCHEMA_VERSION, SCHEMA_MARK)
"""The columns by which a record tells its schema."""
_NUMBERS = (SCHEMA_ID, SCHEMA_VERSION)
_MOST_HOLES = 8
"""Of an array, for each number that is in it."""

_Entries = list[tuple[Told, str]]


@dataclass(frozen=True, slots=True)
class Telling:
    """The schemas of a batch."""

    told: Sequence[Told]

    def is_one_of(self, chosen: Sequence[Told]) -> Column:
        """Whether a record is of one of these; never null."""
        return F.coalesce(self.looked_up(dict.fromkeys(chosen, "true"), "boolean"), F.lit(False))

    def numbered(self, numbers: Mapping[Told, int]) -> Column:
        return self.looked_up({told: str(number) for told, number in numbers.items()}, "bigint")

    def as_bytes(self, values: Mapping[Told, bytes]) -> Column:
        return self.looked_up({told: _bytes(value) for told, value in values.items()}, "binary")

    def looked_up(self, literals: Mapping[Told, str], type_: str) -> Column:
        """The literal of a record's schema, which is SQL; null where it has none."""
        differing = [name for name in TELLING if len({getattr(one, name) for one in self.told}) > 1]
        found = _chosen(list(literals.items()), differing) if literals else "null"
        return F.expr(f"cast({found} as {type_})")


def _chosen(entries: _Entries, columns: Sequence[str]) -> str:
    if not columns:
        return entries[0][1]
    name, rest = columns[0], columns[1:]
    groups: dict[object, _Entries] = {}
    for entry in entries:
        groups.setdefault(getattr(entry[0], name), []).append(entry)
    if name in _NUMBERS and not rest:
        numbers = {key: group[0][1] for key, group in groups.items() if isinstance(key, int)}
        return _by_number(name, numbers, groups[None][0][1] if None in groups else "null")
    whens = (f"when {name} <=> {literal(key)} then {_chosen(group, rest)}" for key, group in groups.items())
    return f"case {' '.join(whens)} end"


def _by_number(name: str, numbers: Mapping[int, str], without: str) -> str:
    found = _within(name, sorted(numbers.items())) if numbers else "null"
    return found if without == "null" else f"case when {name} is null then {without} else {found} end"


def _within(name: str, numbers: Sequence[tuple[int, str]]) -> str:
    first, last = numbers[0][0], numbers[-1][0]
    if last - first > _MOST_HOLES * len(numbers):
        half = len(numbers) // 2
        left, right = numbers[:half], numbers[half:]
        return f"case when {name} < {right[0][0]} then {_within(name, left)} else {_within(name, right)} end"
    known = dict(numbers)
    if len(known) == 1:
        return f"case when {name} = {first} then {known[first]} end"
    places = ",".join(known.get(number, "null") for number in range(first, last + 1))
    # Any number may stand in a broken record, and what is far off has no place as an int.
    return f"case when {name} between {first} and {last} then get(array({places}), cast({name} - {first} as int)) end"


def literal(value: object) -> str:
    """In SQL. No text can be more than a text: its bytes are given."""
    match value:
        case None:
            return "null"
        case str():
            return f"cast({_bytes(value.encode())} as string)"
        case bytes():
            return _bytes(value)
    return str(value)


def _bytes(value: bytes) -> str:
    return f"X'{value.hex()}'"
