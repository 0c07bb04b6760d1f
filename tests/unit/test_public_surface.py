"""The public names are a decision: a new one needs a docs page and a line here."""

import tallystick

PUBLIC = ["Credentials", "RegistryClient"]


def test_public_names() -> None:
    assert tallystick.__all__ == sorted(PUBLIC)
    assert all(hasattr(tallystick, name) for name in PUBLIC)
