"""The connections of a client: one to each broker."""

import asyncio
import ssl
from dataclasses import dataclass

from tallystick.errors import Closed, TimedOut, Unauthenticated, Unavailable
from tallystick.transports.pulsar.connection import Connection
from tallystick.transports.pulsar.settings import Address, PulsarSettings


@dataclass(frozen=True, slots=True)
class Target:
    """Where to connect to, and the broker behind it where that is a proxy."""

    address: Address
    proxied: str | None = None


class Pool:
    def __init__(self, settings: PulsarSettings) -> None:
        self.settings = settings
        self._addresses = settings.addresses()
        self._turn = 0
        self._connecting: dict[Target, asyncio.Task[Connection]] = {}
        self._is_closed = False

    @property
    def service(self) -> Address:
        """The host of the URL whose turn it is."""
        return self._addresses[self._turn % len(self._addresses)]

    def next_service(self) -> None:
        """The present one does not answer; another one may."""
        self._turn += 1

    async def get(self, target: Target) -> Connection:
        """An open connection. Raises `Unavailable`, `Unauthenticated`."""
        if self._is_closed:
            raise Closed(f"the client of {self.settings.url} is closed")
        connecting = self._connecting.get(target)
        if connecting is None or (connecting.done() and not _is_usable(connecting)):
            connecting = asyncio.get_running_loop().create_task(self._connect(target))
            self._connecting[target] = connecting
        # Others may wait for it too, so giving up waiting does not end it.
        return await asyncio.shield(connecting)

    async def _connect(self, target: Target) -> Connection:
        settings, address = self.settings, target.address
        connection: Connection | None = None
        try:
            async with asyncio.timeout(settings.connect_timeout_s):
                token = await settings.current_token()
                _, connection = await asyncio.get_running_loop().create_connection(
                    lambda: Connection(address, settings, token, target.proxied),
                    address.host,
                    address.port,
                    ssl=self._tls(address),
                )
                await asyncio.shield(connection.ready)
        except ssl.SSLCertVerificationError as e:
            raise Unauthenticated(f"{address} shows a certificate that is not trusted: {e.verify_message}") from e
        except TimeoutError as e:
            if connection is not None:
                connection.abort(Unavailable(f"{address} did not let us in"))
            raise TimedOut(f"{address} has not answered within {settings.connect_timeout_s:g} s") from e
        except OSError as e:
            raise Unavailable(f"{address} cannot be reached: {e.strerror or e}") from e
        except asyncio.CancelledError:
            if connection is not None:
                connection.abort(Closed(f"the client of {settings.url} is closed"))
            raise
        return connection

    def _tls(self, address: Address) -> ssl.SSLContext | None:
        if not address.is_tls:
            return None
        return self.settings.tls or ssl.create_default_context()

    async def close(self) -> None:
        self._is_closed = True
        for connecting in self._connecting.values():
            if not connecting.done():
                connecting.cancel()
        ended = await asyncio.gather(*self._connecting.values(), return_exceptions=True)
        self._connecting.clear()
        for connection in ended:
            if isinstance(connection, Connection):
                await connection.close()


def _is_usable(connecting: "asyncio.Task[Connection]") -> bool:
    return not connecting.cancelled() and connecting.exception() is None and connecting.result().is_open
