"""What every schema format offers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tallystick.finding import Finding
from tallystick.model.definition import References, SchemaDefinition


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Schema:
    """A parsed definition. Each format adds what it found in the text."""

    definition: SchemaDefinition


@dataclass(frozen=True, slots=True)
class Format:
    """The functions of one format. They take the format's own `Schema` class, as its `parse` made it.

    Functions that look at outside input raise `InvalidSchema` or `InvalidRecord`, never anything else.
    """

    parse: Callable[[SchemaDefinition, References], Any]
    """Definition and everything it refers to → schema."""
    canonical_text: Callable[[str], str]
    """The text without what never counts: white space outside strings."""
    normal_form: Callable[[Any], str]
    """A text that is equal for equal parsed schemas; documentation does not count."""
    validate: Callable[[Any, object], list[Finding]]
    """Why a value does not fit; empty when it fits."""
    encode: Callable[[Any, object], bytes]
    """Value → payload; raises `InvalidRecord` with findings before a byte leaves."""
    decode: Callable[..., Any]
    """`decode(schema, payload, reader=None)` → value, resolved to the reader's schema where the format can;
    raises `InvalidRecord`, also for bytes left over."""
    parse_leniently: Callable[[SchemaDefinition, References], Any] | None = None
    """`parse` for texts that another system let in, where those are more than `parse` takes."""
    encoder_of: Callable[[Any], Callable[[object], bytes]] | None = None
    """`encode` for many values of one schema, where the format can prepare that."""
    decoder_of: Callable[[Any, Any], Callable[[bytes], Any]] | None = None
    """`decode` for many payloads of one schema, and of one reader's schema or None."""
