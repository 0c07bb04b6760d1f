"""What the hops of a route counted: each record is validated once, and delivered or quarantined.

The counts of a hop are kept beside its checkpoint, and the counts of a batch that is tried again take the place of what
it counted before.
"""

from dataclasses import asdict, dataclass, fields
from typing import Any

from tallystick.errors import TallystickError
from tallystick.model.pipeline import OTHERS, Outcomes
from tallystick.spark.checkpoint import Memory
from tallystick.spark.landing.counts import Counts

_NAME = "counts"


@dataclass(frozen=True, slots=True)
class Tally:
    """What a hop did with its records."""

    seen: int = 0
    validated: int = 0
    """Tombstones are not."""
    passed_on: int = 0
    quarantined: int = 0
    tombstones: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


class Unbalanced(TallystickError):
    """A route has lost or doubled records, or has let some pass that nobody validated."""

    code = "unbalanced"


def told_to(memory: Memory, batch_id: int, tally: Tally) -> Counts:
    """Adds the counts of a batch to those of its hop. Raises `Unbalanced` where records are missing."""
    if tally.seen != tally.passed_on + tally.quarantined:
        raise Unbalanced(
            f"{tally.seen} records came in, {tally.passed_on} went on and {tally.quarantined} are in quarantine"
        )
    known: dict[str, Any] = memory.recall(_NAME) or {"batch": -1, "before": asdict(Tally()), "counts": asdict(Tally())}
    before = known["counts"] if known["batch"] < batch_id else known["before"]
    whole = Tally(**before) + tally
    memory.remember(_NAME, {"batch": batch_id, "before": before, "counts": asdict(whole)})
    good = tally.passed_on - tally.tombstones
    return Counts({OTHERS: Outcomes(good, tally.quarantined, tally.tombstones)})


def tally_of(memory: Memory) -> Tally:
    """All that a hop has done since its checkpoint was new."""
    known = memory.recall(_NAME)
    return Tally() if known is None else Tally(**known["counts"])


def require_balance(ingress: Tally, egress: Tally, *, validations: int) -> None:
    """Of a route that has delivered everything: what came in was validated at one of the ends, and is delivered or in
    quarantine. Tombstones have nothing to validate.

    `validations` is how often each record is validated: once, or twice in mode "both"; 0: nobody asks. Raises
    `Unbalanced`.
    """
    quarantined = ingress.quarantined + egress.quarantined
    sums = {
        "records that left the ingress": (ingress.passed_on, egress.seen),
        "records delivered or quarantined": (ingress.seen, egress.passed_on + quarantined),
    }
    if validations:
        sums["validations"] = (_expected(ingress, validations), ingress.validated + egress.validated)
    wrong = [f"{name}: {found} instead of {expected}" for name, (expected, found) in sums.items() if expected != found]
    if wrong:
        raise Unbalanced(f"the counts of the route do not add up: {'; '.join(wrong)}")


def _expected(ingress: Tally, validations: int) -> int:
    # What the ingress puts into quarantine never comes to the egress.
    return validations * (ingress.seen - ingress.tombstones) - (validations - 1) * ingress.quarantined
