"""All entries of a topic or partition after a place, as they are: for those who read much and take messages apart
themselves.

A reader of the broker's that keeps no place there. It is attached again by itself after the last entry that came.
"""

import asyncio
import contextlib
import secrets
from dataclasses import dataclass

from tallystick.errors import TallystickError, TimedOut
from tallystick.model.position import PulsarPosition
from tallystick.transports.pulsar.attachment import Attachment
from tallystick.transports.pulsar.backoff import patiently
from tallystick.transports.pulsar.cluster import Cluster
from tallystick.transports.pulsar.connection import Connection
from tallystick.transports.pulsar.place import message_id, signed
from tallystick.transports.pulsar.topics import TopicName
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.entries import ParsedEntry, parse_entry
from tallystick.wire.pulsar.faults import ChecksumMismatch, MalformedFrame

EntryId = tuple[int, int]
"""Ledger and entry."""
BEGINNING: EntryId = (-1, -1)
_MOST_BYTES = 16 * 1024 * 1024
"""Of what comes ahead of those who take, more or less: the broker is granted messages, not bytes."""
_MOST_MESSAGES = 50_000
_FIRST_MESSAGES = 1000


@dataclass(frozen=True, slots=True)
class FedEntry:
    id: EntryId
    messages: int
    """As the broker counts them."""
    parsed: ParsedEntry | None
    """Checked against its checksum; None for one that is damaged."""
    fault: TallystickError | None = None


class EntryFeed:
    """Runs on the loop. Nothing comes before it is taken for the first time."""

    def __init__(self, topic: TopicName, cluster: Cluster, after: EntryId) -> None:
        self.topic = topic
        self.last_known: PulsarPosition | None = None
        """The topic's last message when it was attached or asked last; None while it is empty."""
        self.began_after: EntryId = after
        """Where the broker began at the first attachment: later than was wanted where entries are gone."""
        self._after = after
        self._has_begun = False
        self._id = cluster.next_id()
        self._cluster = cluster
        self._attachment = Attachment(topic, cluster, self, lambda _: True)
        self._name = f"feed-{secrets.token_hex(5)}"
        self._came: list[FedEntry] = []
        self._came_messages = 0
        self._has_come = asyncio.Event()
        self._is_wanted = False
        self._granted = 0
        self._target = _FIRST_MESSAGES
        """Messages that may be on their way or here."""
        self._bytes, self._messages = _MOST_BYTES // _FIRST_MESSAGES, 1

    # Attaching

    async def open(self) -> None:
        """Raises `NotFound` for a topic that is not there, and what the broker refuses it for."""
        await self._attachment.open()

    async def attach_to(self, connection: Connection) -> None:
        command = pb.CommandSubscribe(
            topic=str(self.topic),
            subscription=self._name,
            subType=pb.CommandSubscribe.Exclusive,
            consumer_id=self._id,
            durable=False,
            initialPosition=pb.CommandSubscribe.Earliest,
            start_message_id=message_id(*self._after),
            force_topic_creation=False,
        )
        connection.receivers[self._id] = self
        try:
            await connection.ask(command, str(self.topic))
            stands = await self._ask_last(connection)
        except TallystickError:
            self.leave(connection)
            raise
        if not self._has_begun:
            self.began_after, self._has_begun = stands, True
        self._granted = 0
        asyncio.get_running_loop().call_soon(self._grant)

    def leave(self, connection: Connection) -> None:
        connection.receivers.pop(self._id, None)
        connection.tell(pb.CommandCloseConsumer(consumer_id=self._id))

    def is_on(self, connection: Connection) -> bool:
        return connection.receivers.get(self._id) is self

    def on_detached(self, reason: TallystickError, *, at_once: bool) -> None:
        self._attachment.lost(reason, at_once=at_once)

    # Entries

    def on_message(self, message: pb.CommandMessage, entry: bytes) -> None:
        id_ = message.message_id.ledgerId, message.message_id.entryId
        fed = _fed(id_, entry)
        self._granted -= fed.messages
        if id_ <= self._after:
            return
        self._after = id_
        self._came.append(fed)
        self._came_messages += fed.messages
        self._bytes += len(entry)
        self._messages += fed.messages

    def on_messages_end(self) -> None:
        if self._came:
            self._has_come.set()
        self._grant()

    async def take(self, wait_s: float) -> list[FedEntry]:
        """What has come, in its order; nothing where nothing comes in this time."""
        self._is_wanted = True
        if not self._came:
            self._has_come.clear()
            self._grant()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._has_come.wait()
        taken, self._came, self._came_messages = self._came, [], 0
        self._grant()
        return taken

    def _grant(self) -> None:
        connection = self._attachment.connection
        if not self._is_wanted or connection is None:
            return
        lacking = self._target - self._came_messages - self._granted
        if lacking >= self._target // 4 + 1:
            # Small messages travel in large numbers, large ones in small numbers.
            self._target = max(1, min(_MOST_MESSAGES, _MOST_BYTES * self._messages // self._bytes))
            count = self._target - self._came_messages - self._granted
            if count > 0:
                self._granted += count
                connection.tell(pb.CommandFlow(consumer_id=self._id, messagePermits=count))

    # Questions

    async def last(self) -> PulsarPosition | None:
        """The topic's last message; None where it is empty. Raises `Unavailable` after the operation's time-out."""
        settings = self._cluster.settings
        await patiently(self._ask_last_there, settings.url, settings.operation_timeout_s)
        return self.last_known

    async def _ask_last_there(self) -> EntryId:
        return await self._ask_last(await self._attachment.there())

    async def passed(self) -> EntryId:
        """The last entry that will not come any more: it came, or is one that the broker keeps to itself."""
        connection = await self._attachment.there()
        if self._after > self.began_after:
            ack = pb.CommandAck(consumer_id=self._id, ack_type=pb.CommandAck.Cumulative)
            ack.message_id.append(message_id(*self._after))
            connection.tell(ack)
        return await self._ask_last(connection)

    async def _ask_last(self, connection: Connection) -> EntryId:
        answer = await connection.ask(pb.CommandGetLastMessageId(consumer_id=self._id), str(self.topic))
        id_ = answer.last_message_id
        entry = signed(id_.entryId)
        self.last_known = (
            None if entry < 0 else PulsarPosition(id_.ledgerId, entry, self.topic.partition, id_.batch_index)
        )
        stands = answer.consumer_mark_delete_position
        return signed(stands.ledgerId), signed(stands.entryId)

    def silence(self, wanted: str, waited_s: float) -> TimedOut:
        """The error of who has waited in vain."""
        trouble = self._attachment.trouble
        reason = "it has not sent them" if trouble is None else trouble.message
        url = self._cluster.settings.url
        return TimedOut(
            f"topic {self.topic}: {url} was waited for {waited_s:.0f} s for entries up to {wanted}: {reason}"
        )

    async def close(self) -> None:
        connection = self._attachment.connection
        self._attachment.close()
        if connection is not None:
            self.leave(connection)


def _fed(id_: EntryId, entry: bytes) -> FedEntry:
    try:
        parsed = parse_entry(entry)
    except (MalformedFrame, ChecksumMismatch) as e:
        return FedEntry(id_, _counted(entry), None, e)
    return FedEntry(id_, max(1, parsed.metadata.num_messages_in_batch), parsed)


def _counted(entry: bytes) -> int:
    try:
        return max(1, parse_entry(entry, verify=False).metadata.num_messages_in_batch)
    except MalformedFrame:
        return 1
