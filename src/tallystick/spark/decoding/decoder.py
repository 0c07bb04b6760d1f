"""How the payloads of one writer's schema become values of the reader's type."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column

from tallystick.formats.avro.types import AvroSchema


@dataclass(frozen=True, slots=True)
class ColumnDecoder:
    """Work of the JVM alone."""

    value: Callable[[Column, Column], Column]
    """Payload and key → a value of the target type; null, or `wrong`, where the bytes do not fit."""
    key: Hashable = None
    """Decoders with the same key do the same, so that one of them serves all their schemas; None: with nobody."""
    wrong: Callable[[Column], Column | None] | None = None
    """Value → whether it does not fit after all, though it could be read."""


@dataclass(frozen=True, slots=True)
class ArrowDecoder:
    """Whole Arrow batches in Python workers. Must pickle."""

    values: Callable[[pa.Array, pa.Array], pa.Array]
    """Payloads and keys → values of the target's Arrow type; null where the bytes do not fit. No payload is null."""


@dataclass(frozen=True, slots=True)
class AvroDecoder:
    """Work of the JVM, for all writers of a reader in one expression: see `avro`."""

    writer: AvroSchema
    reader: AvroSchema


Decoder = ColumnDecoder | ArrowDecoder | AvroDecoder
