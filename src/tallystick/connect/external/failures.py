"""What went wrong with the schema of a third-party registry, told to the one who sends or reads."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tallystick.errors import (
    Closed,
    Forbidden,
    IncompatibleSchema,
    InvalidRecord,
    NotFound,
    SchemaSerializationError,
    TallystickError,
    Unauthenticated,
    Unavailable,
)
from tallystick.finding import Finding
from tallystick.model.subject import SchemaId

_MOST_TOLD = 5
"""Findings that the text quotes; the error itself has all."""


@dataclass(frozen=True, slots=True)
class About:
    """What somebody is doing with which schema."""

    topic: str | None
    url: str
    subject: str | None = None
    schema_id: SchemaId | None = None

    def __str__(self) -> str:
        known = {"topic": self.topic, "subject": self.subject, "schema id": self.schema_id}
        return ", ".join(f"{name} {value}" for name, value in known.items() if value is not None) or "a schema"

    def error(self, reason: str, findings: Sequence[Finding] = ()) -> SchemaSerializationError:
        facts = {"topic": self.topic, "subject": self.subject, "schema_id": self.schema_id, "url": self.url}
        return SchemaSerializationError(f"{self}: {reason}", findings, **facts)

    def unfit(self, error: InvalidRecord, what: str) -> SchemaSerializationError:
        """A value or payload that does not fit."""
        return self.error(f"{what}: {told(error.findings) or error.message}", error.findings)


@contextmanager
def asking(about: About, fix: str) -> Iterator[None]:
    """Around questions to the registry. `fix` is what helps where it does not have what was asked for.

    Whoever may not ask, or gets no answer, or is refused by the subject's strategy, is told so by errors of their own:
    programs act on those. All else is a `SchemaSerializationError`.
    """
    at = f"the registry at {about.url}"
    try:
        yield
    except (SchemaSerializationError, Closed):
        raise
    except Unavailable as e:
        raise type(e)(f"{about}: {_named(e, at)}", url=about.url, topic=about.topic) from e
    except Unauthenticated as e:
        hint = "give credentials that it knows: credentials=Credentials(username=…, password=…) or (token=…)"
        raise Unauthenticated(f"{about}: {at} does not know who asks: {e.message}; {hint}", url=about.url) from e
    except Forbidden as e:
        hint = "ask its administrator for the right"
        raise Forbidden(f"{about}: {at} does not permit it: {e.message}; {hint}", url=about.url) from e
    except IncompatibleSchema as e:
        hint = "" if e.findings else "; change the schema as it says, or the compatibility level of the subject"
        raise IncompatibleSchema(f"{about}: {at} refuses the schema: {e.message}{hint}", e.findings) from e
    except NotFound as e:
        raise about.error(f"{at} does not have it: {e.message}; {fix}") from e
    except TallystickError as e:
        findings = getattr(e, "findings", ())
        raise about.error(f"{_named(e, at)}", findings) from e


def told(findings: Sequence[Finding]) -> str:
    """Rules, places and fixes for people."""
    texts = [f"[{f.rule}]{_at(f)} {f.message} (fix: {f.fix})" for f in findings[:_MOST_TOLD]]
    more = f"; and {len(findings) - _MOST_TOLD} more" if len(findings) > _MOST_TOLD else ""
    return "; ".join(texts) + more


def _at(finding: Finding) -> str:
    return f" {finding.new}" if finding.new is not None else ""


def _named(error: TallystickError, registry: str) -> str:
    """Most errors of a connection name the registry themselves."""
    return error.message if registry in error.message else f"{registry}: {error.message}"
