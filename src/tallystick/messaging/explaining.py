"""Why a cluster refuses a schema, where it does not say so itself: Pulsar's own brokers name no rule, path or fix."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from tallystick.compat import reading
from tallystick.errors import IncompatibleSchema, TallystickError
from tallystick.finding import Direction, Finding, Place
from tallystick.formats import parse
from tallystick.model.definition import SchemaDefinition
from tallystick.serde.records import described

REFUSED = "CLUSTER_REFUSES_SCHEMA"
WRITES = (Direction.BACKWARD, Direction.FORWARD)
"""What a producer's schema may break: which of them counts, only the cluster knows."""
READS = (Direction.BACKWARD,)
"""What a consumer's schema may break."""
_MOST_TOLD = 3
_LONGEST_TEXT = 300

Latest = Callable[[str], Awaitable[SchemaDefinition | None]]
"""Topic → its latest schema."""


@asynccontextmanager
async def explaining(
    topics: Sequence[str], definition: SchemaDefinition | None, latest: Latest, directions: Sequence[Direction]
) -> AsyncIterator[None]:
    """Around whatever attaches a schema: a refusal without findings gets those against the latest schema."""
    try:
        yield
    except IncompatibleSchema as e:
        if e.findings or definition is None:
            raise
        raise await _explained(e, topics, definition, latest, directions) from e


async def _explained(
    error: IncompatibleSchema,
    topics: Sequence[str],
    definition: SchemaDefinition,
    latest: Latest,
    directions: Sequence[Direction],
) -> IncompatibleSchema:
    for topic in topics:
        found = _findings(await latest(topic), definition, directions)
        if found:
            told = "; ".join(f"[{f.rule}] {f.message} (fix: {f.fix})" for f in found[:_MOST_TOLD])
            more = f"; and {len(found) - _MOST_TOLD} more" if len(found) > _MOST_TOLD else ""
            return IncompatibleSchema(f"topic {topic} refuses schema {described(definition)}: {told}{more}", found)
    text = error.message if len(error.message) <= _LONGEST_TEXT else f"{error.message[:_LONGEST_TEXT]} …"
    return IncompatibleSchema(text, [_unexplained(text)])


def _findings(
    latest: SchemaDefinition | None, definition: SchemaDefinition, directions: Sequence[Direction]
) -> list[Finding]:
    if latest is None:
        return []
    try:
        old, new = parse(latest, is_lenient=True), parse(definition, is_lenient=True)
    except TallystickError:
        # What the cluster took may make no sense to us; its own words are left.
        return []
    return [finding for direction in directions for finding in reading.findings(old, new, direction)]


def _unexplained(text: str) -> Finding:
    fix = "compare it with all versions of the topic's schema, and with the strategy of its namespace"
    return Finding(rule=REFUSED, message=text, fix=fix, old=Place(""), new=Place(""))
