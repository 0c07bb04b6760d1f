"""The partitions that a consumer has now."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from threading import Lock

from tallystick.transports.kafka.progress import Progress
from tallystick.transports.kafka.starting import Place


@dataclass(slots=True, eq=False)
class Claim:
    """A partition from when it is assigned, or sought in, until it is taken away or sought in again.

    The receipt of its messages: what belongs to a claim that has ended is acknowledged in vain.
    """

    place: Place
    progress: Progress
    kept: int | None
    """Where the group's place is, as far as known."""
    has_ended: bool = field(default=False)


class Claims:
    """Used by the consumer's thread, and by whoever acknowledges; `lock` is for what both change."""

    def __init__(self) -> None:
        self.lock = Lock()
        self._by_place: dict[Place, Claim] = {}

    def __iter__(self) -> Iterator[Claim]:
        return iter(list(self._by_place.values()))

    def get(self, topic: str, partition: int) -> Claim | None:
        return self._by_place.get((topic, partition))

    def begin(self, place: Place, offset: int, kept: int | None) -> Claim:
        claim = Claim(place, Progress(offset), kept)
        with self.lock:
            self._end(place)
            self._by_place[place] = claim
        return claim

    def end(self, places: Iterable[Place]) -> None:
        with self.lock:
            for place in places:
                self._end(place)

    def of(self, places: Iterable[Place]) -> list[Claim]:
        return [claim for place in places if (claim := self._by_place.get(place)) is not None]

    def _end(self, place: Place) -> None:
        claim = self._by_place.pop(place, None)
        if claim is not None:
            claim.has_ended = True
