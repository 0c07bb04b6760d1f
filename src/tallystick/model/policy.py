"""Policy: what a topic's owner decided about the schemas of its clients."""

from dataclasses import dataclass

from tallystick.model.strategy import Strategy


@dataclass(frozen=True, slots=True)
class Policy:
    strategy: Strategy
    auto_update: bool = True
    """Whether a client may bring a new schema; where not, only an administrator registers one."""
    validation_enforced: bool = False
    """Whether a producer needs a schema on a topic that has one."""
