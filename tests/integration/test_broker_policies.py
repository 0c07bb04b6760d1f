"""Policies of topics: enforced on messages, told on the namespace's own topic, taken from another cluster."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pulsar
import pytest
from pulsar.schema import AvroSchema, Integer, Record

from tallystick.access import Caller
from tallystick.broker import policy_topic
from tallystick.model.naming import pulsar_subject
from tallystick.model.settings import Enforce, PayloadValidation
from tallystick.model.strategy import Strategy
from tallystick.registry import policies
from tallystick.wire.pulsar import pulsar_pb2 as api
from tests.pulsar.raw import connected, entry
from tests.servers import RunningRegistry, running_registry

_NAMESPACE = "public/default"
_SYSTEM_TOPIC = f"persistent://{_NAMESPACE}/{policy_topic.TOPIC}"


class Order(Record):  # type: ignore[misc]
    number = Integer()


class Unchecked(AvroSchema):  # type: ignore[misc]
    """Sends whatever bytes it is given as if they were encoded."""

    def encode(self, obj: Any) -> bytes:
        return bytes(obj)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRegistry]:
    with running_registry(tmp_path_factory.mktemp("data"), broker=True) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: RunningRegistry) -> Iterator[pulsar.Client]:
    found = pulsar.Client(server.pulsar, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
    yield found
    found.close()


def _set(server: RunningRegistry, topic: str, **changes: object) -> None:
    policies.change(server.registry, Caller(), changes, pulsar_subject("public", "default", topic))
    # The broker looks at the journal every half second.
    time.sleep(1.2)


def _is_taken(client: pulsar.Client, topic: str, payload: bytes) -> bool:
    producer = client.create_producer(topic, schema=Unchecked(Order), batching_enabled=False)
    try:
        producer.send(payload)
    except pulsar.ChecksumError:
        return False
    finally:
        producer.close()
    return True


def test_payloads_are_validated_where_the_policy_says_so(server: RunningRegistry, client: pulsar.Client) -> None:
    good, bad = AvroSchema(Order).encode(Order(number=1)), b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
    assert _is_taken(client, "checked", bad)
    _set(server, "checked", payload_validation=PayloadValidation.ALL)
    assert not _is_taken(client, "checked", bad)
    assert _is_taken(client, "checked", good)


def test_every_other_message_is_validated_by_its_position(server: RunningRegistry, client: pulsar.Client) -> None:
    bad = b"\xff" * 12
    assert _is_taken(client, "half", bad)
    _set(server, "half", payload_validation=PayloadValidation.HALF)
    assert _is_taken(client, "half", bad), "entry 1 is for the other end to validate"
    assert not _is_taken(client, "half", bad), "entry 2 is for this end"


def test_a_refused_message_does_not_hold_up_those_around_it(server: RunningRegistry, client: pulsar.Client) -> None:
    good, bad = AvroSchema(Order).encode(Order(number=1)), b"\xff" * 12
    producer = client.create_producer("around", schema=Unchecked(Order), batching_enabled=False)
    _set(server, "around", payload_validation=PayloadValidation.ALL)
    results: list[Any] = []
    for payload in (good, good, bad, good, bad, good):
        producer.send_async(payload, lambda result, _: results.append(result))
    producer.flush()
    ok, refused = pulsar.Result.Ok, pulsar.Result.ChecksumError
    assert results == [ok, ok, refused, ok, refused, ok]
    producer.close()


def test_a_policy_change_is_a_record_on_the_namespaces_topic(server: RunningRegistry, client: pulsar.Client) -> None:
    reader = client.create_reader(_SYSTEM_TOPIC, pulsar.MessageId.latest)
    subject = pulsar_subject("public", "default", "told")
    policies.change(server.registry, Caller(), {"strategy": Strategy.FORWARD, "enforce": Enforce.WARN}, subject)
    change = policy_topic.decode(reader.read_next(10_000).data())
    assert (change.namespace, change.subject) == (_NAMESPACE, "told")
    assert change.changes == {"strategy": "FORWARD", "enforce": "warn"}
    reader.close()


def test_a_replicated_record_is_applied_and_not_told_again(server: RunningRegistry, tmp_path: Path) -> None:
    with running_registry(tmp_path / "other", broker=True) as other, _reader(server) as told_here:
        subject = pulsar_subject("public", "default", "shared")
        with _reader(other) as reader:
            policies.change(other.registry, Caller(), {"strategy": Strategy.FORWARD_TRANSITIVE}, subject)
            payload = reader.read_next(10_000).data()
        _send_replicated(server, payload)
        assert policies.own(server.registry, subject).strategy is Strategy.FORWARD_TRANSITIVE
        arrived = told_here.read_next(10_000)
        assert arrived.data() == payload
        with pytest.raises(pulsar.Timeout):
            told_here.read_next(1500)


@contextmanager
def _reader(server: RunningRegistry) -> Iterator[pulsar.Reader]:
    client = pulsar.Client(server.pulsar, logger=pulsar.ConsoleLogger(pulsar.LoggerLevel.Error))
    yield client.create_reader(_SYSTEM_TOPIC, pulsar.MessageId.latest)
    client.close()


def _send_replicated(server: RunningRegistry, payload: bytes) -> None:
    with connected(server.pulsar) as raw:
        raw.request("PRODUCER", api.CommandProducer(topic=_SYSTEM_TOPIC, producer_id=1, producer_name="replicator"))
        raw.command(
            "SEND",
            api.CommandSend(producer_id=1, sequence_id=0),
            entry(payload, "replicator", replicated_from="elsewhere"),
        )
        (receipt,) = raw.pushes("SEND_RECEIPT", 10, most=1)
        assert receipt.message_id.entryId >= 0
