"""The statistics of a partitioned topic: those of its partitions, summed."""

from collections.abc import Sequence
from typing import Any

_CLIENTS = {"publishers", "consumers"}
_EARLIEST = {"topicCreationTimeStamp"}
_NOT_SUMMED = {"averageMsgSize", "avgMessagesPerEntry"}


def summed(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Numbers are added, subscriptions go together by their name, texts and flags are those of the first partition.

    Clients are left out: one client has a producer or consumer on each partition.
    """
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: _together(name, [part[name] for part in parts if name in part]) for name in names}


def _together(name: str, values: Sequence[Any]) -> Any:
    first = values[0]
    if name in _CLIENTS:
        return []
    if name == "subscriptions":
        names = dict.fromkeys(found for value in values for found in value)
        return {found: summed([value[found] for value in values if found in value]) for found in names}
    if name in _EARLIEST:
        return min(values)
    is_number = isinstance(first, int | float) and not isinstance(first, bool)
    return sum(values) if is_number and name not in _NOT_SUMMED else first
