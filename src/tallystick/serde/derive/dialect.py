"""How the plain values of a format differ from those of Python."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tallystick.serde.conversion import Convert
from tallystick.serde.derive.shapes import Scalar, Shape


@dataclass(frozen=True, slots=True)
class ScalarConversion:
    to_plain: Convert | None
    """Leaves what is not of its type as it is; None: everything."""
    from_plain: Convert
    plain_type: type


@dataclass(frozen=True, slots=True)
class Dialect:
    scalar_of: Callable[[Scalar], ScalarConversion | None]
    """For values without parts that do not pass as they are."""
    symbol_of: Callable[[Enum], Any]
    """What stands for the member of an enum."""
    tag_of: Callable[[Shape], str | None]
    """The name that goes with the branch of a union, where the format wants one."""
    is_whole: bool
    """Whether a record that was read has all its fields, and no others."""
