"""The registry that some schemas share: open while one of them is in use."""

from collections.abc import Callable
from threading import Lock
from typing import Protocol

from tallystick.errors import Closed
from tallystick.rest import RegistryClient
from tallystick.serde.ports import SchemaLookup


class RegistryShare(Protocol):
    """What a schema holds of its registry. Each `take` is followed by one `give_back`."""

    @property
    def url(self) -> str: ...

    def take(self) -> None: ...

    def give_back(self) -> None: ...

    def lookup(self) -> SchemaLookup:
        """Raises `Closed`."""


class OwnRegistry:
    """A client of our own. The last one who gives it back closes it, and the next one who takes it opens another."""

    def __init__(self, connect: Callable[[], RegistryClient]) -> None:
        self._connect = connect
        self._lock = Lock()
        self._takers = 0
        self._is_over = False
        # Opened at once, so that a wrong URL or certificate is told to the one who gave it.
        self._client: RegistryClient | None = connect()
        self.url = self._client.url

    def take(self) -> None:
        with self._lock:
            if self._is_over:
                raise self._closed()
            if self._client is None:
                self._client = self._connect()
            self._takers += 1

    def give_back(self) -> None:
        with self._lock:
            self._takers -= 1
            if self._takers == 0:
                self._disconnect()

    def lookup(self) -> SchemaLookup:
        client = self._client
        if client is None:
            raise self._closed()
        return client

    def close(self) -> None:
        """For all who have taken it, and for ever."""
        with self._lock:
            self._is_over = True
            self._disconnect()

    def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _closed(self) -> Closed:
        return Closed(f"the schemas of the registry at {self.url} are closed; make new ones from a new factory")


class GivenRegistry:
    """A client that somebody else opens and closes."""

    def __init__(self, lookup: SchemaLookup, url: str) -> None:
        self.url = url
        self._lookup = lookup

    def take(self) -> None: ...

    def give_back(self) -> None: ...

    def lookup(self) -> SchemaLookup:
        return self._lookup
