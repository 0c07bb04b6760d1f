"""What the producers and consumers of one client share."""

import itertools
from dataclasses import dataclass, field

from tallystick.transports.pulsar.lookup import Lookup
from tallystick.transports.pulsar.settings import PulsarSettings


@dataclass(frozen=True, slots=True)
class Cluster:
    settings: PulsarSettings
    lookup: Lookup
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    def next_id(self) -> int:
        """Of a producer or consumer: no two on a connection may have the same."""
        return next(self._numbers)
