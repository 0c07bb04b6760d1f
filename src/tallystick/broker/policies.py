"""What is set for the topics of a namespace, or for one topic, beside their schemas."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

WITHOUT_LIMIT = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPolicies:
    """None means "ask the next level". `WITHOUT_LIMIT` keeps for ever, 0 keeps only what is not acknowledged."""

    retention_minutes: int | None = None
    retention_mb: int | None = None
    ttl_seconds: int | None = None
    """After which a message counts as acknowledged; 0: never."""
    deduplication: bool | None = None

    def over(self, lower: "TopicPolicies") -> "TopicPolicies":
        said = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}
        return replace(lower, **said)

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


def policies_of(stored: Mapping[str, Any]) -> TopicPolicies:
    return TopicPolicies(**{f.name: stored[f.name] for f in fields(TopicPolicies) if f.name in stored})


DEFAULTS = TopicPolicies(retention_minutes=7 * 24 * 60, retention_mb=WITHOUT_LIMIT, ttl_seconds=0, deduplication=False)
"""A week, so that who comes later finds what was sent before; acknowledged or not."""
