"""Which end validates a record. Its position decides, so that a record that comes again is decided the same."""

from enum import StrEnum

from pyspark.sql import Column
from pyspark.sql import functions as F

from tallystick.spark.columns import POSITION, STATUS


class Mode(StrEnum):
    SPLIT = "split"
    """Even positions at the ingress, the others at the egress."""
    INGRESS = "ingress"
    EGRESS = "egress"
    BOTH = "both"
    """Each record twice."""
    OFF = "off"


def at_ingress(mode: Mode) -> Column:
    """Whether the ingress validates a record; never null."""
    match mode:
        case Mode.SPLIT:
            return _is_even()
        case Mode.INGRESS | Mode.BOTH:
            return F.lit(True)
    return F.lit(False)


def at_egress(mode: Mode) -> Column:
    """Whether the egress does. The status tells what is left, not the position, which is one of another topic here."""
    match mode:
        case Mode.SPLIT | Mode.EGRESS:
            return F.coalesce(F.col(STATUS) != 1, F.lit(True))
        case Mode.BOTH:
            return F.lit(True)
    return F.lit(False)


def _is_even() -> Column:
    """Of the place in the partition: Pulsar's entries hold several records where they are batches."""
    place = F.col(f"{POSITION}.entry") + F.greatest(F.col(f"{POSITION}.batch_index"), F.lit(0))
    return F.pmod(place, F.lit(2)) == 0
