"""How a consumer presents itself."""

import secrets
from dataclasses import dataclass, field

from tallystick.messaging.settings import ConsumerSettings, Subscription
from tallystick.transports.pulsar.place import Place
from tallystick.transports.pulsar.topics import TopicName
from tallystick.wire.pulsar import pulsar_pb2 as pb

_KINDS: dict[Subscription, pb.CommandSubscribe.SubType] = {
    Subscription.EXCLUSIVE: pb.CommandSubscribe.Exclusive,
    Subscription.SHARED: pb.CommandSubscribe.Shared,
    Subscription.FAILOVER: pb.CommandSubscribe.Failover,
    Subscription.KEY_SHARED: pb.CommandSubscribe.Key_Shared,
}
_SHARED = {Subscription.SHARED, Subscription.KEY_SHARED}


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A consumer of a subscription, or a reader, which has one of its own that the broker forgets."""

    topic: TopicName
    consumer_id: int
    settings: ConsumerSettings
    schema: pb.Schema | None
    _own_name: str = field(default_factory=lambda: f"reader-{secrets.token_hex(5)}")

    @property
    def is_reader(self) -> bool:
        return self.settings.subscription is None

    @property
    def is_shared(self) -> bool:
        """Whether each message is acknowledged, and comes again, by itself; else they keep their order."""
        return not self.is_reader and self.settings.kind in _SHARED

    def command(self, place: Place, epoch: int) -> pb.CommandSubscribe:
        settings = self.settings
        command = pb.CommandSubscribe(
            topic=str(self.topic),
            subscription=settings.subscription or self._own_name,
            subType=pb.CommandSubscribe.Exclusive if self.is_reader else _KINDS[settings.kind],
            consumer_id=self.consumer_id,
            durable=not self.is_reader,
            read_compacted=settings.read_compacted,
            initialPosition=place.initial,
            schema=self.schema,
            metadata=[pb.KeyValue(key=key, value=value) for key, value in settings.properties.items()],
        )
        if settings.name is not None:
            command.consumer_name = settings.name
        if self.is_reader:
            command.start_message_id.CopyFrom(place.reader_id())
        if not self.is_shared:
            command.consumer_epoch = epoch
        elif settings.kind is Subscription.KEY_SHARED:
            command.keySharedMeta.keySharedMode = pb.KeySharedMode.AUTO_SPLIT
        return command
