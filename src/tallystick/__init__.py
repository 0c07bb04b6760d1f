"""Tallystick keeps the producers and the consumers of event streams in agreement."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.rest import Credentials, RegistryClient

__all__ = ["Credentials", "RegistryClient"]

_HOMES = {"Credentials": "tallystick.rest", "RegistryClient": "tallystick.rest"}


def __getattr__(name: str) -> Any:
    # Loaded when asked for: the command line and the Spark workers import this package for other parts.
    if name not in _HOMES:
        raise AttributeError(f"module 'tallystick' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
