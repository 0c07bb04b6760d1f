"""What a broker may say, and what becomes of it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tallystick.errors import Forbidden, TimedOut, Unauthenticated, Unavailable, Unsupported
from tallystick.messaging.pending import Pending
from tallystick.messaging.ports import Outgoing
from tallystick.messaging.settings import ProducerSettings
from tallystick.model.position import Position, PulsarPosition
from tallystick.transports.pulsar import PulsarSettings, PulsarTransport
from tallystick.wire.pulsar import pulsar_pb2 as pb
from tallystick.wire.pulsar.pulsar_pb2 import ServerError
from tests.unit.transports.pulsar.scripted_broker import CONNECTED, scripted

QUICK = ProducerSettings(batch_messages=1)


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(work())


@asynccontextmanager
async def client_of(url: str, **settings: Any) -> AsyncIterator[PulsarTransport]:
    transport = PulsarTransport(PulsarSettings(url=url, **{"operation_timeout_s": 20.0, **settings}))
    try:
        yield transport
    finally:
        await transport.close()
        assert [task for task in asyncio.all_tasks() if "_serve" not in str(task)] == [asyncio.current_task()]


def put(outlet: Any, payload: bytes = b"x") -> Pending[Position]:
    sent: Pending[Position] = Pending()
    outlet.put(Outgoing(payload), sent)
    return sent


def receipt(send: pb.CommandSend, entry: int) -> pb.CommandSendReceipt:
    return pb.CommandSendReceipt(
        producer_id=send.producer_id,
        sequence_id=send.sequence_id,
        message_id=pb.MessageIdData(ledgerId=1, entryId=entry),
    )


def test_a_broker_says_where_another_one_is() -> None:
    async def work() -> None:
        async with scripted() as second:

            def redirect(asked: Any) -> list[Any]:
                redirected = pb.CommandLookupTopicResponse.Redirect
                return [second.found(asked, response=redirected)]

            async with scripted(LOOKUP=redirect) as first, client_of(first.url) as client:
                await client.open_outlet("t", QUICK, None)
                assert [asked.authoritative for asked in first.commands("LOOKUP")] == [False]
                assert [asked.authoritative for asked in second.commands("LOOKUP")] == [True]
                assert (len(first.commands("PRODUCER")), len(second.commands("PRODUCER"))) == (0, 1)

    run(work)


def test_brokers_that_point_at_each_other() -> None:
    async def work() -> None:
        async with scripted() as broker, client_of(broker.url, operation_timeout_s=0.5) as client:
            redirected = pb.CommandLookupTopicResponse.Redirect
            broker.answers["LOOKUP"] = lambda asked: [broker.found(asked, response=redirected)]
            with pytest.raises(Unavailable, match="pointed at each other"):
                await client.open_outlet("t", QUICK, None)

    run(work)


def test_the_way_goes_through_a_proxy() -> None:
    async def work() -> None:
        async with scripted() as proxy, client_of(proxy.url) as client:
            behind = "pulsar://inside:1234"
            proxy.answers["LOOKUP"] = lambda asked: [
                pb.CommandLookupTopicResponse(
                    request_id=asked.request_id,
                    brokerServiceUrl=behind,
                    response=pb.CommandLookupTopicResponse.Connect,
                    proxy_through_service_url=True,
                )
            ]
            await client.open_outlet("t", QUICK, None)
            assert [connect.proxy_to_broker_url for connect in proxy.commands("CONNECT")] == ["", "inside:1234"]

    run(work)


def test_who_we_are() -> None:
    async def work() -> None:
        async with scripted() as broker, client_of(broker.url, token="secret") as client:
            await client.partitions("t")
            (connect,) = broker.commands("CONNECT")
            assert (connect.auth_method_name, connect.auth_data) == ("token", b"secret")
            assert connect.protocol_version == 21
            assert connect.feature_flags.supports_auth_refresh

    run(work)


def test_a_broker_that_asks_again_gets_a_fresh_token() -> None:
    async def work() -> None:
        tokens = iter(["first", "second"])
        async with scripted() as broker, client_of(broker.url, token=lambda: next(tokens)) as client:
            await client.partitions("t")
            broker.say(pb.CommandAuthChallenge(server_version="x"))
            (answer,) = await broker.until("AUTH_RESPONSE")
            assert (answer.response.auth_method_name, answer.response.auth_data) == ("token", b"second")

    run(work)


def test_who_has_no_token_cannot_answer() -> None:
    async def work() -> None:
        async with scripted() as broker, client_of(broker.url) as client:
            outlet = await client.open_outlet("t", QUICK, None)
            broker.answers["CONNECT"] = lambda _: [pb.CommandAuthChallenge()]
            broker.say(pb.CommandAuthChallenge())
            sent = put(outlet)
            with pytest.raises(Unauthenticated, match="no token"):
                await sent

    run(work)


@pytest.mark.parametrize(
    ("code", "kind"),
    [(ServerError.AuthenticationError, Unauthenticated), (ServerError.UnsupportedVersionError, Unsupported)],
)
def test_a_broker_that_does_not_let_us_in(code: ServerError, kind: type[Exception]) -> None:
    async def work() -> None:
        def refuse(_: Any) -> list[Any]:
            return [pb.CommandError(request_id=2**64 - 1, error=code, message="go away")]

        async with scripted(CONNECT=refuse) as broker, client_of(broker.url) as client:
            with pytest.raises(kind, match=f"{broker.url}: go away"):
                await client.partitions("t")

    run(work)


def test_passing_errors_are_tried_again_and_others_not() -> None:
    async def work() -> None:
        codes = iter([ServerError.ServiceNotReady, ServerError.TooManyRequests, ServerError.AuthorizationError])

        def refuse(asked: Any) -> list[Any]:
            return [pb.CommandError(request_id=asked.request_id, error=next(codes), message="no")]

        async with scripted(PRODUCER=refuse) as broker, client_of(broker.url) as client:
            with pytest.raises(Forbidden, match="persistent://public/default/t: no"):
                await client.open_outlet("t", QUICK, None)
            assert [asked.epoch for asked in broker.commands("PRODUCER")] == [0, 1, 2]

    run(work)


def test_an_answer_that_never_comes() -> None:
    async def work() -> None:
        async with (
            scripted(PRODUCER=lambda _: []) as broker,
            client_of(broker.url, operation_timeout_s=0.3) as client,
        ):
            with pytest.raises(Unavailable, match=broker.url):
                await client.open_outlet("t", QUICK, None)
            # The broker may still get to it, so it is told that nobody waits.
            await broker.until("CLOSE_PRODUCER")

    run(work)


def test_a_broker_that_says_nothing_at_all() -> None:
    async def work() -> None:
        async with (
            scripted(CONNECT=lambda _: []) as broker,
            client_of(broker.url, connect_timeout_s=0.2, operation_timeout_s=0.5) as client,
        ):
            with pytest.raises(Unavailable, match=r"has not answered within 0\.2 s"):
                await client.partitions("t")

    run(work)


def test_bytes_that_are_no_frame() -> None:
    async def work() -> None:
        async with (
            scripted(LOOKUP=lambda _: [b"HTTP/1.1 400 Bad Request\r\n"]) as broker,
            client_of(broker.url, operation_timeout_s=0.5) as client,
        ):
            with pytest.raises(Unavailable, match="does not speak"):
                await client.open_outlet("t", QUICK, None)

    run(work)


def test_a_producer_that_is_sent_away_at_once_comes_back() -> None:
    async def work() -> None:
        is_first = iter([True])

        def attach(asked: Any) -> list[Any]:
            answers: list[Any] = [pb.CommandProducerSuccess(request_id=asked.request_id, producer_name="p")]
            if next(is_first, False):
                answers.append(pb.CommandCloseProducer(producer_id=asked.producer_id, request_id=2**64 - 1))
            return answers

        async with scripted(PRODUCER=attach) as broker, client_of(broker.url) as client:
            broker.answers["SEND"] = lambda send: [receipt(send, 7)]
            outlet = await client.open_outlet("t", QUICK, None)
            assert await put(outlet) == PulsarPosition(1, 7)
            first, second = broker.commands("PRODUCER")
            assert (first.producer_name, second.producer_name) == ("", "p")

    run(work)


def test_what_waits_is_not_forgotten_when_a_producer_is_sent_away_again() -> None:
    async def work() -> None:
        closes = iter([False, True, False])

        def attach(asked: Any) -> list[Any]:
            success = pb.CommandProducerSuccess(request_id=asked.request_id, producer_name="p")
            close = pb.CommandCloseProducer(producer_id=asked.producer_id, request_id=2**64 - 1)
            return [success, close] if next(closes) else [success]

        async with scripted(PRODUCER=attach) as broker, client_of(broker.url) as client:
            broker.answers["SEND"] = lambda send: [receipt(send, 5)] if len(broker.commands("PRODUCER")) == 3 else []
            outlet = await client.open_outlet("t", QUICK, None)
            sent = put(outlet)
            (send,) = await broker.until("SEND")
            broker.say(pb.CommandCloseProducer(producer_id=send.producer_id, request_id=2**64 - 1))
            async with asyncio.timeout(30):
                assert await sent == PulsarPosition(1, 5)

    run(work)


def test_a_name_that_the_broker_gave_is_kept() -> None:
    async def work() -> None:
        async with scripted() as broker, client_of(broker.url) as client:
            broker.answers["SEND"] = lambda send: [receipt(send, 7)]
            outlet = await client.open_outlet("t", QUICK, None)
            (attached,) = broker.commands("PRODUCER")
            broker.say(pb.CommandCloseProducer(producer_id=attached.producer_id, request_id=2**64 - 1))
            _, again = await broker.until("PRODUCER", 2)
            assert (again.producer_name, again.user_provided_producer_name, again.epoch) == ("p", False, 1)
            assert again.producer_id == attached.producer_id
            await put(outlet)

    run(work)


def test_answers_out_of_their_order_are_not_believed() -> None:
    async def work() -> None:
        held: list[pb.CommandSend] = []

        def reverse(send: pb.CommandSend) -> list[Any]:
            held.append(send)
            if len(held) == 2:
                return [receipt(one, 0) for one in reversed(held)]
            return [receipt(send, len(held))] if len(held) > 2 else []

        async with scripted(SEND=reverse) as broker, client_of(broker.url) as client:
            outlet = await client.open_outlet("t", QUICK, None)
            sents = [put(outlet), put(outlet)]
            assert [await sent for sent in sents] == [PulsarPosition(1, 3), PulsarPosition(1, 4)]
            assert [send.sequence_id for send in broker.commands("SEND")] == [0, 1, 0, 1]

    run(work)


def test_an_answer_that_comes_too_late_is_no_matter() -> None:
    async def work() -> None:
        async with scripted(SEND=lambda _: []) as broker, client_of(broker.url) as client:
            settings = ProducerSettings(batch_messages=1, send_timeout_s=0.2)
            outlet = await client.open_outlet("t", settings, None)
            with pytest.raises(TimedOut, match="has not answered"):
                await put(outlet)
            broker.answers["SEND"] = lambda send: [receipt(late, 0), receipt(send, 1)]
            (late,) = broker.commands("SEND")
            assert await put(outlet) == PulsarPosition(1, 1)
            assert len(broker.commands("CONNECT")) == 1

    run(work)


def test_an_error_names_the_last_id_of_a_batch() -> None:
    """As Pulsar's brokers do."""

    async def work() -> None:
        def refuse(send: pb.CommandSend) -> list[Any]:
            return [
                pb.CommandSendError(
                    producer_id=send.producer_id,
                    sequence_id=send.highest_sequence_id,
                    error=ServerError.NotAllowedError,
                    message="not this",
                )
            ]

        async with scripted(SEND=refuse) as broker, client_of(broker.url) as client:
            outlet = await client.open_outlet("t", ProducerSettings(), None)
            sents = [put(outlet), put(outlet), put(outlet)]
            outlet.flush()
            for sent in sents:
                with pytest.raises(Exception, match="not this"):
                    await sent

    run(work)


def test_what_a_broker_allows_is_heeded() -> None:
    async def work() -> None:
        small = pb.CommandConnected()
        small.CopyFrom(CONNECTED)
        small.max_message_size = 1000
        async with scripted(CONNECT=lambda _: [small]) as broker, client_of(broker.url) as client:
            outlet = await client.open_outlet("t", QUICK, None)
            with pytest.raises(Exception, match="the broker takes 1000"):
                await put(outlet, b"x" * 1000)

    run(work)


def test_pings_are_answered() -> None:
    async def work() -> None:
        async with scripted() as broker, client_of(broker.url) as client:
            await client.partitions("t")
            broker.say(pb.CommandPing())
            await broker.until("PONG")

    run(work)
