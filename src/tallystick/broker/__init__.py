"""The embedded broker: Pulsar's binary protocol on a durable log, with the registry's checks in it."""
