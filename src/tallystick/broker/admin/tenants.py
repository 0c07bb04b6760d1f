"""Tenants: who may administer the server may change them, everybody may look."""

from collections.abc import Mapping
from typing import Any

from tallystick.access import Action, Caller, require
from tallystick.broker.admin.calls import LoopCalls
from tallystick.broker.broker import Broker
from tallystick.errors import TenantNotFound
from tallystick.registry.service import Registry, record


class Tenants:
    def __init__(self, broker: Broker, registry: Registry, calls: LoopCalls) -> None:
        self._catalogue = broker.catalogue
        self._registry = registry
        self._calls = calls

    def names(self, caller: Caller) -> list[str]:
        return self._calls.call(lambda: sorted(self._catalogue.tenants))

    def about(self, caller: Caller, tenant: str) -> Mapping[str, Any]:
        found = self._calls.call(lambda: self._catalogue.tenants.get(tenant))
        if found is None:
            raise TenantNotFound(tenant)
        return found

    def create(self, caller: Caller, tenant: str, about: Mapping[str, Any]) -> None:
        require(caller, Action.ADMINISTER)
        self._calls.run(lambda: self._catalogue.put_tenant(tenant, dict(about), exists=False))
        self._registry.change(lambda tx: record(tx, caller, "tenant.created", None, tenant=tenant))

    def change(self, caller: Caller, tenant: str, about: Mapping[str, Any]) -> None:
        require(caller, Action.ADMINISTER)
        self._calls.run(lambda: self._catalogue.put_tenant(tenant, dict(about), exists=True))
        self._registry.change(lambda tx: record(tx, caller, "tenant.changed", None, tenant=tenant))

    def delete(self, caller: Caller, tenant: str) -> None:
        require(caller, Action.ADMINISTER)
        self._calls.run(lambda: self._catalogue.delete_tenant(tenant))
        self._registry.change(lambda tx: record(tx, caller, "tenant.deleted", None, tenant=tenant))
