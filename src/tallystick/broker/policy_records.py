"""The broker's part in policy changes on topics: writes those that are made here, applies those from elsewhere."""

import asyncio
import logging
import time
import uuid
from collections.abc import Iterator

from tallystick.access import Action, Caller, require
from tallystick.broker import policy_topic
from tallystick.broker.broker import Broker
from tallystick.broker.policies import TopicPolicies
from tallystick.broker.topic import Topic
from tallystick.errors import TallystickError
from tallystick.model.subject import Subject
from tallystick.registry.service import Registry
from tallystick.wire.pulsar.batches import split
from tallystick.wire.pulsar.compression import decompress
from tallystick.wire.pulsar.entries import ParsedEntry, build_entry
from tallystick.wire.pulsar.pulsar_pb2 import MessageMetadata
from tallystick.wire.pulsar.schemas import version_bytes

log = logging.getLogger("tallystick.policies")

_DOCUMENT = "broker"


class PolicyRecords:
    def __init__(self, broker: Broker, registry: Registry) -> None:
        self._broker = broker
        self._registry = registry
        self._cluster = _cluster(broker)
        self._applying = asyncio.Lock()

    def follower(self) -> policy_topic.PolicyFollower:
        return policy_topic.PolicyFollower(self._registry, self._cluster, self._append, self._last_sequence)

    async def _append(self, namespace: str, payload: bytes, number: int) -> None:
        await self._ensure(namespace)
        topic = await self._broker.topic(policy_topic.topic_of(namespace))
        metadata = MessageMetadata(
            producer_name=policy_topic.PRODUCER,
            sequence_id=number,
            publish_time=int(time.time() * 1000),
            schema_version=version_bytes(policy_topic.SCHEMA_VERSION),
        )
        stored: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def done(_: int, error: BaseException | None) -> None:
            if error is None:
                stored.set_result(None)
            else:
                stored.set_exception(error)

        topic.append(build_entry(metadata, payload), metadata, done)
        await stored

    async def _ensure(self, namespace: str) -> None:
        """A namespace of the registry that has had no topics yet."""
        catalogue = self._broker.catalogue
        tenant = namespace.partition("/")[0]
        if tenant not in catalogue.tenants:
            await catalogue.put_tenant(tenant, {"adminRoles": [], "allowedClusters": ["standalone"]}, exists=False)
        if namespace not in catalogue.namespaces:
            await catalogue.create_namespace(namespace, TopicPolicies())

    def _last_sequence(self, namespace: str) -> int:
        return max(0, self._broker.last_sequence(policy_topic.topic_of(namespace), policy_topic.PRODUCER))

    # From elsewhere

    def require_applicable(self, caller: Caller, topic: Topic, entry: ParsedEntry) -> bool:
        """Whether an entry has changes of another cluster. Raises where it cannot be read, or the caller may not."""
        if topic.name.local != policy_topic.TOPIC or not entry.metadata.HasField("replicated_from"):
            return False
        require(caller, Action.CONFIGURE, str(Subject(topic.name.namespace, "")))
        for payload in _payloads(entry):
            policy_topic.decode(payload)
        return True

    async def apply(self, caller: Caller, topic: Topic, entry: ParsedEntry) -> None:
        """In the order of the calls. What is not possible here is left out: each cluster decides for itself."""
        async with self._applying:
            for payload in _payloads(entry):
                try:
                    await asyncio.to_thread(
                        policy_topic.apply, self._registry, caller, topic.name.namespace, payload, self._cluster
                    )
                except TallystickError as e:
                    log.warning("a policy change of another cluster is not applied", extra={"reason": e.message})


def _payloads(entry: ParsedEntry) -> Iterator[bytes]:
    metadata = entry.metadata
    plain = decompress(metadata.compression, entry.payload, metadata.uncompressed_size)
    if not metadata.HasField("num_messages_in_batch"):
        yield plain
        return
    for _, payload in split(plain, metadata.num_messages_in_batch):
        yield bytes(payload)


def _cluster(broker: Broker) -> str:
    """A name that no other data folder has: it tells a record that comes back from one of another cluster."""
    return broker.remembered(_DOCUMENT, "cluster", lambda: f"tallystick-{uuid.uuid4().hex[:12]}")
