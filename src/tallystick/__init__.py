"""Tallystick keeps the producers and the consumers of event streams in agreement."""
