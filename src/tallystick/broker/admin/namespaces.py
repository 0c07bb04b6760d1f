"""Namespaces and the policies of their topics."""

from collections.abc import Mapping
from dataclasses import replace

from tallystick.access import Action, Caller, require
from tallystick.broker.admin.calls import LoopCalls
from tallystick.broker.broker import Broker
from tallystick.broker.policies import TopicPolicies
from tallystick.errors import TenantNotFound
from tallystick.model.subject import Subject
from tallystick.registry.service import Registry, record

Policies = Mapping[str, int | bool | None]


class Namespaces:
    def __init__(self, broker: Broker, registry: Registry, calls: LoopCalls) -> None:
        self._broker = broker
        self._catalogue = broker.catalogue
        self._registry = registry
        self._calls = calls

    def names(self, caller: Caller, tenant: str) -> list[str]:
        def find() -> list[str]:
            if tenant not in self._catalogue.tenants:
                raise TenantNotFound(tenant)
            return sorted(name for name in self._catalogue.namespaces if name.startswith(f"{tenant}/"))

        return self._calls.call(find)

    def create(self, caller: Caller, namespace: str, policies: Policies) -> None:
        _require(caller, Action.ADMINISTER, namespace)
        wanted = replace(TopicPolicies(), **policies)  # type: ignore[arg-type]
        self._calls.run(lambda: self._catalogue.create_namespace(namespace, wanted))
        self._registry.change(lambda tx: record(tx, caller, "namespace.created", None, namespace=namespace))

    def delete(self, caller: Caller, namespace: str, *, force: bool) -> None:
        """By force with its topics, whoever is attached to them."""
        _require(caller, Action.ADMINISTER, namespace)

        async def delete() -> None:
            self._catalogue.require_namespace(namespace)
            if force:
                for name in [name for name in self._catalogue.topics if name.namespace == namespace]:
                    # A partition may have gone with its topic.
                    if name in self._catalogue.topics:
                        await self._broker.delete_topic(name, force=True)
            await self._catalogue.delete_namespace(namespace)

        self._calls.run(delete)
        self._registry.change(lambda tx: record(tx, caller, "namespace.deleted", None, namespace=namespace))

    def policies(self, caller: Caller, namespace: str) -> Policies:
        """What is set for the namespace."""

        def find() -> TopicPolicies:
            self._catalogue.require_namespace(namespace)
            return self._catalogue.namespaces[namespace]

        return self._calls.call(find).as_dict()

    def set_policies(self, caller: Caller, namespace: str, changes: Policies) -> None:
        """None takes a policy back."""
        _require(caller, Action.CONFIGURE, namespace)

        async def change() -> None:
            self._catalogue.require_namespace(namespace)
            before = self._catalogue.namespaces[namespace]
            await self._catalogue.set_namespace_policies(namespace, replace(before, **changes))  # type: ignore[arg-type]
            for topic in self._broker.loaded:
                if topic.name.namespace == namespace:
                    self._broker.apply_policies(topic)

        self._calls.run(change)
        self._registry.change(
            lambda tx: record(tx, caller, "policy.changed", None, namespace=namespace, changes=dict(changes))
        )


def _require(caller: Caller, action: Action, namespace: str) -> None:
    require(caller, action, str(Subject(namespace, "")))
