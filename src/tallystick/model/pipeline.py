"""What a pipeline says of itself: the one shape between those who report and those who show it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tallystick.errors import InvalidArgument

OTHERS = "*"
"""Stands for the schemas that are too many to be told apart."""
MOST_SCHEMAS = 100
_LONGEST_NAME = 200
_LONGEST_SCHEMA = 600
_LONGEST_MESSAGE = 2_000


class PipelineState(StrEnum):
    RUNNING = "running"
    WAITING = "waiting"
    """A broker or a registry does not answer; it tries again."""
    BLOCKED = "blocked"
    """Somebody has to decide something before it goes on."""
    STOPPED = "stopped"
    FINISHED = "finished"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What became of records."""

    good: int = 0
    quarantined: int = 0
    tombstones: int = 0

    @property
    def seen(self) -> int:
        return self.good + self.quarantined + self.tombstones

    def __add__(self, other: "Outcomes") -> "Outcomes":
        return Outcomes(
            self.good + other.good, self.quarantined + other.quarantined, self.tombstones + other.tombstones
        )

    def as_dict(self) -> dict[str, int]:
        return {"good": self.good, "quarantined": self.quarantined, "tombstones": self.tombstones}


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineStatus:
    """How far a pipeline is. Its numbers count from its last start."""

    state: PipelineState
    records: Outcomes = field(default_factory=Outcomes)
    by_schema: Mapping[str, Outcomes] = field(default_factory=dict)
    """By the schema's name, such as `orders v3` or `id 17`; at most `MOST_SCHEMAS`."""
    batch: int | None = None
    """The last one that is done."""
    lag: int | None = None
    """Records that are there and have not been read; None where nobody knows."""
    rate: float | None = None
    """Records in a second, of the last batch."""
    started_at: str | None = None
    """ISO 8601."""
    message: str | None = None
    """Why it waits, is blocked or failed."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else this kind of pipeline has to tell."""

    def as_dict(self) -> dict[str, Any]:
        """The status as plain values for JSON, without what is not known."""
        fields: dict[str, Any] = {
            "state": str(self.state),
            "records": {"seen": self.records.seen, **self.records.as_dict()},
            "schemas": {name: counted.as_dict() for name, counted in self.by_schema.items()},
            "batch": self.batch,
            "lag": self.lag,
            "rate": self.rate,
            "started_at": self.started_at,
            "message": self.message,
            "details": dict(self.details) or None,
        }
        return {name: value for name, value in fields.items() if value is not None}


def bounded(by_schema: Mapping[str, Outcomes], most: int = MOST_SCHEMAS) -> dict[str, Outcomes]:
    """Those with the most records, and all others summed as `*`."""
    if len(by_schema) <= most:
        return dict(by_schema)
    ordered = sorted(by_schema.items(), key=lambda item: (item[0] == OTHERS, -item[1].seen, item[0]))
    return dict(ordered[: most - 1]) | {OTHERS: sum((counted for _, counted in ordered[most - 1 :]), Outcomes())}


def pipeline_name(text: str) -> str:
    """Raises `InvalidArgument` for what is no name."""
    if not text.strip() or not text.isprintable() or "/" in text or len(text) > _LONGEST_NAME:
        raise InvalidArgument(
            "pipeline", f"{text[:60]!r} is no name: use up to {_LONGEST_NAME} characters that print, and no slash"
        )
    return text


def status_of(body: Mapping[str, Any]) -> PipelineStatus:
    """The status that a body describes; raises `InvalidArgument` for one that is none."""
    unknown = sorted(body.keys() - _FIELDS)
    if unknown:
        raise _wrong(f"nobody knows {', '.join(repr(name[:60]) for name in unknown)}; put it into details")
    schemas = _object(body, "schemas")
    if len(schemas) > MOST_SCHEMAS:
        raise _wrong(f"schemas has {len(schemas)} entries; sum those beyond {MOST_SCHEMAS} as {OTHERS!r}")
    return PipelineStatus(
        state=_state(body.get("state")),
        records=_outcomes(_object(body, "records"), "records"),
        by_schema={_schema(name): _outcomes(counted, f"schemas of {name[:60]!r}") for name, counted in schemas.items()},
        batch=_count(body, "batch"),
        lag=_count(body, "lag"),
        rate=_number(body.get("rate")),
        started_at=_text(body, "started_at"),
        message=_text(body, "message"),
        details=_details(body),
    )


_FIELDS = {"state", "records", "schemas", "batch", "lag", "rate", "started_at", "message", "details"}


def _wrong(reason: str) -> InvalidArgument:
    return InvalidArgument("status", reason)


def _state(value: Any) -> PipelineState:
    try:
        return PipelineState(value)
    except ValueError as e:
        raise _wrong(f"state is one of {', '.join(PipelineState)}, not {str(value)[:60]!r}") from e


def _object(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _wrong(f"{name} is a JSON object")
    return value


def _details(body: Mapping[str, Any]) -> Mapping[str, Any]:
    details = _object(body, "details")
    try:
        json.dumps(details, allow_nan=False)
    except (ValueError, RecursionError) as e:
        raise _wrong(f"details is no JSON that can be kept: {e}") from e
    return details


def _schema(name: str) -> str:
    if not name or not name.isprintable() or len(name) > _LONGEST_SCHEMA:
        raise _wrong(f"schemas are named by up to {_LONGEST_SCHEMA} characters that print, not {name[:60]!r}")
    return name


def _outcomes(value: Any, what: str) -> Outcomes:
    if not isinstance(value, dict):
        raise _wrong(f"{what} is a JSON object")
    return Outcomes(*(_count(value, name) or 0 for name in ("good", "quarantined", "tombstones")))


def _count(body: Mapping[str, Any], name: str) -> int | None:
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise _wrong(f"{name} is a whole number from 0, not {str(value)[:60]!r}")
    return value


def _number(value: Any) -> float | None:
    if value is None:
        return None
    # JSON of Python also spells what is no number.
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise _wrong(f"rate is a number from 0, not {str(value)[:60]!r}")
    return float(value)


def _text(body: Mapping[str, Any], name: str) -> str | None:
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise _wrong(f"{name} is a text")
    return value[:_LONGEST_MESSAGE]
