"""Can one schema read what another wrote? Evolution and verification both ask only this."""

from tallystick.compat.options import DEFAULT_OPTIONS, Options
from tallystick.compat.rules import comparison_of, key_value, type_change
from tallystick.finding import Direction, Finding
from tallystick.formats import Schema
from tallystick.formats.key_value import KeyValueSchema


def findings(old: Schema, new: Schema, direction: Direction, options: Options = DEFAULT_OPTIONS) -> list[Finding]:
    """Why the one cannot read what the other wrote; BACKWARD: the new reads the old, FORWARD: the old the new."""
    if old.definition.type != new.definition.type:
        return list(type_change.compare(old, new, direction))
    if isinstance(old, KeyValueSchema) and isinstance(new, KeyValueSchema):
        return list(key_value.compare(old, new, direction, options, findings))
    compare = comparison_of(new.definition.type) or type_change.compare_without_rules
    return list(compare(old, new, direction, options))
