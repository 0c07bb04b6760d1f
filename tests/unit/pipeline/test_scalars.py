"""What plain scalars are."""

import pytest
import yaml
from yaml.nodes import ScalarNode

from tallystick.pipeline.scalars import Kind, kind, value


@pytest.mark.parametrize(
    ("text", "expected", "meant"),
    [
        ("word", Kind.TEXT, "word"),
        ("'no'", Kind.TEXT, "no"),
        ("2026-01-31", Kind.TEXT, "2026-01-31"),
        ("~", Kind.NOTHING, None),
        ("True", Kind.TRUTH, True),
        ("false", Kind.TRUTH, False),
        ("-5", Kind.WHOLE, -5),
        ("0.5", Kind.NUMBER, 0.5),
        ("1e5", Kind.NUMBER, 100000.0),
        ("no", Kind.AMBIGUOUS, "no"),
        ("On", Kind.AMBIGUOUS, "On"),
        ("007", Kind.AMBIGUOUS, "007"),
        ("1_000", Kind.AMBIGUOUS, "1_000"),
        ("0x10", Kind.AMBIGUOUS, "0x10"),
        ("0o17", Kind.AMBIGUOUS, "0o17"),
        ("22:22", Kind.AMBIGUOUS, "22:22"),
        (".inf", Kind.AMBIGUOUS, ".inf"),
        ("9" * 400, Kind.AMBIGUOUS, "9" * 400),
    ],
)
def test_a_scalar_is_read_as_yaml_1_2_has_it(text: str, expected: Kind, meant: object) -> None:
    node = yaml.compose(text, yaml.SafeLoader)
    assert isinstance(node, ScalarNode)
    assert kind(node) is expected
    assert value(node) == meant
