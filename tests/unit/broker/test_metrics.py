"""Metrics of topics: their number is bounded, and nothing is lost beyond the limit."""

from tallystick.broker.metrics import MOST_TOPICS, OTHERS, BrokerMetrics, SubscriptionNumbers, TopicNumbers


def topic(number: int, subscriptions: int = 1) -> TopicNumbers:
    found = tuple(SubscriptionNumbers(f"s{at:03}", 2, 20, 3, 1, 0, 1) for at in range(subscriptions))
    name = f"persistent://public/default/t{number:05}"
    return TopicNumbers("public/default", name, 5, 50, 40, 1, 0, found, (("1", 4), ("", 1)))


def series(metrics: BrokerMetrics, family: str) -> dict[tuple[str, ...], float]:
    [found] = [metric for metric in metrics.collect() if metric.name == family]
    return {tuple(sample.labels.values()): sample.value for sample in found.samples}


def test_each_topic_has_a_series_of_its_own() -> None:
    metrics = BrokerMetrics(lambda: [topic(1), topic(2)])
    assert series(metrics, "tallystick_broker_messages_in") == {
        ("public/default", "persistent://public/default/t00001"): 5,
        ("public/default", "persistent://public/default/t00002"): 5,
    }
    assert series(metrics, "tallystick_broker_messages_by_schema") == {
        ("public/default", f"persistent://public/default/t0000{at}", version): number
        for at in (1, 2)
        for version, number in (("1", 4), ("", 1))
    }


def test_beyond_the_limit_a_namespace_is_summed() -> None:
    metrics = BrokerMetrics(lambda: [topic(number) for number in range(MOST_TOPICS + 30)])
    messages = series(metrics, "tallystick_broker_messages_in")
    assert len(messages) == MOST_TOPICS + 1
    assert messages["public/default", OTHERS] == 30 * 5
    assert series(metrics, "tallystick_broker_backlog")["public/default", OTHERS, OTHERS] == 30 * 3


def test_beyond_the_limit_subscriptions_are_summed() -> None:
    backlog = series(BrokerMetrics(lambda: [topic(1, subscriptions=60)]), "tallystick_broker_backlog")
    assert len(backlog) == 51
    assert backlog["public/default", "persistent://public/default/t00001", OTHERS] == 10 * 3
