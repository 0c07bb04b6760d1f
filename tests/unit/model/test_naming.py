import pytest

from tallystick.errors import InvalidArgument
from tallystick.model.naming import KafkaNaming, kafka_subject, pulsar_subject
from tallystick.model.subject import Subject


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("orders", "orders"),
        ("orders-partition-0", "orders"),
        ("orders-partition-12", "orders"),
        ("orders-partition-x", "orders-partition-x"),
        ("a/b", "a/b"),
    ],
)
def test_the_partitions_of_a_pulsar_topic_share_its_subject(topic: str, name: str) -> None:
    assert pulsar_subject("acme", "sales", topic) == Subject("acme/sales", name)


@pytest.mark.parametrize(("tenant", "namespace"), [("a/b", "c"), ("", "c"), ("a", "c d"), ("a" * 201, "b")])
def test_names_that_pulsar_does_not_allow(tenant: str, namespace: str) -> None:
    with pytest.raises(InvalidArgument):
        pulsar_subject(tenant, namespace, "t")


def test_the_strategies_of_kafka() -> None:
    assert kafka_subject("orders") == "orders-value"
    assert kafka_subject("orders", is_key=True) == "orders-key"
    assert kafka_subject("orders", "acme.Order", naming=KafkaNaming.RECORD_NAME) == "acme.Order"
    assert kafka_subject("orders", "acme.Order", naming=KafkaNaming.TOPIC_RECORD_NAME) == "orders-acme.Order"
    with pytest.raises(InvalidArgument):
        kafka_subject("orders", naming=KafkaNaming.RECORD_NAME)
