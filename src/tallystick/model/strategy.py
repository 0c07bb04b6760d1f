"""Compatibility strategies: which readings must hold, and against how much of the history."""

from enum import StrEnum

from tallystick.finding import Direction

_BACKWARD = frozenset({Direction.BACKWARD})
_FORWARD = frozenset({Direction.FORWARD})
_BOTH = _BACKWARD | _FORWARD


class Strategy(StrEnum):
    """The eight strategies; UNDEFINED is no strategy but "ask the next level" and is not one of them."""

    ALWAYS_COMPATIBLE = "ALWAYS_COMPATIBLE"
    ALWAYS_INCOMPATIBLE = "ALWAYS_INCOMPATIBLE"
    BACKWARD = "BACKWARD"
    FORWARD = "FORWARD"
    FULL = "FULL"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"

    @property
    def directions(self) -> frozenset[Direction]:
        """The readings that an evolution under this strategy must not break."""
        return _DIRECTIONS[self]

    @property
    def is_transitive(self) -> bool:
        """Whether the whole history counts, not only its last version."""
        return self.endswith("_TRANSITIVE")


_DIRECTIONS = {
    Strategy.ALWAYS_COMPATIBLE: frozenset[Direction](),
    Strategy.ALWAYS_INCOMPATIBLE: _BOTH,
    Strategy.BACKWARD: _BACKWARD,
    Strategy.FORWARD: _FORWARD,
    Strategy.FULL: _BOTH,
    Strategy.BACKWARD_TRANSITIVE: _BACKWARD,
    Strategy.FORWARD_TRANSITIVE: _FORWARD,
    Strategy.FULL_TRANSITIVE: _BOTH,
}
