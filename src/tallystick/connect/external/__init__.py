"""Schemas of third-party registries (PIP-420), made of the native ones."""

from tallystick.connect.external.schema import ExternalSchema
from tallystick.connect.external.wrapping import as_external

__all__ = ["ExternalSchema", "as_external"]
