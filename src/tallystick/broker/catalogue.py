"""Tenants, namespaces and topics: what there is, and what is set for it. Kept in memory, written through to the log."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tallystick.broker.log.log import Log
from tallystick.broker.log.values import TopicRow
from tallystick.broker.names import TopicName, topic_name
from tallystick.broker.policies import DEFAULTS, TopicPolicies, policies_of
from tallystick.errors import AlreadyExists, Busy, InvalidArgument, NamespaceNotFound, TenantNotFound, TopicNotFound
from tallystick.model.subject import DEFAULT_NAMESPACE, DEFAULT_TENANT

_TENANT, _NAMESPACE, _TOPIC = "tenant", "namespace", "topic"
_MOST_PARTITIONS = 1000


class Catalogue:
    def __init__(self, log: Log) -> None:
        self._log = log
        self.tenants: dict[str, dict[str, Any]] = {}
        self.namespaces: dict[str, TopicPolicies] = {}
        self.topics: dict[TopicName, TopicRow] = {}
        self._topic_policies: dict[TopicName, TopicPolicies] = {}
        self._changing = asyncio.Lock()

    def load(self) -> None:
        """Reads what is stored; blocks."""
        self.tenants = self._log.documents(_TENANT)
        self.namespaces = {name: policies_of(value) for name, value in self._log.documents(_NAMESPACE).items()}
        self.topics = {topic_name(row.name): row for row in self._log.topics()}
        stored = self._log.documents(_TOPIC)
        self._topic_policies = {topic_name(name): policies_of(value) for name, value in stored.items()}
        if not self.tenants:
            self.tenants[DEFAULT_TENANT] = {"adminRoles": [], "allowedClusters": ["standalone"]}
            self._log.put_document(_TENANT, DEFAULT_TENANT, self.tenants[DEFAULT_TENANT])
            self.namespaces[DEFAULT_NAMESPACE] = TopicPolicies()
            self._log.put_document(_NAMESPACE, DEFAULT_NAMESPACE, {})

    # Tenants and namespaces

    async def put_tenant(self, name: str, about: dict[str, Any], *, exists: bool) -> None:
        if exists != (name in self.tenants):
            raise TenantNotFound(name) if exists else AlreadyExists(f"Tenant {name} exists already")
        await self._store(_TENANT, name, about)
        self.tenants[name] = about

    async def delete_tenant(self, name: str) -> None:
        if name not in self.tenants:
            raise TenantNotFound(name)
        if any(namespace.startswith(f"{name}/") for namespace in self.namespaces):
            raise Busy("tenant", f"The tenant {name} still has active namespaces; delete them first")
        await self._store(_TENANT, name, None)
        del self.tenants[name]

    async def create_namespace(self, name: str, policies: TopicPolicies) -> None:
        tenant = name.partition("/")[0]
        if tenant not in self.tenants:
            raise TenantNotFound(tenant)
        if name in self.namespaces:
            raise AlreadyExists(f"Namespace {name} exists already")
        await self.set_namespace_policies(name, policies)

    async def set_namespace_policies(self, name: str, policies: TopicPolicies) -> None:
        await self._store(_NAMESPACE, name, policies.as_dict())
        self.namespaces[name] = policies

    async def delete_namespace(self, name: str) -> None:
        self.require_namespace(name)
        if any(topic.namespace == name for topic in self.topics):
            raise Busy("namespace", f"Cannot delete non empty namespace {name}; delete its topics first, or use force")
        await self._store(_NAMESPACE, name, None)
        del self.namespaces[name]

    def require_namespace(self, name: str) -> None:
        if name not in self.namespaces:
            raise NamespaceNotFound(name[:200])

    # Topics

    async def create_topic(
        self, name: TopicName, partitions: int | None = None, properties: Mapping[str, str] | None = None
    ) -> TopicRow:
        """The topic, or the partitioned topic with its partitions. Raises `AlreadyExists`."""
        self.require_namespace(name.namespace)
        if partitions is not None and not 0 < partitions <= _MOST_PARTITIONS:
            raise InvalidArgument("partitions", f"a topic has 1 to {_MOST_PARTITIONS}, not {partitions}")
        async with self._changing:
            if name in self.topics:
                raise AlreadyExists(f"This topic already exists: {name}")
            row = await asyncio.to_thread(self._log.create_topic, str(name), partitions, properties or {})
            self.topics[name] = row
            await self._create_partitions(name, partitions or 0)
        return row

    async def add_partitions(self, name: TopicName, partitions: int) -> None:
        row = self.require_topic(name)
        if row.partitions is None or partitions <= row.partitions or partitions > _MOST_PARTITIONS:
            raise InvalidArgument(
                "partitions",
                f"topic {name} has {row.partitions or 'none'}; partitions can become more, up to {_MOST_PARTITIONS}",
            )
        async with self._changing:
            await asyncio.to_thread(self._log.set_partitions, row.id, partitions)
            self.topics[name] = replace(row, partitions=partitions)
            await self._create_partitions(name, partitions)

    async def set_properties(self, name: TopicName, changes: Mapping[str, str | None]) -> None:
        """None takes a property away."""
        row = self.require_topic(name)
        after = {key: value for key, value in {**row.properties, **changes}.items() if value is not None}
        async with self._changing:
            await asyncio.to_thread(self._log.set_properties, row.id, after)
            self.topics[name] = replace(row, properties=after)

    async def _create_partitions(self, name: TopicName, partitions: int) -> None:
        for partition in map(name.of_partition, range(partitions)):
            if partition not in self.topics:
                self.topics[partition] = await asyncio.to_thread(self._log.create_topic, str(partition), None, {})

    async def delete_topic(self, name: TopicName) -> None:
        row = self.require_topic(name)
        async with self._changing:
            await asyncio.to_thread(self._log.delete_topic, row.id)
            self.topics.pop(name, None)
            if name in self._topic_policies:
                await self.set_topic_policies(name, TopicPolicies())

    def require_topic(self, name: TopicName) -> TopicRow:
        try:
            return self.topics[name]
        except KeyError as e:
            raise TopicNotFound(str(name)) from e

    def require_possible(self, name: TopicName) -> None:
        """Raises `TopicNotFound` for a partition beyond those that its topic has."""
        partitions = self.partitions_of(name.whole)
        if name.partition is not None and partitions is not None and name.partition >= partitions:
            raise TopicNotFound(str(name))

    def partitions_of(self, name: TopicName) -> int | None:
        row = self.topics.get(name)
        return row.partitions if row is not None else None

    # Policies

    def own_policies(self, name: TopicName) -> TopicPolicies:
        return self._topic_policies.get(name.whole, TopicPolicies())

    async def set_topic_policies(self, name: TopicName, policies: TopicPolicies) -> None:
        stored = policies.as_dict()
        await self._store(_TOPIC, str(name.whole), stored or None)
        self._topic_policies[name.whole] = policies

    def policies(self, name: TopicName) -> TopicPolicies:
        """What counts for a topic."""
        of_namespace = self.namespaces.get(name.namespace, TopicPolicies())
        return self.own_policies(name).over(of_namespace).over(DEFAULTS)

    async def _store(self, kind: str, name: str, value: Any) -> None:
        put: Callable[..., None] = self._log.put_document
        await asyncio.to_thread(put, kind, name, value)
