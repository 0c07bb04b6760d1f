"""May this schema become the next version of its subject?"""

from collections.abc import Sequence
from dataclasses import dataclass

from tallystick.compat import reading
from tallystick.compat.options import DEFAULT_OPTIONS, Options
from tallystick.compat.rules import type_change
from tallystick.finding import Direction, Finding
from tallystick.formats import Schema, is_same
from tallystick.model.strategy import Strategy


@dataclass(frozen=True, slots=True)
class Registered:
    """A schema that is a version of its subject already."""

    version: int
    schema: Schema


def check(
    history: Sequence[Registered], candidate: Schema, strategy: Strategy, options: Options = DEFAULT_OPTIONS
) -> list[Finding]:
    """Every reason against the candidate, oldest version first; empty when it may become the next version.

    `history` is in the order of the versions. The first version of a subject always fits.
    """
    if strategy is Strategy.ALWAYS_INCOMPATIBLE and any(is_same(r.schema, candidate) for r in history):
        return []
    compared = history if strategy.is_transitive else history[-1:]
    return [
        finding.against(registered.version)
        for registered in compared
        for finding in _against_one(registered.schema, candidate, strategy, options)
    ]


def _against_one(old: Schema, new: Schema, strategy: Strategy, options: Options) -> list[Finding]:
    if strategy is Strategy.ALWAYS_COMPATIBLE:
        return list(type_change.external_with_native(old, new))
    if strategy is Strategy.ALWAYS_INCOMPATIBLE:
        return list(type_change.frozen(old, new))
    return [
        finding
        for direction in Direction
        if direction in strategy.directions
        for finding in reading.findings(old, new, direction, options)
    ]
