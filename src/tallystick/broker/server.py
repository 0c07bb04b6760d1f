"""Listens for clients that speak Pulsar's binary protocol."""

import asyncio
import ssl
import time

from tallystick.broker.broker import Broker
from tallystick.broker.commands import consuming, lookup, producing, schemas
from tallystick.broker.policy_records import PolicyRecords
from tallystick.broker.schemas import TopicSchemas
from tallystick.broker.session import Authentication, Handler, Session
from tallystick.wire.pulsar.pulsar_pb2 import BaseCommand

HANDLERS: dict[int, Handler] = {
    BaseCommand.PING: lookup.ping,
    BaseCommand.PONG: lookup.pong,
    BaseCommand.LOOKUP: lookup.lookup,
    BaseCommand.PARTITIONED_METADATA: lookup.partitions,
    BaseCommand.GET_TOPICS_OF_NAMESPACE: lookup.topics,
    BaseCommand.PRODUCER: producing.attach,
    BaseCommand.SEND: producing.send,
    BaseCommand.CLOSE_PRODUCER: producing.close,
    BaseCommand.SUBSCRIBE: consuming.subscribe,
    BaseCommand.FLOW: consuming.flow,
    BaseCommand.ACK: consuming.ack,
    BaseCommand.REDELIVER_UNACKNOWLEDGED_MESSAGES: consuming.redeliver,
    BaseCommand.SEEK: consuming.seek,
    BaseCommand.GET_LAST_MESSAGE_ID: consuming.last_message_id,
    BaseCommand.UNSUBSCRIBE: consuming.unsubscribe,
    BaseCommand.CLOSE_CONSUMER: consuming.close,
    BaseCommand.CONSUMER_STATS: consuming.stats,
    BaseCommand.GET_SCHEMA: schemas.get,
    BaseCommand.GET_OR_CREATE_SCHEMA: schemas.get_or_create,
}

_CHECK_SECONDS = 5.0
_BACKLOG = 1024


class PulsarServer:
    def __init__(
        self,
        broker: Broker,
        topic_schemas: TopicSchemas,
        policies: PolicyRecords,
        authentication: Authentication,
    ) -> None:
        self._broker = broker
        self._schemas = topic_schemas
        self._policies = policies
        self._authentication = authentication
        self.sessions: set[Session] = set()
        self._server: asyncio.Server | None = None
        self._checking: asyncio.Task[None] | None = None

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> None:
        loop = asyncio.get_running_loop()

        def session() -> Session:
            return Session(
                self._broker,
                self._schemas,
                self._policies,
                self._authentication,
                HANDLERS,
                self.sessions,
                is_tls=tls is not None,
            )

        self._server = await loop.create_server(session, host, port, ssl=tls, backlog=_BACKLOG)
        self._checking = loop.create_task(self._check())

    async def _check(self) -> None:
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            now = time.monotonic()
            for session in list(self.sessions):
                session.check_alive(now)

    async def stop(self) -> None:
        """Hangs up on everybody; what they sent and was answered is stored."""
        if self._server is not None:
            self._server.close()
        if self._checking is not None:
            self._checking.cancel()
        for session in list(self.sessions):
            session.close()
        for _ in range(100):
            if not self.sessions:
                break
            await asyncio.sleep(0.01)
