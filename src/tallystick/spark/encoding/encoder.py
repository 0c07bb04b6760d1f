"""How values become the payloads of one schema."""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a value does not fit, and the path to the place in it."""

    reason: str
    path: str


@dataclass(frozen=True, slots=True)
class ColumnEncoder:
    """Work of the JVM alone."""

    payload: Callable[[Column], Column]
    """Value → payload; null where the value does not fit the schema."""
    misfit: Callable[[Column], Column]
    """Value that does not fit → the path to the first thing in it that does not."""


@dataclass(frozen=True, slots=True)
class ArrowEncoder:
    """Whole Arrow batches in Python workers. Must pickle."""

    payloads: Callable[[pa.Array], pa.Array]
    """Values → payloads; null where a value does not fit the schema. No value is null."""
    misfits: Callable[[pa.Array], list[Misfit]]
    """Values that do not fit → why, and where."""


Encoder = ColumnEncoder | ArrowEncoder
