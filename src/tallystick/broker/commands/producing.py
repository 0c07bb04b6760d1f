"""Producers: attach, send, close."""

import itertools
import time

from tallystick.access import Action
from tallystick.broker import answers
from tallystick.broker.names import LONGEST_NAME, topic_name
from tallystick.broker.producer import Producer
from tallystick.broker.session import Session
from tallystick.broker.topic import DUPLICATE, Topic
from tallystick.errors import InvalidArgument, TallystickError, Unavailable, Unsupported
from tallystick.wire.pulsar.entries import ParsedEntry, parse_entry
from tallystick.wire.pulsar.pulsar_pb2 import (
    BaseCommand,
    CommandCloseProducer,
    CommandProducer,
    CommandSend,
    ProducerAccessMode,
    ServerError,
)
from tallystick.wire.pulsar.schemas import version_bytes

_NOWHERE = 2**64 - 1
"""Ledger and entry of a message that was there already."""
MOST_IN_BATCH = 2**20
"""The largest batch has no room for more messages."""
_names = (f"tallystick-{int(time.time() * 1000):x}-{number}" for number in itertools.count())


async def attach(session: Session, command: CommandProducer, body: bytes) -> None:
    name = topic_name(command.topic)
    _require_supported(command)
    session.require(Action.PRODUCE, name)
    topic = await session.broker.topic(name)
    schema = command.schema if command.HasField("schema") else None
    version = await session.schemas.attach_producer(session.caller, name, schema)
    session.require_open()
    _leave(session, command.producer_id)
    producer = Producer(
        command.producer_id,
        command.producer_name or next(_names),
        session,
        topic,
        epoch=command.epoch,
        is_user_named=command.user_provided_producer_name,
        schema_version=version,
        metadata={item.key: item.value for item in command.metadata},
        connected_ms=int(time.time() * 1000),
    )
    topic.add_producer(producer)
    session.producers[producer.id] = producer
    initial = command.initial_subscription_name
    if initial and initial not in topic.subscriptions:
        await session.broker.create_subscription(topic, initial, topic.first, {})
    session.reply(_attached(command, producer))


def _require_supported(command: CommandProducer) -> None:
    if len(command.producer_name) > LONGEST_NAME:
        raise InvalidArgument("producer name", f"it has more than {LONGEST_NAME} characters")
    if command.producer_access_mode != ProducerAccessMode.Shared:
        mode = ProducerAccessMode.Name(command.producer_access_mode)
        raise Unsupported(
            f"the producer access mode {mode} is not offered here: every producer shares its topic; "
            "leave the access mode out, or use a Pulsar cluster"
        )
    if command.txn_enabled:
        raise Unsupported(NO_TRANSACTIONS)


NO_TRANSACTIONS = "transactions are not offered here; send without one, or use a Pulsar cluster"


def _attached(command: CommandProducer, producer: Producer) -> BaseCommand:
    topic = producer.topic
    answer = BaseCommand(type=BaseCommand.PRODUCER_SUCCESS)
    content = answer.producer_success
    content.request_id = command.request_id
    content.producer_name = producer.name
    content.last_sequence_id = topic.last_sequence(producer.name) if topic.is_deduplicating else -1
    content.schema_version = version_bytes(producer.schema_version) if producer.schema_version is not None else b""
    content.producer_ready = True
    return answer


def send(session: Session, command: CommandSend, body: bytes) -> None:
    producer = session.producers.get(command.producer_id)
    if producer is None:
        unknown = Unavailable(f"producer {command.producer_id} is not attached; attach it again")
        session.reply(_refused(session, command, unknown))
        return
    try:
        _append(session, producer, command, body)
    except TallystickError as e:
        # Clients look for a refused message at the head of those that are not answered.
        producer.topic.refused += 1
        answer = _refused(session, command, e)
        producer.topic.after_appends(lambda _: session.reply(answer))


def _append(session: Session, producer: Producer, command: CommandSend, entry: bytes) -> None:
    parsed = parse_entry(entry)
    if not 0 < parsed.metadata.num_messages_in_batch <= MOST_IN_BATCH:
        raise InvalidArgument("message", f"a batch holds 1 to {MOST_IN_BATCH} messages")
    if command.txnid_most_bits or command.txnid_least_bits:
        raise Unsupported(NO_TRANSACTIONS)
    topic = producer.topic
    session.schemas.check_payload(topic, parsed)
    changes_policies = session.policies.require_applicable(session.caller, topic, parsed)

    def done(number: int, error: BaseException | None) -> None:
        session.stored(len(entry))
        if error is None:
            producer.sent.add(parsed.metadata.num_messages_in_batch, len(entry))
            receipt = _receipt(command, topic.id, topic.partition, number)
            if changes_policies:
                session.spawn(_apply_first(session, topic, parsed, receipt), None)
            else:
                session.reply(receipt)
        else:
            reason = error.message if isinstance(error, TallystickError) else str(error)
            session.reply(_refused(session, command, Unavailable(f"the message could not be stored: {reason}")))

    session.storing(len(entry))
    try:
        topic.append(entry, parsed.metadata, done)
    except TallystickError:
        session.stored(len(entry))
        raise


async def _apply_first(session: Session, topic: Topic, parsed: ParsedEntry, receipt: BaseCommand) -> None:
    """Who replicates policies sends them again until they are answered, so they are applied before that."""
    await session.policies.apply(session.caller, topic, parsed)
    session.reply(receipt)


def _receipt(command: CommandSend, ledger: int, partition: int | None, number: int) -> BaseCommand:
    answer = BaseCommand(type=BaseCommand.SEND_RECEIPT)
    receipt = answer.send_receipt
    receipt.producer_id = command.producer_id
    receipt.sequence_id = command.sequence_id
    receipt.highest_sequence_id = command.highest_sequence_id
    is_new = number != DUPLICATE
    receipt.message_id.ledgerId = ledger if is_new else _NOWHERE
    receipt.message_id.entryId = number if is_new else _NOWHERE
    if partition is not None:
        receipt.message_id.partition = partition
    return answer


def _refused(session: Session, command: CommandSend, error: TallystickError) -> BaseCommand:
    answer = BaseCommand(type=BaseCommand.SEND_ERROR)
    answer.send_error.producer_id = command.producer_id
    answer.send_error.sequence_id = command.sequence_id
    answer.send_error.error = _send_code(session, error)
    answer.send_error.message = error.message
    return answer


def _send_code(session: Session, error: TallystickError) -> ServerError:
    """Java's client fails the one message that is not allowed. The others know only damaged messages as a reason not to
    send the same bytes again, for ever, on new connections."""
    code = answers.code_of(error)
    is_final = code == ServerError.NotAllowedError
    return ServerError.ChecksumError if is_final and "Java" not in session.client_version else code


def close(session: Session, command: CommandCloseProducer, body: bytes) -> None:
    session.give_up(BaseCommand.PRODUCER, command.producer_id)
    _leave(session, command.producer_id)
    session.reply(answers.success(command.request_id))


def _leave(session: Session, producer_id: int) -> None:
    producer = session.producers.pop(producer_id, None)
    if producer is not None:
        producer.topic.remove_producer(producer)
