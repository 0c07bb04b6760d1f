"""The semantic diff: every change between two schemas, each marked with the strategies that it breaks."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from tallystick.compat import reading
from tallystick.compat.change import Change, ChangeKind
from tallystick.compat.changes import avro, json_schema, key_value, protobuf
from tallystick.compat.options import DEFAULT_OPTIONS, Options
from tallystick.finding import Direction, Finding
from tallystick.formats import Schema
from tallystick.model import schema_type as types
from tallystick.model.schema_type import SchemaType

_CHANGES: dict[SchemaType, Callable[[Any, Any], Iterable[Change]]] = {
    types.AVRO: avro.changes,
    types.PULSAR_JSON: avro.changes,
    types.PULSAR_PROTOBUF: avro.changes,
    types.JSON_SCHEMA: json_schema.changes,
    types.PROTOBUF: protobuf.changes,
    types.PROTOBUF_NATIVE: protobuf.changes,
    types.KEY_VALUE: key_value.changes,
}


def diff(old: Schema, new: Schema, options: Options = DEFAULT_OPTIONS) -> list[Change]:
    """Every change in the order of the text; a finding that no change accounts for is listed as one itself."""
    kind = new.definition.type
    known = old.definition.type == kind and kind in _CHANGES
    changes = list(_CHANGES[kind](old, new)) if known else []
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
    return explained + [_as_change(finding) for finding in unexplained]


def _cause(changes: list[Change], finding: Finding) -> int | None:
    """The change at the finding's place, or else the nearest one around it."""
    best, depth = None, -1
    for i, change in enumerate(changes):
        for place, found in ((change.new, finding.new), (change.old, finding.old)):
            if place is not None and found is not None and _is_within(found.path, place.path) and len(place.path) > depth:
                best, depth = i, len(place.path)
    return best


def _is_within(path: str, outer: str) -> bool:
    return path == outer or path.startswith((outer + "/", outer + "."))


def _as_change(finding: Finding) -> Change:
    return Change(
        kind=ChangeKind.CHANGED,
        what=finding.message,
        old=finding.old,
        new=finding.new,
        was=finding.was,
        now=finding.now,
        findings=(finding,),
    )
