"""Topics with known records, on the embedded broker and on a real Pulsar."""

from collections.abc import Callable, Sequence

import pytest

from tallystick.messaging.engine import Engine
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Outgoing
from tallystick.messaging.settings import ProducerSettings
from tallystick.model.position import Position
from tallystick.spark.cluster import Cluster
from tallystick.transports.pulsar import PulsarSettings, PulsarTransport
from tests.contracts.clusters import CLUSTERS, PULSARS
from tests.contracts.clusters import Cluster as Backend

Send = Callable[..., list[Position]]


@pytest.fixture(params=PULSARS)
def backend(request: pytest.FixtureRequest) -> Backend:
    return CLUSTERS[request.param](request)


@pytest.fixture
def cluster(backend: Backend) -> Cluster:
    return Cluster(backend.url)


@pytest.fixture
def embedded(request: pytest.FixtureRequest) -> Backend:
    return CLUSTERS["embedded"](request)


def send(url: str, topic: str, messages: Sequence[Outgoing], **settings: object) -> list[Position]:
    """Sends in order, in as few entries as the settings allow; gives the positions."""
    engine = Engine()
    sents: list[Pending[Position]] = [Pending() for _ in messages]

    async def sending() -> None:
        transport = PulsarTransport(PulsarSettings(url=url))
        outlet = await transport.open_outlet(topic, ProducerSettings(**settings), None)  # type: ignore[arg-type]
        for message, sent in zip(messages, sents, strict=True):
            outlet.put(message, sent)
        outlet.flush()
        await outlet.close()
        await transport.close()

    try:
        engine.run(sending()).result(60)
    finally:
        engine.close()
    return [sent.result(1) for sent in sents]


def numbered(count: int, first: int = 0) -> list[Outgoing]:
    return [Outgoing(str(number).encode()) for number in range(first, first + count)]
