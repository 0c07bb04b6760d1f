"""The semantic diff: every change between two schemas, each marked with the strategies that it breaks."""

from dataclasses import replace

from tallystick.compat import reading
from tallystick.compat.change import Change, ChangeKind
from tallystick.compat.changes import changes_of, key_value
from tallystick.compat.options import DEFAULT_OPTIONS, Options
from tallystick.finding import Direction, Finding
from tallystick.formats import Schema
from tallystick.formats.key_value import KeyValueSchema


def diff(old: Schema, new: Schema, options: Options = DEFAULT_OPTIONS) -> list[Change]:
    """Every change in the order of the text; a finding that no change accounts for is listed as one itself."""
    changes = _changes(old, new)
    findings = [f for direction in Direction for f in reading.findings(old, new, direction, options)]
    causes: dict[int, list[Finding]] = {}
    unexplained = []
    for finding in findings:
        cause = _cause(changes, finding)
        if cause is None:
            unexplained.append(finding)
        else:
            causes.setdefault(cause, []).append(finding)
    explained = [replace(change, findings=tuple(causes.get(i, ()))) for i, change in enumerate(changes)]
    return explained + _as_changes(unexplained)


def _changes(old: Schema, new: Schema) -> list[Change]:
    if old.definition.type != new.definition.type:
        return []
    if isinstance(old, KeyValueSchema) and isinstance(new, KeyValueSchema):
        return list(key_value.changes(old, new, _changes))
    changes = changes_of(new.definition.type)
    return [] if changes is None else list(changes(old, new))


def _cause(changes: list[Change], finding: Finding) -> int | None:
    """The change at the finding's place, or else the nearest one around it."""
    best, depth = None, -1
    for i, change in enumerate(changes):
        for place, found in ((change.new, finding.new), (change.old, finding.old)):
            if (
                place is not None
                and found is not None
                and _is_within(found.path, place.path)
                and len(place.path) > depth
            ):
                best, depth = i, len(place.path)
    return best


def _is_within(path: str, outer: str) -> bool:
    return path == outer or path.startswith((outer + "/", outer + "."))


def _as_changes(findings: list[Finding]) -> list[Change]:
    """What breaks both readings for the same reason is one change."""
    together: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        together.setdefault((finding.rule, finding.old, finding.new, finding.was, finding.now), []).append(finding)
    return [
        Change(
            kind=ChangeKind.CHANGED,
            what=same[0].message,
            old=same[0].old,
            new=same[0].new,
            was=same[0].was,
            now=same[0].now,
            findings=tuple(same),
        )
        for same in together.values()
    ]
