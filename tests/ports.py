"""Free loopback ports."""

import socket


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on; all are held while they are chosen, so that they differ."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def free_port() -> int:
    return free_ports(1)[0]
