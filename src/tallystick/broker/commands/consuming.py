"""Consumers and readers: subscribe, take, acknowledge, seek, leave."""

import itertools
import time
from datetime import UTC, datetime

from tallystick.access import Action
from tallystick.broker import answers
from tallystick.broker.commands.producing import MOST_IN_BATCH, NO_TRANSACTIONS
from tallystick.broker.consumer import Consumer
from tallystick.broker.names import LONGEST_NAME, topic_name
from tallystick.broker.session import Session, detach
from tallystick.broker.subscription import KINDS, Subscription
from tallystick.broker.topic import Topic
from tallystick.errors import InvalidArgument, NotFound, TallystickError, Unsupported
from tallystick.wire.pulsar.pulsar_pb2 import (
    BaseCommand,
    CommandAck,
    CommandCloseConsumer,
    CommandConsumerStats,
    CommandFlow,
    CommandGetLastMessageId,
    CommandRedeliverUnacknowledgedMessages,
    CommandSeek,
    CommandSubscribe,
    CommandUnsubscribe,
    MessageIdData,
)

_NOTHING = 2**64 - 1
"""-1 as the wire has it: the entry before the first one."""
_MOST_WORDS = MOST_IN_BATCH // 64
_names = (f"consumer-{int(time.time() * 1000):x}-{number}" for number in itertools.count())


async def subscribe(session: Session, command: CommandSubscribe, body: bytes) -> None:
    name = topic_name(command.topic)
    session.require(Action.CONSUME, name)
    if not 0 < len(command.subscription) <= LONGEST_NAME:
        raise InvalidArgument("subscription", f"its name has 1 to {LONGEST_NAME} characters")
    topic = await session.broker.topic(name, create=command.force_topic_creation)
    schema = command.schema if command.HasField("schema") else None
    await session.schemas.attach_consumer(session.caller, name, schema, topic_in_use=topic.is_in_use)
    subscription = await _subscription(session, topic, command)
    session.require_open()
    _leave(session, command.consumer_id)
    consumer = _consumer(session, subscription, command)
    try:
        subscription.attach(consumer, command.subType, command.keySharedMeta)
    except TallystickError:
        if not subscription.is_durable and not subscription.consumers:
            topic.forget(subscription)
        raise
    session.consumers[consumer.id] = consumer
    session.reply(answers.success(command.request_id))


async def _subscription(session: Session, topic: Topic, command: CommandSubscribe) -> Subscription:
    found = topic.subscriptions.get(command.subscription)
    if found is not None:
        return found
    properties = {item.key: item.value for item in command.subscription_properties}
    number = await _start(topic, command)
    if not command.durable:
        return topic.subscribe(command.subscription, number, properties, is_durable=False)
    return await session.broker.create_subscription(topic, command.subscription, number, properties)


async def _start(topic: Topic, command: CommandSubscribe) -> int:
    """A reader's start id is delivered too: the client leaves out what comes before its own start in the batch."""
    if command.start_message_rollback_duration_sec:
        return await topic.number_at(int((time.time() - command.start_message_rollback_duration_sec) * 1000))
    if command.HasField("start_message_id"):
        return _number(topic, command.start_message_id)
    return topic.first if command.initialPosition == CommandSubscribe.Earliest else topic.committed


def _number(topic: Topic, id_: MessageIdData) -> int:
    """-1 is the earliest, the largest signed number the latest."""
    ledger, entry = (_signed(part) for part in (id_.ledgerId, id_.entryId))
    return topic.number_of(ledger, entry)


def _signed(number: int) -> int:
    return number - 2**64 if number >> 63 else number


def _consumer(session: Session, subscription: Subscription, command: CommandSubscribe) -> Consumer:
    return Consumer(
        command.consumer_id,
        command.consumer_name or next(_names),
        session,
        subscription,
        priority=command.priority_level,
        sticky_ranges=tuple((r.start, r.end) for r in command.keySharedMeta.hashRanges),
        metadata={item.key: item.value for item in command.metadata},
        connected_ms=int(time.time() * 1000),
        epoch=command.consumer_epoch if command.HasField("consumer_epoch") else None,
    )


def _attached(session: Session, consumer_id: int) -> Consumer:
    try:
        return session.consumers[consumer_id]
    except KeyError as e:
        raise NotFound(f"consumer {consumer_id} is not attached; subscribe again") from e


def flow(session: Session, command: CommandFlow, body: bytes) -> None:
    consumer = session.consumers.get(command.consumer_id)
    if consumer is not None:
        consumer.subscription.flow(consumer, command.messagePermits)


