"""Clients of registries over HTTP: ours, and every other one that speaks Confluent's, OpenSchema's or Pulsar's API."""

from tallystick.rest.client import RegistryClient
from tallystick.rest.credentials import Credentials
from tallystick.rest.dialect import Compatibility

__all__ = ["Compatibility", "Credentials", "RegistryClient"]
