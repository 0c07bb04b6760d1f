"""Puts the parts together and runs them until told to stop."""

import asyncio
import contextlib
import gc
import importlib
import logging
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from granian.constants import Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from tallystick.errors import Unavailable
from tallystick.registry import pipelines
from tallystick.registry.ports import SchemaStore
from tallystick.registry.service import Registry
from tallystick.serve.addresses import require_safe, usable
from tallystick.serve.broker import EmbeddedBroker
from tallystick.serve.config import Address, ServeConfig
from tallystick.serve.ready import all_answer
from tallystick.server import operations, security
from tallystick.server.app import App, Authentication, Mount, Nobody
from tallystick.server.dialects import confluent, openschema, pulsar_admin
from tallystick.server.feed import Feed
from tallystick.server.metrics import Metrics
from tallystick.server.pipeline_metrics import PipelineMetrics
from tallystick.server.prepared import PreparedAnswers

log = logging.getLogger("tallystick.serve")

_SWITCH_SECONDS = 0.0005
_COLLECT_AFTER = (20_000, 20, 20)
_HEADER_MS = 10_000
"""How long a client may take to send its headers."""


def open_store(config: ServeConfig) -> SchemaStore:
    if config.store is not None:
        from tallystick.stores.postgres import PostgresStore

        return PostgresStore(config.store)
    from tallystick.stores.sqlite import SqliteStore

    return SqliteStore(config.data / "registry.db")


class Applications:
    """The registry with everything that answers for it."""

    def __init__(self, config: ServeConfig, store: SchemaStore) -> None:
        self.metrics = Metrics()
        self.registry = Registry(store, observer=self.metrics)
        self.prepared = PreparedAnswers()
        self.metrics.count_prepared(self.prepared)
        self.metrics.also(PipelineMetrics(partial(pipelines.every, self.registry)))
        self.feed = Feed(self.registry, self.prepared)
        users = security.FileAuthentication(security.load(config.security)) if config.security is not None else None
        authentication: Authentication = users or Nobody()
        self.broker = EmbeddedBroker(config, self.registry, users) if config.pulsar is not None else None
        topics = self.broker.ports(config.pulsar) if self.broker is not None and config.pulsar is not None else None
        if self.broker is not None:
            self.metrics.also(self.broker.metrics)
        confluents = confluent.dialect(self.registry)
        dialects = [
            Mount("", openschema.dialect(self.registry)),
            Mount("/confluent", confluents),
            Mount("/admin/v2", pulsar_admin.dialect(self.registry, topics)),
        ]
        lookup = Mount("/lookup/v2", pulsar_admin.lookup_dialect(topics))
        around = operations.mounts(self.registry, self.feed, self.metrics, dialects)
        self.by_port = {
            "http": App(
                [*dialects, lookup, *around], authentication, self.prepared, self.metrics, config.limits, "http"
            ),
            "confluent": App(
                [Mount("", confluents), *around],
                authentication,
                self.prepared,
                self.metrics,
                config.limits,
                "confluent",
            ),
        }

    def close(self) -> None:
        for app in self.by_port.values():
            app.close()
        self.registry.close()


def _server(app: App, address: Address, config: ServeConfig) -> Server:
    tls = config.tls
    return Server(
        app,
        address=address.host,
        port=address.port,
        interface=Interfaces.RSGI,
        websockets=False,
        backlog=config.limits.connections,
        backpressure=config.limits.connections,
        http1_settings=HTTP1Settings(header_read_timeout=_HEADER_MS),
        log_enabled=False,
        ssl_cert=tls.certificate if tls else None,
        ssl_key=tls.key if tls else None,
        ssl_ca=tls.client_ca if tls else None,
        ssl_client_verify=tls is not None and tls.client_ca is not None,
    )


async def serve(
    config: ServeConfig, say: Callable[[str], None] = print, ready: Callable[[dict[str, Address]], None] | None = None
) -> None:
    """Serves until SIGTERM or SIGINT. `ready` is called with the addresses when they answer."""
    require_safe(config)
    wanted = {"http": config.http, "confluent": config.confluent}
    if config.pulsar is not None:
        wanted["pulsar"] = config.pulsar
    addresses = usable(wanted, say)
    config = replace(config, pulsar=addresses.get("pulsar"))
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    await serve_until(stop, config, addresses, Applications(config, open_store(config)), ready)


async def serve_until(
    stop: asyncio.Event,
    config: ServeConfig,
    addresses: dict[str, Address],
    applications: Applications,
    ready: Callable[[dict[str, Address]], None] | None = None,
) -> None:
    servers = [_server(app, addresses[name], config) for name, app in applications.by_port.items() if name in addresses]
    feeding = asyncio.create_task(applications.feed.run())
    running = [asyncio.create_task(server.serve()) for server in servers]
    try:
        if applications.broker is not None:
            await applications.broker.start(addresses["pulsar"])
        await _listening(running, addresses)
        log.info("ready", extra={name: str(address) for name, address in addresses.items()})
        if ready is not None:
            ready(addresses)
        # The first check should not wait for the rules to load; being ready does not wait for them either.
        await asyncio.to_thread(importlib.import_module, "tallystick.compat.evolution")
        _collect_seldom()
        stopping = asyncio.ensure_future(stop.wait())
        # A server that ends by itself takes the others with it: half a registry helps nobody.
        await asyncio.wait([stopping, *running], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
    finally:
        log.info("stopping")
        applications.feed.close()
        if applications.broker is not None:
            await applications.broker.stop()
        for server in servers:
            server.stop()  # type: ignore[no-untyped-call]
        await asyncio.gather(*running, return_exceptions=True)
        feeding.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await feeding
        # A read of the journal may still be under way in its thread.
        await asyncio.get_running_loop().shutdown_default_executor()
        applications.close()
        log.info("stopped")


def _collect_seldom() -> None:
    """What is loaded by now stays; to look through it again and again took a third of the loop's time under load, and
    held up whoever waited. Little that comes later is cyclic."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


async def _listening(running: list[asyncio.Task[None]], addresses: dict[str, Address]) -> None:
    """Returns when every address answers; raises where a server ended instead."""
    probing = asyncio.ensure_future(all_answer(addresses.values()))
    await asyncio.wait([probing, *running], return_when=asyncio.FIRST_COMPLETED)
    failed = next((task for task in running if task.done()), None)
    if failed is not None:
        probing.cancel()
        reason = str(failed.exception() or "the server ended").splitlines()[0]
        raise Unavailable(f"cannot listen on {' and '.join(map(str, addresses.values()))}: {reason}")


def run(
    config: ServeConfig, say: Callable[[str], None] = print, ready: Callable[[dict[str, Address]], None] | None = None
) -> None:
    # A thread that waited for the disk gets the interpreter back sooner: the default of 5 ms would be most of the time
    # that a message takes.
    sys.setswitchinterval(_SWITCH_SECONDS)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve(config, say, ready))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's loop, which answers a quarter more requests in the same time, where it can be had."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
