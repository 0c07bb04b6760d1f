"""How values become the payloads of one schema."""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column


@dataclass(frozen=True, slots=True)
class ColumnEncoder:
    """Work of the JVM alone."""

    payload: Callable[[Column], Column]
    """Value → payload; null where the value does not fit the schema."""


@dataclass(frozen=True, slots=True)
class ArrowEncoder:
    """Whole Arrow batches in Python workers. Must pickle."""

    payloads: Callable[[pa.Array], pa.Array]
    """Values → payloads; null where a value does not fit the schema. No value is null."""


Encoder = ColumnEncoder | ArrowEncoder
