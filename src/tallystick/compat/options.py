"""What users may choose about the rules, apart from the strategy."""

from dataclasses import dataclass
from enum import StrEnum


class OptionalProperties(StrEnum):
    """How JSON Schema treats an optional property that only one of the two schemas declares.

    An open object may hold any property, so a value written under the old schema may hold the new one's name
    with something else in it. STRICT counts that possibility, LENIENT trusts that nobody did it.
    """

    STRICT = "strict"
    LENIENT = "lenient"


@dataclass(frozen=True, slots=True)
class Options:
    optional_properties: OptionalProperties = OptionalProperties.STRICT


DEFAULT_OPTIONS = Options()
