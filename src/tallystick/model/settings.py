"""Settings: what is configured at one level. A subject's count over its namespace's, those over the server's."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from tallystick.model.strategy import Strategy


class Mode(StrEnum):
    """What may be done to a subject, a namespace or the server."""

    READWRITE = "READWRITE"
    READONLY = "READONLY"
    READONLY_OVERRIDE = "READONLY_OVERRIDE"
    """READONLY for all below it, whatever is set there."""
    IMPORT = "IMPORT"
    """Schemas come with the id and version that they had elsewhere."""
    FORWARD = "FORWARD"
    """Written by another server; read here."""


class Enforce(StrEnum):
    REFUSE = "refuse"
    WARN = "warn"
    """What would be refused passes; its findings show in metrics and events."""


class PayloadValidation(StrEnum):
    """What a broker asks of a message before it takes it. Each asks for what the one before it asks."""

    OFF = "off"
    REGISTERED = "registered"
    """Its schema version is one of the topic's."""
    HALF = "half"
    """Every other payload fits its schema: the other end validates the rest."""
    ALL = "all"
    """Its payload fits its schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """None means "ask the next level"."""

    strategy: Strategy | None = None
    mode: Mode | None = None
    enforce: Enforce | None = None
    auto_update: bool | None = None
    validation_enforced: bool | None = None
    payload_validation: PayloadValidation | None = None
    optional_properties: str | None = None
    normalize: bool | None = None
    alias: str | None = None
    compatibility_group: str | None = None
    contract: Mapping[str, object] = field(default_factory=dict)
    """Default and override metadata and rule sets, and what else Confluent's clients keep here, as they send it."""

    def over(self, lower: "Settings") -> "Settings":
        """These settings where they say something, else the other ones. An alias is a subject's own."""
        taken = {
            f.name: getattr(self, f.name) if getattr(self, f.name) not in (None, {}) else getattr(lower, f.name)
            for f in fields(Settings)
        }
        whole = {
            "alias": self.alias,
            "mode": _mode(self.mode, lower.mode),
            "contract": {**lower.contract, **self.contract},
        }
        return Settings(**{**taken, **whole})

    def with_changes(self, changes: Mapping[str, Any]) -> "Settings":
        return replace(self, **changes)


def _mode(own: Mode | None, lower: Mode | None) -> Mode | None:
    return lower if lower is Mode.READONLY_OVERRIDE or own is None else own


def effective(levels: Iterable[Settings]) -> Settings:
    """The settings that count, from the most particular level to the most general one."""
    found, *rest = levels
    for lower in rest:
        found = found.over(lower)
    return found


SERVER_DEFAULTS = Settings(
    strategy=Strategy.BACKWARD,
    mode=Mode.READWRITE,
    enforce=Enforce.REFUSE,
    auto_update=True,
    validation_enforced=False,
    payload_validation=PayloadValidation.OFF,
    optional_properties="strict",
    normalize=False,
)

TOPIC_DEFAULTS = replace(SERVER_DEFAULTS, strategy=Strategy.FULL)
"""For the subjects of broker topics, whose producers and consumers are not updated in any order."""
