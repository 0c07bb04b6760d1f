"""The statistics of partitions, summed."""

from tallystick.server.dialects.pulsar_admin.statistics import summed


def test_numbers_are_added_and_subscriptions_go_together() -> None:
    def part(messages: int, **subscriptions: int) -> dict[str, object]:
        return {
            "msgInCounter": messages,
            "topicCreationTimeStamp": 100 + messages,
            "deduplicationStatus": "Disabled",
            "publishers": [{"producerName": "p"}],
            "subscriptions": {
                name: {"msgBacklog": backlog, "isDurable": True, "type": "Shared"}
                for name, backlog in subscriptions.items()
            },
        }

    assert summed([part(3, a=1), part(4, a=2, b=5)]) == {
        "msgInCounter": 7,
        "topicCreationTimeStamp": 103,
        "deduplicationStatus": "Disabled",
        "publishers": [],
        "subscriptions": {
            "a": {"msgBacklog": 3, "isDurable": True, "type": "Shared"},
            "b": {"msgBacklog": 5, "isDurable": True, "type": "Shared"},
        },
    }
