"""A connection to a Pulsar cluster, or to the embedded broker."""

from collections.abc import Sequence

from tallystick.errors import Closed, InvalidArgument
from tallystick.messaging.ports import Deliver, Inlet, Outlet
from tallystick.messaging.settings import ConsumerSettings, ProducerSettings
from tallystick.model.definition import SchemaDefinition
from tallystick.model.subject import Version
from tallystick.transports.pulsar.cluster import Cluster
from tallystick.transports.pulsar.inlet import PulsarInlet
from tallystick.transports.pulsar.lookup import Lookup
from tallystick.transports.pulsar.outlet import PartitionedOutlet
from tallystick.transports.pulsar.partition_inlet import PartitionInlet
from tallystick.transports.pulsar.partition_outlet import PartitionOutlet
from tallystick.transports.pulsar.place import start_of
from tallystick.transports.pulsar.pool import Pool
from tallystick.transports.pulsar.settings import PulsarSettings
from tallystick.transports.pulsar.together import together
from tallystick.transports.pulsar.topics import TopicName, topic_name


class PulsarTransport:
    """Implements `Transport`. Made, used and closed on one event loop."""

    def __init__(self, settings: PulsarSettings) -> None:
        self._pool = Pool(settings)
        self._cluster = Cluster(settings, Lookup(self._pool))
        self._opened: set[PartitionOutlet | PartitionedOutlet | PulsarInlet] = set()
        self._is_closed = False

    @property
    def keeps_schemas(self) -> bool:
        return True

    async def open_outlet(self, topic: str, settings: ProducerSettings, definition: SchemaDefinition | None) -> Outlet:
        self._require_open()
        name = topic_name(topic)
        partitions = await self._partitions_of(name)
        outlets = [PartitionOutlet(one, self._cluster, settings, definition) for one in partitions]
        outlet = outlets[0] if partitions[0] is name else PartitionedOutlet(name, outlets)
        self._opened.add(outlet)
        outlet.on_closed = self._opened.discard
        try:
            # The first one alone: it brings the schema, and is given the name that all of them have.
            await outlets[0].open()
            await together(one.open(outlets[0].name) for one in outlets[1:])
        except BaseException:
            outlet.abort(Closed(f"the producer of topic {name} could not be opened"))
            self._opened.discard(outlet)
            raise
        return outlet

    async def open_inlet(
        self, settings: ConsumerSettings, definition: SchemaDefinition | None, deliver: Deliver
    ) -> Inlet:
        self._require_open()
        if not settings.topics:
            raise InvalidArgument("topics", "a consumer needs at least one")
        names = [await self._partitions_of(topic_name(topic)) for topic in settings.topics]
        partitions = [partition for partitions in names for partition in partitions]
        inlet = PulsarInlet(self._cluster, deliver)
        start = start_of(settings.start)
        parts = [
            PartitionInlet(one, self._cluster, settings, start, settings.queue_size, definition, inlet.delivered)
            for one in partitions
        ]
        self._opened.add(inlet)
        inlet.on_closed = self._opened.discard
        try:
            await inlet.open(parts)
        except BaseException:
            self._opened.discard(inlet)
            raise
        return inlet

    async def _partitions_of(self, name: TopicName) -> Sequence[TopicName]:
        """Those that it has, or the topic itself."""
        count = await self._cluster.lookup.partitions(name)
        return [name.of_partition(number) for number in range(count)] or [name]

    async def latest_schema(self, topic: str) -> SchemaDefinition | None:
        latest = await self._cluster.lookup.latest(topic_name(topic))
        return None if latest is None else latest[1]

    async def schema(self, topic: str, version: Version) -> SchemaDefinition | None:
        return await self._cluster.lookup.schema(topic_name(topic), version)

    async def partitions(self, topic: str) -> int:
        return await self._cluster.lookup.partitions(topic_name(topic))

    async def close(self) -> None:
        self._is_closed = True
        for one in list(self._opened):
            one.abort(Closed(f"the client of {self._cluster.settings.url} is closed"))
        self._opened.clear()
        await self._pool.close()

    def _require_open(self) -> None:
        if self._is_closed:
            raise Closed(f"the client of {self._cluster.settings.url} is closed")
