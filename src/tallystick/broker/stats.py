"""What a topic has to tell of itself, with the names that Pulsar gives the numbers. For the event loop."""

from datetime import UTC, datetime
from typing import Any

from tallystick.broker.consumer import Consumer
from tallystick.broker.producer import Producer
from tallystick.broker.subscription import KINDS, SHARED, Subscription
from tallystick.broker.topic import Topic
from tallystick.broker.traffic import Traffic
from tallystick.wire.pulsar.pulsar_pb2 import CommandSubscribe


def stats_of(topic: Topic) -> dict[str, Any]:
    subscriptions = {name: _subscription(found) for name, found in topic.subscriptions.items()}
    out = list(subscriptions.values())
    return {
        "msgRateIn": topic.published.message_rate,
        "msgThroughputIn": topic.published.byte_rate,
        "msgRateOut": sum(each["msgRateOut"] for each in out),
        "msgThroughputOut": sum(each["msgThroughputOut"] for each in out),
        "bytesInCounter": topic.published.bytes,
        "msgInCounter": topic.published.messages,
        "bytesOutCounter": sum(each["bytesOutCounter"] for each in out),
        "msgOutCounter": sum(each["msgOutCounter"] for each in out),
        "averageMsgSize": _average(topic.published),
        "msgChunkPublished": False,
        "storageSize": topic.bytes,
        "backlogSize": max((each["backlogSize"] for each in out), default=0),
        "publishRateLimitedTimes": 0,
        "earliestMsgPublishTimeInBacklogs": 0,
        "offloadedStorageSize": 0,
        "publishers": [_publisher(producer) for producer in topic.producers.values()],
        "waitingPublishers": 0,
        "subscriptions": subscriptions,
        "replication": {},
        "deduplicationStatus": "Enabled" if topic.is_deduplicating else "Disabled",
        "nonContiguousDeletedMessagesRanges": sum(each["nonContiguousDeletedMessagesRanges"] for each in out),
        "topicCreationTimeStamp": topic.created_ms,
    }


def _publisher(producer: Producer) -> dict[str, Any]:
    return {
        "accessMode": "Shared",
        "msgRateIn": producer.sent.message_rate,
        "msgThroughputIn": producer.sent.byte_rate,
        "averageMsgSize": _average(producer.sent),
        "chunkedMessageRate": 0.0,
        "producerId": producer.id,
        "supportsPartialProducer": False,
        "producerName": producer.name,
        "address": f"/{producer.connection.address}",
        "connectedSince": _time(producer.connected_ms),
        "clientVersion": producer.connection.client_version,
        "metadata": producer.metadata,
    }


def _subscription(subscription: Subscription) -> dict[str, Any]:
    active = subscription.dispatcher.active if subscription.dispatcher is not None else None
    is_shared = subscription.kind in SHARED
    was_used = subscription.dispatcher is not None or subscription.out.entries > 0
    kind: dict[str, Any] = {"type": KINDS[subscription.kind]} if was_used else {}
    if active is not None and subscription.kind == CommandSubscribe.Failover:
        kind["activeConsumerName"] = active.name
    return {
        "msgRateOut": subscription.out.message_rate,
        "msgThroughputOut": subscription.out.byte_rate,
        "bytesOutCounter": subscription.out.bytes,
        "msgOutCounter": subscription.out.messages,
        "msgRateRedeliver": 0.0,
        "chunkedMessageRate": 0.0,
        "msgBacklog": subscription.backlog,
        "backlogSize": _backlog_bytes(subscription),
        "msgBacklogNoDelayed": subscription.backlog,
        "blockedSubscriptionOnUnackedMsgs": False,
        "msgDelayed": 0,
        "unackedMessages": sum(consumer.unacked for consumer in subscription.consumers) if is_shared else 0,
        **kind,
        "msgRateExpired": 0.0,
        "consumers": [_consumer(consumer) for consumer in subscription.consumers],
        "isDurable": subscription.is_durable,
        "isReplicated": False,
        "allowOutOfOrderDelivery": False,
        "consumersAfterMarkDeletePosition": {},
        "nonContiguousDeletedMessagesRanges": len(subscription.cursor.state({}).acked),
        "subscriptionProperties": dict(subscription.properties),
        "durable": subscription.is_durable,
        "replicated": False,
    }


