"""The catalogue of compatibility rules.

A rule is one id, one sentence, one function and one folder of cases in `conformance/compat/<format>/<id>/`.
Its id says what happened between the old schema and the new one; `breaks` says which reading that breaks.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tallystick.finding import Direction, Finding, Place
from tallystick.model.strategy import Strategy

BACKWARD = Direction.BACKWARD
FORWARD = Direction.FORWARD


@dataclass(frozen=True, slots=True)
class Rule:
    id: str
    sentence: str
    breaks: frozenset[Direction]
    source: str
    """The specification, or the behaviour of a system, that the rule follows."""
    has_witness: bool
    """Whether a value always exists that shows the break. Where not, the rule refuses what cannot be proven."""
    function: Callable[..., Any]
    under: tuple[Strategy, ...] | None = None
    """The strategies that ask this rule, where they do not follow from the readings that it breaks."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    @property
    def strategies(self) -> tuple[Strategy, ...]:
        """The strategies that refuse what this rule finds."""
        if self.under is not None:
            return self.under
        return tuple(strategy for strategy in Strategy if strategy.directions & self.breaks)

    def finding(
        self,
        direction: Direction | None,
        message: str,
        fix: str,
        *,
        old: Place | None = None,
        new: Place | None = None,
        was: str | None = None,
        now: str | None = None,
    ) -> Finding:
        assert direction in self.breaks or (direction is None and not self.breaks)
        return Finding(rule=self.id, message=message, fix=fix, old=old, new=new, was=was, now=now, direction=direction)


CATALOGUE: dict[str, Rule] = {}
"""The rules of the modules that are loaded. For all of them ask `tallystick.compat.rules.catalogue`."""


def rule(
    id_: str,
    sentence: str,
    *breaks: Direction,
    source: str,
    has_witness: bool = True,
    under: tuple[Strategy, ...] | None = None,
) -> Callable[[Callable[..., Any]], Rule]:
    """Enters a function in the catalogue."""

    def enter(function: Callable[..., Any]) -> Rule:
        assert id_ not in CATALOGUE, f"{id_} stands twice in the catalogue"
        CATALOGUE[id_] = Rule(id_, sentence, frozenset(breaks), source, has_witness, function, under)
        return CATALOGUE[id_]

    return enter