def ack(session: Session, command: CommandAck, body: bytes) -> None:
    """Most clients do not wait for an answer; those who do get one."""
    answer = BaseCommand(type=BaseCommand.ACK_RESPONSE)
    answer.ackResponse.consumer_id = command.consumer_id
    try:
        _ack(_attached(session, command.consumer_id), command)
    except TallystickError as e:
        answer.ackResponse.error = answers.code_of(e)
        answer.ackResponse.message = e.message
    if command.HasField("request_id"):
        answer.ackResponse.request_id = command.request_id
        session.reply(answer)


def _ack(consumer: Consumer, command: CommandAck) -> None:
    if command.txnid_most_bits or command.txnid_least_bits:
        raise Unsupported(NO_TRANSACTIONS)
    subscription = consumer.subscription
    ids = [id_ for id_ in command.message_id if id_.ledgerId == subscription.topic.id]
    if any(len(id_.ack_set) > _MOST_WORDS for id_ in ids):
        raise InvalidArgument("ack_set", f"no batch has more than {MOST_IN_BATCH} messages")
    if command.ack_type == CommandAck.Individual:
        subscription.ack(consumer, [(id_.entryId, id_.ack_set) for id_ in ids])
    elif ids:
        subscription.ack_up_to(ids[0].entryId, ids[0].ack_set)


def redeliver(session: Session, command: CommandRedeliverUnacknowledgedMessages, body: bytes) -> None:
    consumer = session.consumers.get(command.consumer_id)
    if consumer is None:
        return
    if command.HasField("consumer_epoch"):
        consumer.epoch = command.consumer_epoch
    numbers = [id_.entryId for id_ in command.message_ids if id_.ledgerId == consumer.subscription.topic.id]
    consumer.subscription.redeliver(consumer, numbers if command.message_ids else None)


async def seek(session: Session, command: CommandSeek, body: bytes) -> None:
    subscription = _attached(session, command.consumer_id).subscription
    topic = subscription.topic
    if command.HasField("message_publish_time"):
        number = await topic.number_at(command.message_publish_time)
    elif command.HasField("message_id"):
        number = _number(topic, command.message_id)
    else:
        raise InvalidArgument("seek", "it needs a message id or a time")
    subscription.seek(number)
    await session.broker.store_cursors()
    session.reply(answers.success(command.request_id))


async def last_message_id(session: Session, command: CommandGetLastMessageId, body: bytes) -> None:
    subscription = _attached(session, command.consumer_id).subscription
    topic = subscription.topic
    last = await topic.last_position()
    answer = BaseCommand(type=BaseCommand.GET_LAST_MESSAGE_ID_RESPONSE)
    response = answer.getLastMessageIdResponse
    response.request_id = command.request_id
    _fill(response.last_message_id, topic, last.number)
    response.last_message_id.batch_index = last.batch_index
    _fill(response.consumer_mark_delete_position, topic, subscription.cursor.acked_before - 1)
    session.reply(answer)


def _fill(id_: MessageIdData, topic: Topic, number: int) -> None:
    id_.ledgerId = topic.id
    id_.entryId = number if number >= 0 else _NOTHING
    if topic.partition is not None:
        id_.partition = topic.partition


async def unsubscribe(session: Session, command: CommandUnsubscribe, body: bytes) -> None:
    consumer = _attached(session, command.consumer_id)
    subscription = consumer.subscription
    if len(subscription.consumers) > 1 and not command.force:
        raise InvalidArgument("unsubscribe", "Unconnected or shared consumer attempting to unsubscribe")
    session.consumers.pop(consumer.id)
    subscription.detach(consumer)
    await session.broker.delete_subscription(subscription, force=command.force)
    session.reply(answers.success(command.request_id))


def close(session: Session, command: CommandCloseConsumer, body: bytes) -> None:
    session.give_up(BaseCommand.SUBSCRIBE, command.consumer_id)
    _leave(session, command.consumer_id)
    session.reply(answers.success(command.request_id))


def _leave(session: Session, consumer_id: int) -> None:
    consumer = session.consumers.pop(consumer_id, None)
    if consumer is not None:
        detach(consumer)


def stats(session: Session, command: CommandConsumerStats, body: bytes) -> None:
    answer = BaseCommand(type=BaseCommand.CONSUMER_STATS_RESPONSE)
    response = answer.consumerStatsResponse
    response.request_id = command.request_id
    consumer = _attached(session, command.consumer_id)
    response.msgRateOut = consumer.out.message_rate
    response.msgThroughputOut = consumer.out.byte_rate
    response.consumerName = consumer.name
    response.availablePermits = max(0, consumer.permits)
    response.unackedMessages = consumer.unacked
    response.address = session.address
    response.connectedSince = datetime.fromtimestamp(consumer.connected_ms / 1000, UTC).isoformat()
    response.type = KINDS[consumer.subscription.kind]
    response.msgBacklog = consumer.subscription.backlog
    session.reply(answer)
