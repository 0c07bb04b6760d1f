"""Key and value of one record as one value."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class KeyValueEncoding(StrEnum):
    """Where the key travels."""

    INLINE = "INLINE"
    """In the payload, before the value."""
    SEPARATED = "SEPARATED"
    """As the record's key; the payload is the value alone."""


@dataclass(frozen=True, slots=True)
class KeyValue:
    """The value of a KEY_VALUE schema; None stands for a half that is not there."""

    key: Any = None
    value: Any = None
