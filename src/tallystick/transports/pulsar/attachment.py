"""Keeps a producer or consumer attached to the broker that has its topic, wherever that is."""

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from tallystick.errors import Closed, TallystickError, TimedOut, Unavailable
from tallystick.transports.pulsar.backoff import Backoff, patiently
from tallystick.transports.pulsar.cluster import Cluster
from tallystick.transports.pulsar.connection import Connection
from tallystick.transports.pulsar.refusals import is_passing
from tallystick.transports.pulsar.topics import TopicName

log = logging.getLogger("tallystick.transports.pulsar")


class Attached(Protocol):
    """What is kept attached."""

    async def attach_to(self, connection: Connection) -> None:
        """Tells the broker that we are here; raises its refusal."""

    def leave(self, connection: Connection) -> None:
        """Tells the broker that we are not, without waiting for its answer."""

    def is_on(self, connection: Connection) -> bool:
        """Whether the connection still knows us."""


class Attachment:
    """Runs on the loop. `connection` is None while there is no way to the broker."""

    def __init__(
        self,
        topic: TopicName,
        cluster: Cluster,
        attached: Attached,
        on_refused: Callable[[TallystickError], bool],
    ) -> None:
        """`on_refused` learns of a refusal that time does not mend, and says whether to try on all the same."""
        self.topic = topic
        self.connection: Connection | None = None
        self.trouble: TallystickError | None = None
        """Why there is none."""
        self._since: datetime | None = None
        self._lookup = cluster.lookup
        self._settings = cluster.settings
        self._attached = attached
        self._on_refused = on_refused
        self._is_closed = False
        self._returning: asyncio.Task[None] | None = None
        self._returned = asyncio.Event()

    async def open(self) -> None:
        """The first time: raises what the broker refuses it for, `Unavailable` after the operation's time-out."""
        self._since = datetime.now(UTC)
        await patiently(self._attach, self._settings.url, self._settings.operation_timeout_s)

    async def _attach(self) -> None:
        connection = await self._lookup.connection_of(self.topic)
        try:
            await self._attached.attach_to(connection)
        except (TimedOut, asyncio.CancelledError):
            # The broker may still get to it, and then nobody would be there.
            self._attached.leave(connection)
            raise
        if self._is_closed:
            self._attached.leave(connection)
            raise Closed(f"topic {self.topic}: it is closed")
        if not self._attached.is_on(connection):
            raise Unavailable(f"topic {self.topic}: {connection.address} sent us away at once")
        self.connection, self.trouble, self._since = connection, None, None
        self._returned.set()

    def lost(self, reason: TallystickError, *, at_once: bool = False, stays_away: bool = False) -> None:
        """The broker is gone, or has sent us away: comes back by itself, unless it is told to stay away for now."""
        if self.connection is None:
            return
        self.connection, self.trouble, self._since = None, reason, datetime.now(UTC)
        self._returned.clear()
        if not stays_away:
            self.come_back(at_once=at_once)

    def come_back(self, *, at_once: bool = False) -> None:
        """Tries to be attached again, where nothing does already."""
        if not self._is_closed and self.connection is None and (self._returning is None or self._returning.done()):
            self._returning = asyncio.get_running_loop().create_task(self._come_back(at_once))

    async def _come_back(self, at_once: bool) -> None:
        backoff = Backoff()
        if not at_once:
            await asyncio.sleep(backoff.next_s())
        while True:
            try:
                await self._attach()
                return
            except TallystickError as e:
                self.trouble = e
                log.info("not attached", extra={"topic": str(self.topic), "reason": e.message})
                if not is_passing(e) and not self._on_refused(e):
                    return
            await asyncio.sleep(backoff.next_s())

    async def there(self) -> Connection:
        """The connection, when there is one; raises `Unavailable` after the operation's time-out."""
        seconds = self._settings.operation_timeout_s
        try:
            async with asyncio.timeout(seconds):
                while self.connection is None:
                    if self._is_closed:
                        raise Closed(f"topic {self.topic}: it is closed")
                    await self._returned.wait()
        except TimeoutError as e:
            raise Unavailable(f"topic {self.topic}: no way to its broker for {seconds:g} s: {self.absence}") from e
        return self.connection

    @property
    def absence(self) -> str:
        """Since when there is no connection, and why, for people."""
        if self.connection is not None:
            return f"{self.connection.address} is connected, but has not answered"
        since = "" if self._since is None else f" since {self._since:%H:%M:%S} UTC"
        reason = "" if self.trouble is None else f": {self.trouble.message}"
        return f"{self._settings.url} has been unreachable{since}{reason}"

    def close(self) -> None:
        self._is_closed = True
        self._returned.set()
        if self._returning is not None:
            self._returning.cancel()
