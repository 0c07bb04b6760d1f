"""A producer on a topic without partitions, or on one partition."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from tallystick.errors import Closed, InvalidArgument, TallystickError, TimedOut, Unavailable
from tallystick.messaging.settings import ProducerSettings
from tallystick.model.definition import SchemaDefinition
from tallystick.model.position import PulsarPosition
from tallystick.model.subject import Version
from tallystick.transports.pulsar.attachment import Attachment
from tallystick.transports.pulsar.batching import Batch
from tallystick.transports.pulsar.cluster import Cluster
from tallystick.transports.pulsar.collector import Collector
from tallystick.transports.pulsar.connection import Connection
from tallystick.transports.pulsar.entry_writing import EntryWriter
from tallystick.transports.pulsar.place import signed
from tallystick.transports.pulsar.positions import positions_of_batch
from tallystick.transports.pulsar.refusals import refused_message, translated
from tallystick.transports.pulsar.topics import TopicName, schema_to_tell
from tallystick.transports.pulsar.unanswered import Unanswered, fail
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.schemas import version_of

_ROOM_BESIDE_BATCH = 64 * 1024
"""For metadata, and for what compression may add."""
_MOST_DAMAGES = 3


class PartitionOutlet:
    """Implements `Outlet`.

    Batches become entries on the loop, and stay in `_unanswered` in their order until the broker has answered or their
    time is up. A new attachment sends all of them again.
    """

    def __init__(
        self,
        topic: TopicName,
        cluster: Cluster,
        settings: ProducerSettings,
        definition: SchemaDefinition | None,
    ) -> None:
        self.topic = topic
        self.on_closed: Callable[[Any], object] = lambda _: None
        self._id = cluster.next_id()
        self._settings = settings
        self._schema = schema_to_tell(definition, topic)
        self._name = settings.name or ""
        self._version: Version | None = None
        self._epoch = 0
        self._loop = asyncio.get_running_loop()
        self._attachment = Attachment(topic, cluster, self, self._refused)
        self._collector = Collector(settings, self._send)
        self._writer: EntryWriter | None = None
        self._unanswered = Unanswered()
        self._emptied = asyncio.Event()
        self._expiry: asyncio.TimerHandle | None = None
        self.put = self._collector.put
        self.flush = self._collector.flush

    @property
    def name(self) -> str:
        return self._name

    @property
    def version(self) -> Version | None:
        return self._version

    @property
    def is_idle(self) -> bool:
        """Whether no batch waits for company."""
        return self._collector.is_idle

    @property
    def pending(self) -> int:
        """Messages that have no answer yet."""
        return self._collector.messages + self._unanswered.messages

    # Attaching

    async def open(self, name: str | None = None) -> None:
        """`name` is what the broker has called a producer on another partition of the topic."""
        self._name = name or self._name
        await self._attachment.open()

    async def attach(self, definition: SchemaDefinition) -> Version:
        schema = schema_to_tell(definition, self.topic)
        if schema is None:
            raise InvalidArgument("schema", f"topic {self.topic} keeps no versions of {definition.type}")
        connection = await self._attachment.there()
        asked = pb.CommandGetOrCreateSchema(topic=str(self.topic), schema=schema, producerName=self._name)
        answer = await connection.ask(asked, str(self.topic))
        return version_of(answer.schema_version)

    async def attach_to(self, connection: Connection) -> None:
        command = pb.CommandProducer(
            topic=str(self.topic),
            producer_id=self._id,
            epoch=self._epoch,
            user_provided_producer_name=self._settings.name is not None,
            metadata=[pb.KeyValue(key=key, value=value) for key, value in self._settings.properties.items()],
            schema=self._schema,
        )
        if self._name:
            command.producer_name = self._name
        self._epoch += 1
        connection.senders[self._id] = self
        try:
            answer = await connection.ask(command, str(self.topic))
        except TallystickError:
            connection.senders.pop(self._id, None)
            raise
        self._attached(connection, answer)

    def _attached(self, connection: Connection, answer: pb.CommandProducerSuccess) -> None:
        is_first, settings = self._writer is None, self._settings
        self._name = answer.producer_name
        most_bytes, next_sequence_id = connection.most_message_bytes, None
        self._writer = EntryWriter(str(self.topic), self._id, self._name, settings.compression, most_bytes)
        if is_first:
            has_version = self._schema is not None and answer.schema_version
            self._version = version_of(answer.schema_version) if has_version else None
            last = settings.initial_sequence_id
            next_sequence_id = (answer.last_sequence_id if last is None else last) + 1
        self._collector.set_limits(min(settings.batch_bytes, most_bytes - _ROOM_BESIDE_BATCH), next_sequence_id)
        # The broker may have sent us away, and with it what was sent, before this answer was read.
        self._unanswered.detached()
        connection.write(self._unanswered.to_send())

    def leave(self, connection: Connection) -> None:
        connection.senders.pop(self._id, None)
        connection.tell(pb.CommandCloseProducer(producer_id=self._id))

    def is_on(self, connection: Connection) -> bool:
        return connection.senders.get(self._id) is self

    def on_detached(self, reason: TallystickError, *, at_once: bool = False) -> None:
        self._unanswered.detached()
        self._attachment.lost(reason, at_once=at_once)

    def _refused(self, error: TallystickError) -> bool:
        """What waits fails for this reason; the next message is a reason to try again."""
        self._collector.take()
        self._fail_all(error)
        return False

    # Messages

    def _send(self, batch: Batch | None) -> None:
        if batch is not None:
            assert self._writer is not None
            try:
                self._unanswered.add(self._writer.sending(batch))
            except TallystickError as e:
                for sent in batch.sents:
                    sent.fail(e)
        elif self._unanswered:
            self._watch_time()
            connection = self._attachment.connection
            if connection is not None:
                connection.write(self._unanswered.to_send())
            else:
                self._attachment.come_back()

    # Answers

    def on_receipt(self, receipt: pb.CommandSendReceipt) -> None:
        sending = self._unanswered.answered(receipt.sequence_id)
        if sending is None:
            self._check_order(receipt.sequence_id)
            return
        # The id of a message that was there already, from an earlier try, is not known: −1.
        id_ = receipt.message_id
        ledger, entry, partition = signed(id_.ledgerId), signed(id_.entryId), self.topic.partition
        if sending.is_batch:
            positions = positions_of_batch(ledger, entry, partition, len(sending.sents))
            for sent, position in zip(sending.sents, positions, strict=True):
                sent.set(position)
        else:
            sending.sents[0].set(PulsarPosition(ledger, entry, partition))
        self._tell_emptied()

    def on_send_error(self, error: pb.CommandSendError) -> None:
        head = self._unanswered.head
        if head is None or not head.has(error.sequence_id):
            self._check_order(error.sequence_id)
            return
        refusal = refused_message(error.error, error.message, str(self.topic))
        if refusal is None and error.error == pb.ServerError.ChecksumError:
            head.damages += 1
            if head.damages >= _MOST_DAMAGES:
                refusal = Unavailable(f"topic {self.topic}: a message arrives damaged every time: {error.message}")
        if refusal is not None:
            self._unanswered.answered(error.sequence_id)
            fail([head], refusal)
            self._tell_emptied()
        elif (connection := self._attachment.connection) is not None:
            # Those behind it may be taken already; all are sent again, in their order.
            self.leave(connection)
            self.on_detached(translated(error.error, error.message, str(self.topic)))

    def _check_order(self, sequence_id: int) -> None:
        """An answer to what is not waited for any more is no matter; one that skips others is."""
        connection = self._attachment.connection
        if connection is not None and self._unanswered.is_ahead(sequence_id):
            connection.abort(Unavailable(f"{connection.address} has answered messages out of their order"))

    def _tell_emptied(self) -> None:
        if not self._unanswered:
            self._emptied.set()

    # Time-outs and the end

    def _watch_time(self) -> None:
        wait_s = self._unanswered.expires_in_s(self._settings.send_timeout_s)
        if self._expiry is None and wait_s is not None:
            self._expiry = self._loop.call_later(wait_s, self._expire)

    def _expire(self) -> None:
        self._expiry = None
        timeout_s = self._settings.send_timeout_s
        expired = self._unanswered.take_expired(timeout_s)
        if expired:
            absence = self._attachment.absence
            text = f"topic {self.topic}: not taken within {timeout_s:g} s, and may have arrived all the same: {absence}"
            fail(expired, TimedOut(text))
        self._tell_emptied()
        self._watch_time()

    def _fail_all(self, error: TallystickError) -> None:
        fail(self._unanswered.take_all(), error)
        self._tell_emptied()

    async def close(self) -> None:
        self._collector.close(Closed(f"the producer of topic {self.topic} is closed"))
        while self._unanswered:
            self._emptied.clear()
            await self._emptied.wait()
        connection = self._end()
        if connection is not None:
            connection.senders.pop(self._id, None)
            with contextlib.suppress(TallystickError):
                await connection.ask(pb.CommandCloseProducer(producer_id=self._id), str(self.topic))
        self.on_closed(self)

    def abort(self, error: TallystickError) -> None:
        """Closes at once: what has no answer yet fails."""
        self._collector.close(error)
        self._fail_all(error)
        connection = self._end()
        if connection is not None:
            self.leave(connection)

    def _end(self) -> Connection | None:
        """The connection that it was attached to, off it."""
        if self._expiry is not None:
            self._expiry.cancel()
        connection = self._attachment.connection
        self._attachment.close()
        return connection
