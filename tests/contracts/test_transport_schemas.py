"""One producer, many schemas."""

from typing import Any

import pytest

from tallystick import (
    AutoConsume,
    AvroSchema,
    Client,
    IncompatibleSchema,
    InvalidRecord,
    JsonSchema,
    NotPermitted,
    Pending,
)
from tests.contracts import orders
from tests.contracts.clusters import KAFKA, Cluster
from tests.contracts.orders import WAIT_S, ids, marks, order, received

FIRST, SECOND, FOREIGN = AvroSchema(orders.FIRST), AvroSchema(orders.SECOND), AvroSchema(orders.FOREIGN)


def _read(client: Client, topic: str, count: int) -> list[Any]:
    with client.reader(topic, AutoConsume()) as reader:
        return received(reader, count)


def test_each_message_may_have_a_schema_of_its_own(client: Client, topic: str) -> None:
    with client.producer(topic, FIRST) as producer:
        producer.send(order(1))
        producer.send({**order(2), "note": "n"}, schema=SECOND)
        producer.new_message(SECOND).value({**order(3), "note": None}).send()
        producer.send(order(4))
    messages = _read(client, topic, 4)
    assert [message.value for message in messages] == [
        order(1),
        {**order(2), "note": "n"},
        {**order(3), "note": None},
        order(4),
    ]
    assert marks(messages) == [1, 2, 2, 1]


@pytest.mark.parametrize("wanted", [[1, 1, 2, 2, 1], [1, 2, 1, 2], [1, 2, 3, 1, 3, 2]])
def test_schemas_of_one_flush_arrive_as_they_were_sent(client: Client, topic: str, wanted: list[int]) -> None:
    schemas = {1: FIRST, 2: SECOND, 3: AvroSchema(orders.THIRD)}
    with client.producer(topic, FIRST, batch_delay_s=5.0) as producer:
        for number in schemas:
            # So that all are registered, and nothing but the batch is at stake.
            producer.send(order(0), schema=schemas[number])
        for number, which in enumerate(wanted):
            producer.send_async(order(number), schema=schemas[which])
        producer.flush()
    messages = _read(client, topic, len(schemas) + len(wanted))[len(schemas) :]
    assert marks(messages) == wanted
    assert ids(messages) == list(range(len(wanted)))


def test_a_producer_of_bytes_may_send_messages_with_schemas(client: Client, topic: str) -> None:
    with client.producer(topic) as producer:
        producer.send(order(1), schema=FIRST)
        producer.send({**order(2), "note": "n"}, schema=SECOND)
    messages = _read(client, topic, 2)
    assert marks(messages) == [1, 2]
    assert ids(messages) == [1, 2]


def test_a_message_whose_schema_does_not_fit_fails_alone_with_findings(client: Client, topic: str) -> None:
    with client.producer(topic, FIRST) as producer:
        pending: list[Pending[Any]] = []
        for number in range(10):
            if number in (4, 7):
                pending.append(producer.send_async({"id": "x", "item": "y"}, schema=FOREIGN))
            else:
                pending.append(producer.send_async(order(number)))
        producer.flush()
        refused = [number for number, each in enumerate(pending) if each.error() is not None]
        assert refused == [4, 7]
        assert producer.pending == 0
        for number in refused:
            with pytest.raises(IncompatibleSchema, match=topic) as told:
                pending[number].result(WAIT_S)
            assert told.value.findings
            finding = told.value.findings[0]
            assert finding.rule.startswith("AVRO_")
            assert finding.fix
    assert ids(_read(client, topic, 8)) == [0, 1, 2, 3, 5, 6, 8, 9]


def test_a_producer_whose_schema_does_not_fit_is_not_opened(client: Client, topic: str) -> None:
    client.producer(topic, FIRST).close()
    with pytest.raises(IncompatibleSchema, match=topic) as refused:
        client.producer(topic, FOREIGN)
    assert [finding.rule for finding in refused.value.findings]
    assert "id" in str(refused.value)


