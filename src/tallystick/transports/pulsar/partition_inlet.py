"""A consumer on a topic without partitions, or on one partition."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from tallystick.errors import TallystickError, Unavailable, Unsupported
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Incoming
from tallystick.messaging.settings import EARLIEST, ConsumerSettings, StartAt
from tallystick.model.definition import SchemaDefinition
from tallystick.model.position import PulsarPosition
from tallystick.transports.pulsar.acknowledger import Acknowledger
from tallystick.transports.pulsar.acknowledging import DeliveredEntry
from tallystick.transports.pulsar.attachment import Attachment
from tallystick.transports.pulsar.backoff import patiently
from tallystick.transports.pulsar.cluster import Cluster
from tallystick.transports.pulsar.connection import Connection
from tallystick.transports.pulsar.permits import Permits
from tallystick.transports.pulsar.place import Place, message_id, seek_command, signed
from tallystick.transports.pulsar.reception import Reception
from tallystick.transports.pulsar.rejections import Entry, Rejections
from tallystick.transports.pulsar.subscribing import Subscriber
from tallystick.transports.pulsar.topics import TopicName, schema_to_tell
from tallystick.wire.pulsar import pulsar_pb2 as pb

log = logging.getLogger("tallystick.transports.pulsar")

DeliverFrom = Callable[["PartitionInlet", Sequence[Incoming]], None]


class PartitionInlet:
    """Attaches, takes messages, and passes them on; all but `acknowledge` and `reject` happens on the loop."""

    def __init__(
        self,
        topic: TopicName,
        cluster: Cluster,
        settings: ConsumerSettings,
        start: StartAt | PulsarPosition,
        queue_size: int,
        definition: SchemaDefinition | None,
        deliver: DeliverFrom,
    ) -> None:
        self.topic = topic
        self.permits = Permits(queue_size)
        self._id = cluster.next_id()
        self._settings = settings
        self._cluster = cluster
        self._deliver = deliver
        self._subscriber = Subscriber(topic, self._id, settings, schema_to_tell(definition, topic))
        self._attachment = Attachment(topic, cluster, self, self._refused)
        self._place = Place(start, self.is_reader)
        self._acknowledger = Acknowledger(
            self._attachment, self._id, settings.acknowledge_delay_s, cluster.settings.operation_timeout_s
        )
        self._rejections = Rejections(settings.reject_delay_s, self._redeliver)
        self._reception = Reception(topic, self, self._place, self._acknowledger, self.permits, self._tell)
        self._is_held = True
        """Nothing may come before it is clear where to begin, and everybody is ready."""

    @property
    def is_reader(self) -> bool:
        return self._subscriber.is_reader

    @property
    def trouble(self) -> TallystickError | None:
        """Why it is not attached at present."""
        return self._attachment.trouble

    # Attaching

    async def open(self) -> None:
        await self._attachment.open()
        start = self._place.start
        if isinstance(start, datetime) and (self.is_reader or await self._is_new()):
            self.shut()
            await self.seek(start)

    def begin(self) -> None:
        """From here on messages may come."""
        self._is_held = False
        self._grant()

    async def attach_to(self, connection: Connection) -> None:
        command = self._subscriber.command(self._place, self._reception.epoch)
        connection.receivers[self._id] = self
        try:
            await connection.ask(command, str(self.topic))
            if self.is_reader:
                # Its place is known here alone, so it has to be known even if nothing was delivered yet.
                self._place.begins_after(*await self._standing(connection))
        except TallystickError:
            self.leave(connection)
            raise
        self.permits.attached()
        self._rejections.clear()
        # What waits to be acknowledged, and permits, follow when the attachment has the connection.
        asyncio.get_running_loop().call_soon(self._attached)

    def _attached(self) -> None:
        self._acknowledger.attached()
        self._grant()

    def leave(self, connection: Connection) -> None:
        connection.receivers.pop(self._id, None)
        connection.tell(pb.CommandCloseConsumer(consumer_id=self._id))

    def is_on(self, connection: Connection) -> bool:
        return connection.receivers.get(self._id) is self

    def on_detached(self, reason: TallystickError, *, at_once: bool) -> None:
        self._attachment.lost(reason, at_once=at_once, stays_away=self._reception.is_shut)

    def _refused(self, error: TallystickError) -> bool:
        """There is nobody to tell but the log, and `trouble`; it may be mended meanwhile, so it tries on."""
        log.warning("a consumer is refused", extra={"topic": str(self.topic), "reason": error.message})
        return True

    # Messages

    def on_message(self, message: pb.CommandMessage, entry: bytes) -> None:
        self._reception.on_message(message, entry)

    def on_messages_end(self) -> None:
        received = self._reception.take()
        if received:
            self._deliver(self, received)
        else:
            self._grant()

    def taken(self, count: int) -> None:
        self.permits.taken(count)
        self._grant()

    def _grant(self) -> None:
        if not self._is_held and self._attachment.connection is not None:
            count = self.permits.to_grant()
            if count:
                self._tell(pb.CommandFlow(consumer_id=self._id, messagePermits=count))

    def _tell(self, content: Any) -> None:
        if self._attachment.connection is not None:
            self._attachment.connection.tell(content)

    # What becomes of them, from any thread

    def acknowledge(self, message: Incoming, *, cumulative: bool, done: Pending[None] | None) -> None:
        delivered, position = message.receipt, message.position
        assert isinstance(delivered, DeliveredEntry)
        assert isinstance(position, PulsarPosition)
        if cumulative and self._subscriber.is_shared:
            raise Unsupported(
                f"topic {self.topic}: a {self._settings.kind} subscription acknowledges each message by itself"
            )
        self._acknowledger.add(delivered, position.batch_index, cumulative=cumulative, done=done)

    def reject(self, message: Incoming) -> None:
        delivered = message.receipt
        assert isinstance(delivered, DeliveredEntry)
        if delivered.generation == self._acknowledger.generation:
            self._rejections.add(delivered.ledger, delivered.entry)

    # Again, and elsewhere

    def redeliver_all(self) -> None:
        self._rejections.clear()
        self._redeliver([])

    def _redeliver(self, entries: Sequence[Entry]) -> None:
        """Single entries where they are shared; else all, because the order has to hold."""
        if self._attachment.connection is None:
            return
        self._acknowledger.send()
        command = pb.CommandRedeliverUnacknowledgedMessages(consumer_id=self._id)
        if self._subscriber.is_shared:
            command.message_ids.extend(message_id(*entry) for entry in entries)
        else:
            self._reception.epoch += 1
            command.consumer_epoch = self._reception.epoch
        self._tell(command)

    def shut(self) -> None:
        """Nothing comes from here on until `begin`, and what came before is nobody's business any more."""
        self._is_held = self._reception.is_shut = True
        self._reception.take()
        self._acknowledger.forget()
        self._rejections.clear()
        self.permits.dropped()

    async def seek(self, start: StartAt | PulsarPosition) -> None:
        """After `shut`."""
        settings = self._cluster.settings
        while True:
            self._reception.is_shut = True
            try:
                sought = await patiently(lambda: self._ask_to_seek(start), settings.url, settings.operation_timeout_s)
                self._place.seek(start)
            finally:
                self._come_back_after_seek()
            # A broker that was left meanwhile has forgotten a reader's place, and a time tells nobody where it was.
            if await self._attachment.there() is sought or not (self.is_reader and isinstance(start, datetime)):
                return

    async def _ask_to_seek(self, start: StartAt | PulsarPosition) -> Connection:
        self._attachment.come_back(at_once=True)
        connection = await self._attachment.there()
        await connection.ask(seek_command(self._id, start), str(self.topic))
        return connection

    def _come_back_after_seek(self) -> None:
        """Brokers send a consumer away that sought. Where this one did not, what it has sent must not come now."""
        connection = self._attachment.connection
        if connection is not None:
            self.leave(connection)
            self._attachment.lost(Unavailable("it seeks another place"), stays_away=True)
        self._attachment.come_back(at_once=True)
        self._reception.is_shut = False

    async def _standing(self, connection: Connection) -> tuple[int, int]:
        """The last entry before those that are not acknowledged."""
        answer = await connection.ask(pb.CommandGetLastMessageId(consumer_id=self._id), str(self.topic))
        place = answer.consumer_mark_delete_position
        return signed(place.ledgerId), signed(place.entryId)

    async def _is_new(self) -> bool:
        """Whether the subscription stands where everything begins: nothing was acknowledged yet."""
        settings = replace(self._settings, subscription=None)
        probe = PartitionInlet(self.topic, self._cluster, settings, EARLIEST, 1, None, lambda *_: None)
        await probe._attachment.open()
        try:
            beginning = await probe.standing()
            return beginning == await self.standing()
        finally:
            await probe.close()

    async def standing(self) -> tuple[int, int]:
        """The last entry before those that come, or have to be acknowledged."""
        return await self._standing(await self._attachment.there())

    async def last_position(self) -> PulsarPosition | None:
        answer = await self._ask(pb.CommandGetLastMessageId(consumer_id=self._id))
        id_ = answer.last_message_id
        entry = signed(id_.entryId)
        return None if entry < 0 else PulsarPosition(id_.ledgerId, entry, self.topic.partition, id_.batch_index)

    async def _ask(self, content: Any) -> Any:
        connection = await self._attachment.there()
        return await connection.ask(content, str(self.topic))

    # The end

    async def unsubscribe(self) -> None:
        await self._ask(pb.CommandUnsubscribe(consumer_id=self._id))
        self.abort()

    async def close(self) -> None:
        self._rejections.close()
        await self._acknowledger.close()
        connection = self._end()
        if connection is not None:
            connection.receivers.pop(self._id, None)
            with contextlib.suppress(TallystickError):
                await connection.ask(pb.CommandCloseConsumer(consumer_id=self._id), str(self.topic))

    def abort(self) -> None:
        self._rejections.close()
        self._acknowledger.abort()
        connection = self._end()
        if connection is not None:
            self.leave(connection)

    def _end(self) -> Connection | None:
        """The connection that it was attached to, off it."""
        connection = self._attachment.connection
        self._attachment.close()
        return connection
