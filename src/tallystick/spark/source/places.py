"""Places in topics, and how offsets write them.

An offset is JSON: topic → partition (−1: a topic without any) → the last message that was read, as
`ledger:entry:batch_index`. A place is thus always the last one *before* what comes: a range begins after its start and
ends with its end. Pulsar's ids have gaps, so nobody knows the next one, but everybody knows the last.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple

from tallystick.errors import InvalidArgument
from tallystick.model.position import PulsarPosition
from tallystick.transports.pulsar.feed import EntryId
from tallystick.transports.pulsar.topics import TopicName, topic_name

LAST_INDEX = 2**31 - 1
"""Of all messages of an entry, however many they are."""
_DEFAULT = "persistent://public/default/"
_PERSISTENT = "persistent://"


class Place(NamedTuple):
    """A message. −1 as its index: it is no batch's."""

    ledger: int
    entry: int
    batch_index: int

    @property
    def id(self) -> EntryId:
        return self.ledger, self.entry

    @property
    def left_behind(self) -> EntryId:
        """The last entry of which nothing is wanted any more: of a batch there may be a rest."""
        return self.id if self.batch_index in (-1, LAST_INDEX) else (self.ledger, self.entry - 1)

    def __str__(self) -> str:
        return f"{self.ledger}:{self.entry}:{self.batch_index}"


BEGINNING = Place(-1, -1, -1)


class Partition(NamedTuple):
    """A partition of a topic, −1 where it has none."""

    topic: str
    number: int

    @property
    def name(self) -> TopicName:
        name = topic_name(self.topic)
        return name if self.number < 0 else name.of_partition(self.number)

    def __str__(self) -> str:
        return self.topic if self.number < 0 else f"{self.topic}-partition-{self.number}"


Places = dict[Partition, Place]


def partition_of(name: TopicName) -> Partition:
    """With the shortest name that the topic has, so that offsets name it the same, however it was asked for."""
    whole = str(name.of_partition(-1))
    return Partition(whole.removeprefix(_DEFAULT).removeprefix(_PERSISTENT), name.partition)


def whole_entry(id_: EntryId) -> Place:
    """The place after all messages of an entry."""
    return BEGINNING if id_[0] < 0 else Place(*id_, LAST_INDEX if id_[1] >= 0 else -1)


def place_of(position: PulsarPosition) -> Place:
    return Place(position.ledger, position.entry, position.batch_index)


def parse_place(text: str) -> Place:
    """`ledger:entry:index`, `ledger:entry` for all messages of it, or `earliest`."""
    if text == "earliest":
        return BEGINNING
    try:
        parts = [int(part) for part in text.split(":")]
    except ValueError:
        parts = []
    if len(parts) == 2:
        return whole_entry((parts[0], parts[1]))
    if len(parts) != 3:
        raise InvalidArgument(
            "position", f"{text[:60]!r} is none; write ledger:entry:batch_index, ledger:entry, or earliest"
        )
    return Place(*parts)


def to_offset(places: Mapping[Partition, Place]) -> dict[str, dict[str, str]]:
    offset: dict[str, dict[str, str]] = {}
    for partition, place in sorted(places.items()):
        offset.setdefault(partition.topic, {})[str(partition.number)] = str(place)
    return offset


def from_offset(offset: object) -> Places:
    """Raises `InvalidArgument` for what is no offset."""
    if not isinstance(offset, dict):
        raise _no_offset(offset)
    places: Places = {}
    for topic, partitions in offset.items():
        if not isinstance(partitions, dict):
            raise _no_offset(offset)
        for number, place in partitions.items():
            try:
                partition = partition_of(Partition(topic, int(number)).name)
            except ValueError:
                raise _no_offset(offset) from None
            places[partition] = parse_place(str(place))
    return places


def from_json(text: str) -> Places:
    try:
        return from_offset(json.loads(text))
    except json.JSONDecodeError as e:
        raise InvalidArgument("position", f"{text[:60]!r} is no JSON: {e}") from e


def _no_offset(offset: object) -> InvalidArgument:
    return InvalidArgument(
        "position",
        f'{json.dumps(offset)[:80]} is none; write {{"topic": {{"0": "ledger:entry:batch_index"}}}}, '
        'with "-1" for a topic without partitions',
    )
