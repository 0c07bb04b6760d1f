"""The embedded broker as a part of the process."""

import asyncio
import base64
import ssl

from tallystick.access import Principal
from tallystick.broker.admin import BrokerAdmin
from tallystick.broker.broker import Broker
from tallystick.broker.metrics import BrokerMetrics
from tallystick.broker.policy_records import PolicyRecords
from tallystick.broker.schemas import TopicSchemas
from tallystick.broker.server import PulsarServer
from tallystick.broker.session import Anybody, Authentication
from tallystick.errors import Unauthenticated, Unavailable
from tallystick.registry.service import Registry
from tallystick.serve.config import Address, ServeConfig, Tls
from tallystick.server.app import Authentication as HttpAuthentication
from tallystick.server.ports import BrokerAddress, BrokerPorts


class EmbeddedBroker:
    def __init__(self, config: ServeConfig, registry: Registry, users: HttpAuthentication | None) -> None:
        authentication: Authentication = Anybody() if users is None else SameUsers(users)
        self.broker = Broker(config.data)
        self.admin = BrokerAdmin(self.broker, registry)
        self.metrics = BrokerMetrics.of(self.broker, self.admin.calls)
        self._schemas = TopicSchemas(registry)
        self._policies = PolicyRecords(self.broker, registry)
        self._server = PulsarServer(self.broker, self._schemas, self._policies, authentication)
        self._tls = _context(config.tls) if config.tls is not None else None
        self._following: list[asyncio.Task[None]] = []

    async def start(self, address: Address) -> None:
        self.broker.start()
        self.admin.start()
        loop = asyncio.get_running_loop()
        self._following = [loop.create_task(work) for work in (self._schemas.follow(), self._policies.follower().run())]
        try:
            await self._server.start(address.host, address.port, self._tls)
        except OSError as e:
            raise Unavailable(f"cannot listen on {address}: {e.strerror}") from e

    def ports(self, address: Address) -> BrokerPorts:
        """What the HTTP side sees of it."""
        admin = self.admin
        return BrokerPorts(
            admin.tenants,
            admin.namespaces,
            admin.topics,
            admin.topic_settings,
            admin.subscriptions,
            admin.subscriptions,
            admin.messages,
            BrokerAddress(address.host, address.port, is_tls=self._tls is not None),
        )

    async def stop(self) -> None:
        self.admin.close()
        await self._server.stop()
        for task in self._following:
            task.cancel()
        await asyncio.gather(*self._following, return_exceptions=True)
        await self.broker.close()


class SameUsers:
    """Pulsar's clients show the tokens and passwords that HTTP's do, in another wrapping."""

    def __init__(self, users: HttpAuthentication) -> None:
        self._users = users

    def verify(self, method: str, data: bytes) -> Principal:
        headers = {}
        if method == "token":
            headers = {"authorization": f"Bearer {data.decode(errors='replace')}"}
        elif method == "basic":
            headers = {"authorization": f"Basic {base64.b64encode(data).decode()}"}
        elif method not in ("", "none"):
            raise Unauthenticated(f"the authentication method {method[:40]!r} is not offered; use token or basic")
        known = self._users.known(headers)
        return known if known is not None else self._users.verify(headers)


def _context(tls: Tls) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.certificate, tls.key)
    if tls.client_ca is not None:
        context.load_verify_locations(tls.client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
    return context
