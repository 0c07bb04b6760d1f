"""A schema of one format as a schema of another, and why not.

`translate` reads a schema into a shape (`shape`), fits the shape to what the other format can hold, and writes it. Each
thing that is lost on the way is a finding of the catalogue in `rule`. `convert` takes values along.
"""

from tallystick.translate.mapping import FieldTranslation
from tallystick.translate.rule import CATALOGUE, Rule, Severity
from tallystick.translate.translation import TARGETS, Translation, convert, translate

__all__ = ["CATALOGUE", "TARGETS", "FieldTranslation", "Rule", "Severity", "Translation", "convert", "translate"]
