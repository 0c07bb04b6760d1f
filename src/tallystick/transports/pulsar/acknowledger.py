"""Sends acknowledgements: many in one command, a short while after the first of them, or at once for who waits."""

import asyncio
from collections.abc import Sequence
from threading import Lock

from tallystick.errors import Closed, TallystickError, TimedOut, Unavailable
from tallystick.messaging.pending import Pending
from tallystick.transports.pulsar.acknowledging import Acknowledgements, DeliveredEntry
from tallystick.transports.pulsar.attachment import Attachment
from tallystick.wire.pulsar import pulsar_pb2 as pb


class Acknowledger:
    """`add` may be called in any thread, everything else on the loop."""

    def __init__(self, attachment: Attachment, consumer_id: int, delay_s: float, timeout_s: float) -> None:
        self._attachment = attachment
        self._id = consumer_id
        self._delay_s = delay_s
        self._timeout_s = timeout_s
        self._loop = asyncio.get_running_loop()
        self._lock = Lock()
        self._acks = Acknowledgements()
        self._dones: list[Pending[None]] = []
        self._is_handed_over = False
        self._is_hurried = False
        self._due: asyncio.TimerHandle | None = None
        self._asking: set[asyncio.Task[None]] = set()
        self._closed = False

    @property
    def generation(self) -> int:
        return self._acks.generation

    def add(self, delivered: DeliveredEntry, index: int, *, cumulative: bool, done: Pending[None] | None) -> None:
        with self._lock:
            if self._closed:
                if done is not None:
                    done.fail(Closed(f"the consumer of topic {self._attachment.topic} is closed"))
                return
            if cumulative:
                self._acks.add_up_to(delivered, index)
            else:
                self._acks.add(delivered, index)
            if done is not None:
                self._dones.append(done)
                if not self._is_hurried:
                    self._is_hurried = True
                    self._loop.call_soon_threadsafe(self.send)
            elif not self._is_handed_over:
                self._is_handed_over = True
                self._loop.call_soon_threadsafe(self._wait)

    def finish(self, delivered: DeliveredEntry) -> None:
        """Nothing of the entry is wanted, so nobody else will acknowledge it."""
        with self._lock:
            if not self._closed:
                self._acks.finish(delivered)
                self._wait()

    def partly(self, ledger: int, entry: int) -> DeliveredEntry | None:
        """An earlier delivery on this attachment, of which some messages are acknowledged."""
        return self._acks.partly.get((ledger, entry)) if self._acks.partly else None

    def _wait(self) -> None:
        if self._due is None and not self._closed:
            self._due = self._loop.call_later(self._delay_s, self.send)

    def send(self) -> None:
        """Sends what waits; where there is no connection, it goes on waiting."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        connection = self._attachment.connection
        with self._lock:
            self._is_handed_over = self._is_hurried = False
            dones, self._dones = self._dones, []
            commands = self._acks.take(self._id) if dones or connection is not None else []
        if dones:
            self._ask(commands, dones)
        elif connection is not None:
            for command in commands:
                connection.tell(command)

    def _ask(self, commands: Sequence[pb.CommandAck], dones: Sequence[Pending[None]]) -> None:
        task = self._loop.create_task(self._answer(commands, dones))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _answer(self, commands: Sequence[pb.CommandAck], dones: Sequence[Pending[None]]) -> None:
        error: TallystickError | None = None
        try:
            async with asyncio.timeout(self._timeout_s):
                for command in commands:
                    await self._ask_until_answered(command)
        except TimeoutError:
            error = TimedOut(
                f"topic {self._attachment.topic}: the acknowledgement has had no answer for {self._timeout_s:g} s: "
                f"{self._attachment.absence}"
            )
        except TallystickError as e:
            error = e
        except asyncio.CancelledError:
            error = Closed(f"the consumer of topic {self._attachment.topic} was closed")
        for done in dones:
            if error is None:
                done.set(None)
            else:
                done.fail(error)

    async def _ask_until_answered(self, command: pb.CommandAck) -> None:
        while True:
            connection = await self._attachment.there()
            try:
                await connection.ask(command, str(self._attachment.topic))
                return
            except TimedOut:
                raise
            except Unavailable:
                # What was acknowledged stays so on the next connection.
                if connection.is_open:
                    raise

    def attached(self) -> None:
        """On a new connection: what comes again is told by the broker."""
        with self._lock:
            self._acks.partly.clear()
        self.send()

    def forget(self) -> None:
        """What was delivered until now can not be acknowledged any more."""
        with self._lock:
            self._acks.forget()

    async def close(self) -> None:
        """Sends what waits, and waits for answers that were asked for."""
        self.send()
        with self._lock:
            self._closed = True
        if self._asking:
            await asyncio.wait(self._asking, timeout=self._timeout_s)
        self.abort()

    def abort(self) -> None:
        with self._lock:
            self._closed = True
            dones, self._dones = self._dones, []
        for done in dones:
            done.fail(Closed(f"the consumer of topic {self._attachment.topic} was closed"))
        if self._due is not None:
            self._due.cancel()
        for task in self._asking:
            task.cancel()
