"""A checker for linearizability: could these answers have come from one registry that did one thing at a time?

The object is simple enough for an exact answer. In each subject `register(definition)` is get-or-create on a list, so
a version is created once, at some moment between the first call for its definition and the first answer that names
it, and the moments are in the order of the versions. A reading of the list narrows them further. The answers are
linearizable if, and only if, such moments can be found, and the earliest possible choice finds them if there are any.
"""

from collections import defaultdict
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a client. `version` and `id` are None where no answer came: it may have happened or not."""

    subject: str
    definition: str
    started: float
    ended: float
    version: int | None = None
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A reading of how many versions a subject has."""

    subject: str
    count: int
    started: float
    ended: float


@dataclass(slots=True)
class History:
    calls: list[Call] = field(default_factory=list)
    listings: list[Listing] = field(default_factory=list)


def problems(history: History, final: dict[str, list[tuple[str, int]]]) -> list[str]:
    """What contradicts one order of all calls. `final` holds (definition, id) of each subject's versions, from 1."""
    found = _id_problems(final)
    for subject in {call.subject for call in history.calls}:
        versions = final.get(subject, [])
        calls = [call for call in history.calls if call.subject == subject]
        found += _answer_problems(subject, calls, versions)
        listings = [listing for listing in history.listings if listing.subject == subject]
        found += _order_problems(subject, calls, listings, versions)
    return found


def _id_problems(final: dict[str, list[tuple[str, int]]]) -> list[str]:
    ids: dict[str, set[int]] = defaultdict(set)
    definitions: dict[int, set[str]] = defaultdict(set)
    for versions in final.values():
        for definition, id_ in versions:
            ids[definition].add(id_)
            definitions[id_].add(definition)
    return [f"{d} has the ids {sorted(i)}" for d, i in ids.items() if len(i) > 1] + [
        f"id {i} has {len(d)} definitions" for i, d in definitions.items() if len(d) > 1
    ]


def _answer_problems(subject: str, calls: list[Call], versions: list[tuple[str, int]]) -> list[str]:
    found = []
    if len({definition for definition, _ in versions}) != len(versions):
        found.append(f"{subject}: a definition has two versions")
    for call in calls:
        if call.version is None:
            continue
        there = versions[call.version - 1] if call.version <= len(versions) else None
        if there != (call.definition, call.id):
            found.append(f"{subject}: version {call.version} was acknowledged as {call.definition}, but is {there}")
    return found


def _order_problems(
    subject: str, calls: list[Call], listings: list[Listing], versions: list[tuple[str, int]]
) -> list[str]:
    moment = float("-inf")
    for number, (definition, _) in enumerate(versions, 1):
        asked = [call.started for call in calls if call.definition == definition]
        if not asked:
            return [f"{subject}: nobody asked for version {number}"]
        earliest = max(min(asked), *(r.started for r in listings if r.count < number), float("-inf"))
        named = [call.ended for call in calls if call.version == number]
        seen = [r.ended for r in listings if r.count >= number]
        moment = max(moment, earliest)
        if moment > min(named + seen, default=float("inf")):
            return [f"{subject}: version {number} was seen before it can have been created"]
    return []
