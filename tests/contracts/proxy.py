"""A TCP proxy before a broker or registry: cuts connections, or holds back what says a certain thing."""

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_LINGER_NOT = struct.pack("ii", 1, 0)


class Proxy:
    """Forwards to one server, and takes its place: where the server names its own address, clients are told this one.

    Brokers name it in frames that begin with their length, as text (Pulsar) or as host and number (Kafka); the ports
    have the same number of digits, so that every length stays right.
    """

    def __init__(self, port: int, *, is_framed: bool) -> None:
        self._target = ("127.0.0.1", port)
        self._is_framed = is_framed
        self._listening = _listening_socket(len(str(port)))
        self.port: int = self._listening.getsockname()[1]
        self._replaced = {
            f"127.0.0.1:{port}".encode(): f"127.0.0.1:{self.port}".encode(),
            b"127.0.0.1" + struct.pack(">i", port): b"127.0.0.1" + struct.pack(">i", self.port),
        }
        self._connected = threading.Condition()
        self._connections: list[tuple[socket.socket, socket.socket]] = []
        self._threads: list[threading.Thread] = []
        self._held: bytes | None = None
        self._go_on = threading.Event()
        self.is_holding = threading.Event()
        """Set when something is held back."""
        self.cuts = 0
        """Connections that were cut."""
        self._start(self._accept)

    def hold(self, said: bytes) -> None:
        """From the next bytes of a client on that say so, its connection stands still until `release`."""
        self._go_on.clear()
        self.is_holding.clear()
        self._held = said

    def release(self) -> None:
        self._held = None
        self._go_on.set()

    def cut(self, wait_s: float = 30) -> None:
        """Ends all connections at once, without a good-bye, and with what is on its way; waits until there is one."""
        with self._connected:
            self._connected.wait_for(lambda: self._connections, wait_s)
            connections, self._connections = self._connections, []
        self.cuts += len(connections)
        for pair in connections:
            for end in pair:
                _drop(end)

    def close(self) -> None:
        _drop(self._listening)
        self.release()
        self.cut(0)
        for thread in self._threads:
            thread.join(30)

    def _start(self, work: "object", *arguments: object) -> None:
        assert callable(work)
        thread = threading.Thread(target=work, args=arguments, name="proxy", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(self._target, timeout=10)
            except OSError:
                _drop(client)
                continue
            server.settimeout(None)
            with self._connected:
                self._connections.append((client, server))
                self._connected.notify_all()
            self._start(self._ask, client, server)
            self._start(self._answer, server, client)

    def _ask(self, client: socket.socket, server: socket.socket) -> None:
        with _ending(client, server):
            while data := client.recv(65_536):
                held = self._held
                if held is not None and held in data:
                    self.is_holding.set()
                    self._go_on.wait()
                server.sendall(data)

    def _answer(self, server: socket.socket, client: socket.socket) -> None:
        with _ending(client, server):
            for data in _frames(server) if self._is_framed else iter(lambda: server.recv(65_536), b""):
                for own, ours in self._replaced.items():
                    data = data.replace(own, ours)
                client.sendall(data)


def _listening_socket(digits: int) -> socket.socket:
    """On a free port of so many digits."""
    while True:
        listening = socket.create_server(("127.0.0.1", 0))
        if len(str(listening.getsockname()[1])) == digits:
            return listening
        listening.close()


def _frames(source: socket.socket) -> Iterator[bytes]:
    while head := _exactly(source, 4):
        yield head + _exactly(source, int.from_bytes(head))


def _exactly(source: socket.socket, size: int) -> bytes:
    """Empty where the other side has ended."""
    data = bytearray()
    while len(data) < size:
        part = source.recv(size - len(data))
        if not part:
            return b""
        data += part
    return bytes(data)


@contextmanager
def _ending(*ends: socket.socket) -> Iterator[None]:
    """Either end that is gone takes the other one with it."""
    try:
        with contextlib.suppress(OSError):
            yield
    finally:
        for end in ends:
            _drop(end)


def _drop(end: socket.socket) -> None:
    """Wakes the thread that waits for it, too, which closing alone does not."""
    with contextlib.suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
    end.close()


@contextmanager
def proxied(port: int, *, is_framed: bool = True) -> Iterator[Proxy]:
    proxy = Proxy(port, is_framed=is_framed)
    try:
        yield proxy
    finally:
        proxy.close()