def test_order_holds_while_schemas_register(client: Client, topic: str) -> None:
    with client.producer(topic, FIRST) as producer:
        new = [SECOND, AvroSchema(orders.THIRD)]
        for number in range(100):
            schema = None if number % 5 else new[number % 2]
            producer.send_async(order(number), schema=schema)
        producer.flush()
    assert ids(_read(client, topic, 100)) == list(range(100))


def test_messages_wait_in_order_while_a_registration_is_held_up(cluster: Cluster, topic: str) -> None:
    held = AvroSchema(orders.avro(orders.ID, orders.ITEM, {"name": "held_up", "type": "int", "default": 0}))
    with cluster.with_schemas_behind_proxy() as (behind, proxy), behind.client() as client:
        with client.producer(topic, FIRST) as producer:
            producer.send(order(0))
            proxy.hold(b"held_up")
            pending = [producer.send_async({**order(1), "held_up": 1}, schema=held)]
            assert proxy.is_holding.wait(WAIT_S)
            pending += [producer.send_async(order(number)) for number in range(2, 6)]
            assert not any(each.done() for each in pending)
            assert producer.pending == 5
            proxy.release()
            for each in pending:
                each.result(WAIT_S)
            producer.flush()
            assert producer.pending == 0
        messages = _read(client, topic, 6)
    assert ids(messages) == list(range(6))
    assert marks(messages) == [1, 2, 1, 1, 1, 1]


def test_a_producer_may_be_held_to_one_schema(client: Client, topic: str) -> None:
    with client.producer(topic, FIRST, multi_schema="off") as producer:
        producer.send(order(1), schema=FIRST)
        with pytest.raises(NotPermitted, match="multi_schema"):
            producer.send(order(2), schema=SECOND)
        with pytest.raises(NotPermitted):
            producer.new_message(SECOND).value(order(2)).send()
        producer.send(order(3))
    assert ids(_read(client, topic, 2)) == [1, 3]


def test_another_type_of_schema_is_refused_with_findings(client: Client, cluster: Cluster, topic: str) -> None:
    with client.producer(topic, FIRST) as producer:
        producer.send(order(1))
        with pytest.raises(IncompatibleSchema, match=topic) as refused:
            producer.send(order(2), schema=cluster.other_type())
        assert {finding.rule for finding in refused.value.findings} == {"SCHEMA_TYPE_CHANGED"}
        producer.send(order(3))
    assert ids(_read(client, topic, 2)) == [1, 3]


def test_a_value_that_does_not_fit_is_refused_by_name(client: Client, topic: str) -> None:
    with client.producer(topic, FIRST) as producer:
        with pytest.raises(InvalidRecord) as refused:
            producer.send({"id": "seven", "item": "a"})
        told = str(refused.value)
        assert topic in told
        assert "AVRO" in told
        (finding,) = refused.value.findings
        assert finding.new is not None
        assert finding.new.path == "/id"
        assert finding.fix
        with pytest.raises(InvalidRecord):
            producer.send_async({"id": 1})
        assert producer.pending == 0
        producer.send(order(2))
    assert ids(_read(client, topic, 1)) == [2]


@pytest.mark.parametrize("cluster", KAFKA, indirect=True)
def test_with_subjects_by_record_one_topic_has_any_types(cluster: Cluster, topic: str) -> None:
    other = JsonSchema({**orders.JSON_SCHEMA, "title": f"Other{topic.replace('-', '')}"})
    with cluster.client(naming="TopicRecordNameStrategy") as client:
        with client.producer(topic, FIRST) as producer:
            for number, schema in enumerate([FIRST, other, FIRST, other, other]):
                producer.send_async(order(number), schema=schema)
            producer.flush()
        messages = _read(client, topic, 5)
    assert marks(messages) == [1, 2, 1, 2, 2]
    assert ids(messages) == list(range(5))
