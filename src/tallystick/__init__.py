"""Tallystick keeps the producers and the consumers of event streams in agreement."""

__all__: list[str] = []
