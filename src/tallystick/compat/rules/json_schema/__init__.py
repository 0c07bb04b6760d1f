"""When every value of one JSON Schema fits another: rules and the proof behind them.

`containment` is the proof, `breaches` the catalogue of rules, `objects` says what the two policies for optional
properties trust. `format` and other annotations never count.
"""

from collections.abc import Iterator
from dataclasses import replace

from tallystick.compat.options import Options
from tallystick.compat.rule import BACKWARD
from tallystick.compat.rules.json_schema.containment import Containment
from tallystick.finding import Direction, Finding
from tallystick.formats.json_schema import JsonSchema

__all__ = ["compare"]


def compare(old: JsonSchema, new: JsonSchema, direction: Direction, options: Options) -> Iterator[Finding]:
    """Why the one schema does not take every value of the other, each reason once."""
    writer, reader = (old, new) if direction is BACKWARD else (new, old)
    found: set[Finding] = set()
    for failure in Containment(writer, reader, options).failures():
        finding = failure.finding(direction)
        seen = _without_branch(finding) if failure.writer.expanded else finding
        if seen not in found:
            found.add(seen)
            yield finding


def _without_branch(finding: Finding) -> Finding:
    """What several branches of the writer have in common is said once, so the place in the writer does not count."""
    return replace(finding, old=None) if finding.direction is BACKWARD else replace(finding, new=None)
