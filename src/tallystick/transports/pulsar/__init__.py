"""Pulsar's binary protocol, spoken by a client of our own: to the embedded broker and to any Pulsar."""

from tallystick.transports.pulsar.settings import PulsarSettings
from tallystick.transports.pulsar.transport import PulsarTransport

__all__ = ["PulsarSettings", "PulsarTransport"]