def _consumer(consumer: Consumer) -> dict[str, Any]:
    return {
        "msgRateOut": consumer.out.message_rate,
        "msgThroughputOut": consumer.out.byte_rate,
        "bytesOutCounter": consumer.out.bytes,
        "msgOutCounter": consumer.out.messages,
        "msgRateRedeliver": 0.0,
        "chunkedMessageRate": 0.0,
        "consumerName": consumer.name,
        "availablePermits": consumer.permits,
        "unackedMessages": consumer.unacked,
        "avgMessagesPerEntry": consumer.out.messages // consumer.out.entries if consumer.out.entries else 0,
        "blockedConsumerOnUnackedMsgs": False,
        "address": f"/{consumer.connection.address}",
        "connectedSince": _time(consumer.connected_ms),
        "clientVersion": consumer.connection.client_version,
        "metadata": consumer.metadata,
    }


def internals_of(topic: Topic) -> dict[str, Any]:
    """A topic is one ledger, whose id is the topic's."""
    kept = topic.committed - topic.first
    return {
        "entriesAddedCounter": topic.published.entries,
        "numberOfEntries": kept,
        "totalSize": topic.bytes,
        "currentLedgerEntries": kept,
        "currentLedgerSize": topic.bytes,
        "lastLedgerCreatedTimestamp": _time(topic.created_ms),
        "waitingCursorsCount": 0,
        "pendingAddEntriesCount": 0,
        "lastConfirmedEntry": f"{topic.id}:{topic.committed - 1}",
        "state": "LedgerOpened",
        "ledgers": [_ledger(topic.id, kept, topic.bytes)],
        "cursors": {name: _cursor(found) for name, found in topic.subscriptions.items()},
        "properties": dict(topic.properties),
        "schemaLedgers": [],
        "compactedLedger": _ledger(-1, -1, -1),
    }


def _ledger(number: int, entries: int, size: int) -> dict[str, Any]:
    return {"ledgerId": number, "entries": entries, "size": size, "offloaded": False, "underReplicated": False}


def _cursor(subscription: Subscription) -> dict[str, Any]:
    ledger, state = subscription.topic.id, subscription.state()
    ranges = ",".join(f"({ledger}:{first - 1}..{ledger}:{last}]" for first, last in state.acked)
    return {
        "markDeletePosition": f"{ledger}:{state.acked_before - 1}",
        "readPosition": f"{ledger}:{subscription.cursor.next_unacked(state.acked_before)}",
        "waitingReadOp": False,
        "pendingReadOps": 0,
        "messagesConsumedCounter": state.acked_before,
        "cursorLedger": ledger if subscription.is_durable else -1,
        "cursorLedgerLastEntry": -1,
        "individuallyDeletedMessages": f"[{ranges}]",
        "state": "Open" if subscription.is_durable else "NoLedger",
        "active": bool(subscription.consumers),
        "numberOfEntriesSinceFirstNotAckedMessage": subscription.topic.committed - state.acked_before,
        "totalNonContiguousDeletedMessagesRange": len(state.acked),
        "properties": {},
    }


def _backlog_bytes(subscription: Subscription) -> int:
    """By the topic's mean size of an entry: what lies between is not read for it."""
    topic = subscription.topic
    kept = topic.committed - topic.first
    return topic.bytes * subscription.backlog // kept if kept else 0


def _average(traffic: Traffic) -> float:
    return traffic.byte_rate / traffic.message_rate if traffic.message_rate else 0.0


def _time(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
